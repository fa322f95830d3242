-- +goose Up
-- Version 2 is the outbox's table.

ALTER TABLE messages ADD COLUMN duplicate   INTEGER NOT NULL DEFAULT 0;   -- 1: the sender and text of one before
ALTER TABLE messages ADD COLUMN code        INTEGER NOT NULL DEFAULT 0;   -- 1: a code was found in it
ALTER TABLE messages ADD COLUMN fingerprint TEXT    NOT NULL DEFAULT '';  -- keyed digest of sender, text and time; '': not known

-- verifications: a row for each message that was found to belong to its lease, also where it did not end the
-- lease. What was verified until now ended its lease.
DROP TRIGGER verifications_rules;
DROP TRIGGER verifications_stay;
DROP TRIGGER verifications_kept;
ALTER TABLE verifications RENAME TO verifications_before;
CREATE TABLE verifications (
  id         INTEGER PRIMARY KEY,
  room       TEXT    NOT NULL,
  fence      INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  ticket     INTEGER NOT NULL,
  message_id TEXT    NOT NULL,
  granted_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,                                         -- where the lease went on: when it was matched
  completes  INTEGER NOT NULL DEFAULT 1 CHECK (completes IN (0, 1)),   -- 1: it ended the lease
  voided_at  INTEGER,                                                  -- null: it stands; else its holder rejected it
  CHECK (fence > 0 AND ended_at >= granted_at)
);
INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at, completes)
  SELECT room, fence, epoch, ticket, message_id, granted_at, ended_at, 1 FROM verifications_before ORDER BY room, fence;
DROP TABLE verifications_before;
CREATE UNIQUE INDEX verifications_message ON verifications (room, message_id) WHERE voided_at IS NULL;
CREATE UNIQUE INDEX verifications_completed ON verifications (room, fence) WHERE completes = 1 AND voided_at IS NULL;
CREATE INDEX verifications_fence ON verifications (room, fence);
CREATE INDEX verifications_time ON verifications (room, ended_at);

-- The first check is for INSERT OR REPLACE, which deletes what is in its way and asks no trigger.
-- +goose StatementBegin
CREATE TRIGGER verifications_rules BEFORE INSERT ON verifications
BEGIN
  SELECT RAISE(ABORT, 'message is verified already')
  WHERE EXISTS (SELECT 1 FROM verifications WHERE id = NEW.id)
     OR EXISTS (SELECT 1 FROM verifications WHERE room = NEW.room AND message_id = NEW.message_id AND voided_at IS NULL);
  SELECT RAISE(ABORT, 'a verification begins as one that stands') WHERE NEW.voided_at IS NOT NULL;
  SELECT RAISE(ABORT, 'fence is not above the highest settled one')
  WHERE EXISTS (SELECT 1 FROM verifications
    WHERE room = NEW.room AND fence >= NEW.fence AND (fence > NEW.fence OR (completes = 1 AND voided_at IS NULL)));
  SELECT RAISE(ABORT, 'lease overlaps a settled one')
  WHERE EXISTS (SELECT 1 FROM verifications
    WHERE room = NEW.room AND ended_at > NEW.granted_at AND granted_at < NEW.ended_at AND fence <> NEW.fence);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER verifications_stay BEFORE UPDATE ON verifications
WHEN NOT (OLD.voided_at IS NULL AND NEW.voided_at IS NOT NULL AND NEW.id = OLD.id AND NEW.room = OLD.room
  AND NEW.fence = OLD.fence AND NEW.epoch = OLD.epoch AND NEW.ticket = OLD.ticket AND NEW.message_id = OLD.message_id
  AND NEW.granted_at = OLD.granted_at AND NEW.ended_at = OLD.ended_at AND NEW.completes = OLD.completes)
BEGIN
  SELECT RAISE(ABORT, 'a verification is for good');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER verifications_kept BEFORE DELETE ON verifications
BEGIN
  SELECT RAISE(ABORT, 'a verification is for good');
END;
-- +goose StatementEnd

-- attributions are what was said of a message after its first answer, which stays in messages.
CREATE TABLE attributions (
  room       TEXT    NOT NULL,
  message_id TEXT    NOT NULL,
  kind       TEXT    NOT NULL CHECK (kind IN ('claimed', 'rejected', 'assigned')),
  fence      INTEGER NOT NULL,  -- of the lease it was said for
  epoch      INTEGER NOT NULL,
  ticket     INTEGER NOT NULL,
  seller     TEXT    NOT NULL,
  verdict    TEXT    NOT NULL DEFAULT '' CHECK (verdict IN ('', 'agreed', 'refused')),
  who        TEXT    NOT NULL DEFAULT '',  -- of support; '': the seller itself
  reason     TEXT    NOT NULL DEFAULT '',
  at         INTEGER NOT NULL,
  PRIMARY KEY (room, message_id, kind, fence)
) WITHOUT ROWID;
