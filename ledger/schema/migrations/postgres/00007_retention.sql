-- +goose Up

-- What the rules still need of rows that were older than the retention and are gone: nothing of what it says goes back.
CREATE TABLE high_water (
  room          TEXT   NOT NULL PRIMARY KEY,
  fence         BIGINT NOT NULL DEFAULT 0,  -- the highest of a lease
  epoch         BIGINT NOT NULL DEFAULT 0,  -- the latest of a place
  ticket        BIGINT NOT NULL DEFAULT 0,  -- and the highest in that epoch
  settled       BIGINT NOT NULL DEFAULT 0,  -- the highest fence of a verification
  settled_until BIGINT NOT NULL DEFAULT 0   -- when the last of their leases ended
);
-- +goose StatementBegin
CREATE FUNCTION high_water_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.room = OLD.room AND NEW.fence >= OLD.fence AND (NEW.epoch > OLD.epoch OR (NEW.epoch = OLD.epoch AND NEW.ticket >= OLD.ticket))
      AND NEW.settled >= OLD.settled AND NEW.settled_until >= OLD.settled_until THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'a high-water mark does not go back' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER high_water_grows BEFORE UPDATE OR DELETE ON high_water
  FOR EACH ROW EXECUTE FUNCTION high_water_grows();
CREATE TRIGGER high_water_kept BEFORE TRUNCATE ON high_water
  FOR EACH STATEMENT EXECUTE FUNCTION high_water_grows();

-- A verification may go where the mark stands for it from then on.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION verifications_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.voided_at IS NULL AND NEW.voided_at IS NOT NULL AND to_jsonb(NEW) - 'voided_at' = to_jsonb(OLD) - 'voided_at' THEN
      RETURN NEW;
    END IF;
  ELSIF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM high_water h WHERE h.room = OLD.room AND h.settled >= OLD.fence AND h.settled_until >= OLD.ended_at) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'a verification is for good' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
-- After verifications_rules by its name, which has locked the room.
-- +goose StatementBegin
CREATE FUNCTION verifications_trimmed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM high_water WHERE room = NEW.room AND settled >= NEW.fence) THEN
    RAISE EXCEPTION 'fence is not above the highest settled one' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF EXISTS (SELECT 1 FROM high_water WHERE room = NEW.room AND settled_until > NEW.granted_at) THEN
    RAISE EXCEPTION 'lease overlaps a settled one' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER verifications_trimmed BEFORE INSERT ON verifications
  FOR EACH ROW EXECUTE FUNCTION verifications_trimmed();

-- Which replica trims, so that one does at a time, and what the last one found.
CREATE TABLE retention (
  id     BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  owner  TEXT   NOT NULL DEFAULT '',
  until  BIGINT NOT NULL DEFAULT 0,  -- unix ms by the database's clock: until then it is the owner's turn, or nobody's
  oldest BIGINT NOT NULL DEFAULT 0   -- when what is oldest happened; 0: nothing is there
);
INSERT INTO retention (id) VALUES (1);

-- What is to go, by time. Entries of the journal begin with their time, so the timeline's key has them in order; what has none begins with a letter.
CREATE INDEX timeline_beside ON timeline (room, at) WHERE entry >= 'a';
CREATE INDEX attributions_time ON attributions (room, at);
