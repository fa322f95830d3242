-- +goose Up
-- Version 2 is the outbox's table.

ALTER TABLE messages
  ADD COLUMN duplicate   BIGINT NOT NULL DEFAULT 0,   -- 1: the sender and text of one before
  ADD COLUMN code        BIGINT NOT NULL DEFAULT 0,   -- 1: a code was found in it
  ADD COLUMN fingerprint TEXT   NOT NULL DEFAULT '';  -- keyed digest of sender, text and time; '': not known

-- verifications: a row for each message that was found to belong to its lease, also where it did not end the
-- lease. What was verified until now ended its lease.
ALTER TABLE verifications
  DROP CONSTRAINT verifications_pkey,
  DROP CONSTRAINT verifications_room_message_id_key;
ALTER TABLE verifications
  ADD COLUMN id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ADD COLUMN completes BIGINT NOT NULL DEFAULT 1 CHECK (completes IN (0, 1)),  -- 1: it ended the lease, else ended_at is when it was matched
  ADD COLUMN voided_at BIGINT;                                                 -- null: it stands; else its holder rejected it
CREATE UNIQUE INDEX verifications_message ON verifications (room, message_id) WHERE voided_at IS NULL;
CREATE UNIQUE INDEX verifications_completed ON verifications (room, fence) WHERE completes = 1 AND voided_at IS NULL;
CREATE INDEX verifications_fence ON verifications (room, fence);

-- One insert into a room at a time: the check sees every verification committed before it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION verifications_rules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(NEW.room, 0));
  IF NEW.voided_at IS NOT NULL THEN
    RAISE EXCEPTION 'a verification begins as one that stands' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF EXISTS (SELECT 1 FROM verifications
      WHERE room = NEW.room AND fence >= NEW.fence AND (fence > NEW.fence OR (completes = 1 AND voided_at IS NULL))) THEN
    RAISE EXCEPTION 'fence is not above the highest settled one' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF EXISTS (SELECT 1 FROM verifications
      WHERE room = NEW.room AND ended_at > NEW.granted_at AND granted_at < NEW.ended_at AND fence <> NEW.fence) THEN
    RAISE EXCEPTION 'lease overlaps a settled one' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION verifications_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.voided_at IS NULL AND NEW.voided_at IS NOT NULL AND to_jsonb(NEW) - 'voided_at' = to_jsonb(OLD) - 'voided_at' THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'a verification is for good' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd

-- attributions are what was said of a message after its first answer, which stays in messages.
CREATE TABLE attributions (
  room       TEXT    NOT NULL,
  message_id TEXT    NOT NULL,
  kind       TEXT    NOT NULL CHECK (kind IN ('claimed', 'rejected', 'assigned')),
  fence      BIGINT  NOT NULL,  -- of the lease it was said for
  epoch      BIGINT  NOT NULL,
  ticket     BIGINT  NOT NULL,
  seller     TEXT    NOT NULL,
  verdict    TEXT    NOT NULL DEFAULT '' CHECK (verdict IN ('', 'agreed', 'refused')),
  who        TEXT    NOT NULL DEFAULT '',  -- of support; '': the seller itself
  reason     TEXT    NOT NULL DEFAULT '',
  at         BIGINT  NOT NULL,
  PRIMARY KEY (room, message_id, kind, fence)
);
