-- +goose Up

-- What the rules still need of rows that were older than the retention and are gone: nothing of what it says goes back.
CREATE TABLE high_water (
  room          TEXT    NOT NULL PRIMARY KEY,
  fence         INTEGER NOT NULL DEFAULT 0,  -- the highest of a lease
  epoch         INTEGER NOT NULL DEFAULT 0,  -- the latest of a place
  ticket        INTEGER NOT NULL DEFAULT 0,  -- and the highest in that epoch
  settled       INTEGER NOT NULL DEFAULT 0,  -- the highest fence of a verification
  settled_until INTEGER NOT NULL DEFAULT 0   -- when the last of their leases ended
) WITHOUT ROWID;
-- +goose StatementBegin
CREATE TRIGGER high_water_grows BEFORE UPDATE ON high_water
WHEN NEW.room <> OLD.room OR NEW.fence < OLD.fence OR NEW.epoch < OLD.epoch OR (NEW.epoch = OLD.epoch AND NEW.ticket < OLD.ticket)
  OR NEW.settled < OLD.settled OR NEW.settled_until < OLD.settled_until
BEGIN
  SELECT RAISE(ABORT, 'a high-water mark does not go back');
END;
-- +goose StatementEnd
-- INSERT OR REPLACE asks no trigger of updates or deletions.
-- +goose StatementBegin
CREATE TRIGGER high_water_begins BEFORE INSERT ON high_water
WHEN EXISTS (SELECT 1 FROM high_water WHERE room = NEW.room)
BEGIN
  SELECT RAISE(ABORT, 'a high-water mark does not go back');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER high_water_kept BEFORE DELETE ON high_water
BEGIN
  SELECT RAISE(ABORT, 'a high-water mark does not go back');
END;
-- +goose StatementEnd

-- A verification may go where the mark stands for it from then on.
DROP TRIGGER verifications_kept;
-- +goose StatementBegin
CREATE TRIGGER verifications_kept BEFORE DELETE ON verifications
WHEN NOT EXISTS (SELECT 1 FROM high_water h WHERE h.room = OLD.room AND h.settled >= OLD.fence AND h.settled_until >= OLD.ended_at)
BEGIN
  SELECT RAISE(ABORT, 'a verification is for good');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER verifications_trimmed BEFORE INSERT ON verifications
BEGIN
  SELECT RAISE(ABORT, 'fence is not above the highest settled one')
  WHERE EXISTS (SELECT 1 FROM high_water WHERE room = NEW.room AND settled >= NEW.fence);
  SELECT RAISE(ABORT, 'lease overlaps a settled one')
  WHERE EXISTS (SELECT 1 FROM high_water WHERE room = NEW.room AND settled_until > NEW.granted_at);
END;
-- +goose StatementEnd

-- Which replica trims, so that one does at a time, and what the last one found.
CREATE TABLE retention (
  id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  owner  TEXT    NOT NULL DEFAULT '',
  until  INTEGER NOT NULL DEFAULT 0,  -- unix ms by the database's clock: until then it is the owner's turn, or nobody's
  oldest INTEGER NOT NULL DEFAULT 0   -- when what is oldest happened; 0: nothing is there
);
INSERT INTO retention (id) VALUES (1);

-- What is to go, by time. Entries of the journal begin with their time, so the timeline's key has them in order; what has none begins with a letter.
CREATE INDEX timeline_beside ON timeline (room, at) WHERE entry >= 'a';
CREATE INDEX attributions_time ON attributions (room, at);
