-- +goose Up
-- Times are unix milliseconds of Redis's clock, where nothing else is said.

-- timeline is everything that happened, as it was journalled. Its key is what makes a drain idempotent.
CREATE TABLE timeline (
  room   TEXT    NOT NULL,
  epoch  INTEGER NOT NULL,
  entry  TEXT    NOT NULL,  -- the journal's id; 'lost' for what a new epoch ended
  n      INTEGER NOT NULL,  -- the record within the entry
  at     INTEGER NOT NULL,
  kind   TEXT    NOT NULL,
  ticket INTEGER NOT NULL DEFAULT 0,
  fence  INTEGER NOT NULL DEFAULT 0,
  seller TEXT    NOT NULL DEFAULT '',
  detail TEXT    NOT NULL DEFAULT '{}',
  PRIMARY KEY (room, epoch, entry, n)
) WITHOUT ROWID;
CREATE INDEX timeline_seller ON timeline (room, seller, at);

CREATE TABLE places (
  room      TEXT    NOT NULL,
  epoch     INTEGER NOT NULL,
  ticket    INTEGER NOT NULL,
  seller    TEXT    NOT NULL,
  joined_at INTEGER,            -- null: how it began is not known
  ended_at  INTEGER,
  outcome   TEXT,
  fence     INTEGER,
  PRIMARY KEY (room, epoch, ticket),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
) WITHOUT ROWID;
CREATE INDEX places_open ON places (room, epoch) WHERE outcome IS NULL;
CREATE INDEX places_time ON places (room, COALESCE(joined_at, ended_at, 0));
CREATE INDEX places_seller ON places (room, seller, joined_at);

CREATE TABLE leases (
  room       TEXT    NOT NULL,
  fence      INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  ticket     INTEGER NOT NULL,
  seller     TEXT    NOT NULL,
  granted_at INTEGER,           -- null: how it began is not known
  expires_at INTEGER,
  ended_at   INTEGER,
  outcome    TEXT,
  PRIMARY KEY (room, fence),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
) WITHOUT ROWID;
CREATE INDEX leases_open ON leases (room, epoch) WHERE outcome IS NULL;
CREATE INDEX leases_time ON leases (room, COALESCE(granted_at, ended_at, 0));
CREATE INDEX leases_seller ON leases (room, seller, granted_at);

-- messages never hold a code: every digit of sender and body is masked.
CREATE TABLE messages (
  room        TEXT    NOT NULL,
  message_id  TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('received', 'judged')),
  sender      TEXT    NOT NULL,
  body        TEXT    NOT NULL,
  sent_at     INTEGER NOT NULL,  -- the carrier's word; 0: it did not say
  received_at INTEGER NOT NULL,  -- by the replica's clock
  result      TEXT    NOT NULL DEFAULT '',
  reason      TEXT    NOT NULL DEFAULT '',
  verdict     TEXT    NOT NULL DEFAULT '' CHECK (verdict IN ('', 'agreed', 'refused')),
  completes   INTEGER NOT NULL DEFAULT 0,
  epoch       INTEGER NOT NULL DEFAULT 0,
  ticket      INTEGER NOT NULL DEFAULT 0,
  fence       INTEGER NOT NULL DEFAULT 0,
  seller      TEXT    NOT NULL DEFAULT '',
  granted_at  INTEGER NOT NULL DEFAULT 0,
  ended_at    INTEGER NOT NULL DEFAULT 0,
  matched_at  INTEGER NOT NULL DEFAULT 0,
  claimed     INTEGER NOT NULL DEFAULT 0,  -- the fence of the first match, also of a refused one
  PRIMARY KEY (room, message_id)
) WITHOUT ROWID;
CREATE INDEX messages_time ON messages (room, received_at);
CREATE INDEX messages_seller ON messages (room, seller, received_at);

-- verifications are the second line of defence: what gets in here was matched to the one lease it
-- belongs to. The rules hold against any client of the database.
CREATE TABLE verifications (
  room       TEXT    NOT NULL,
  fence      INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  ticket     INTEGER NOT NULL,
  message_id TEXT    NOT NULL,
  granted_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  PRIMARY KEY (room, fence),
  UNIQUE (room, message_id),
  CHECK (fence > 0 AND ended_at >= granted_at)
) WITHOUT ROWID;
CREATE INDEX verifications_time ON verifications (room, ended_at);

-- +goose StatementBegin
CREATE TRIGGER verifications_rules BEFORE INSERT ON verifications
BEGIN
  SELECT RAISE(ABORT, 'fence is not above the highest settled one')
  WHERE EXISTS (SELECT 1 FROM verifications WHERE room = NEW.room AND fence >= NEW.fence);
  SELECT RAISE(ABORT, 'lease overlaps a settled one')
  WHERE EXISTS (SELECT 1 FROM verifications
    WHERE room = NEW.room AND ended_at > NEW.granted_at AND granted_at < NEW.ended_at);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER verifications_stay BEFORE UPDATE ON verifications
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

CREATE TABLE actions (
  room   TEXT    NOT NULL,
  epoch  INTEGER NOT NULL,
  entry  TEXT    NOT NULL,
  n      INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  who    TEXT    NOT NULL,
  action TEXT    NOT NULL,
  reason TEXT    NOT NULL,
  ticket INTEGER NOT NULL DEFAULT 0,
  fence  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (room, epoch, entry, n)
) WITHOUT ROWID;
CREATE INDEX actions_time ON actions (room, at);

CREATE TABLE incidents (
  room       TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  subject    TEXT    NOT NULL,  -- the message id, or the ticket
  epoch      INTEGER NOT NULL,
  ticket     INTEGER NOT NULL,
  fence      INTEGER NOT NULL,
  detail     TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  PRIMARY KEY (room, kind, subject, fence)
) WITHOUT ROWID;

-- parked entries could not be applied; they wait for a person.
CREATE TABLE parked (
  room  TEXT    NOT NULL,
  epoch INTEGER NOT NULL,
  entry TEXT    NOT NULL,
  body  TEXT    NOT NULL,
  error TEXT    NOT NULL,
  PRIMARY KEY (room, epoch, entry)
) WITHOUT ROWID;
