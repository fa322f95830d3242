-- +goose Up
-- Times are unix milliseconds of Redis's clock, where nothing else is said.

-- timeline is everything that happened, as it was journalled. Its key is what makes a drain idempotent.
CREATE TABLE timeline (
  room   TEXT    NOT NULL,
  epoch  BIGINT  NOT NULL,
  entry  TEXT    NOT NULL,  -- the journal's id; 'lost' for what a new epoch ended
  n      BIGINT  NOT NULL,  -- the record within the entry
  at     BIGINT  NOT NULL,
  kind   TEXT    NOT NULL,
  ticket BIGINT  NOT NULL DEFAULT 0,
  fence  BIGINT  NOT NULL DEFAULT 0,
  seller TEXT    NOT NULL DEFAULT '',
  detail TEXT    NOT NULL DEFAULT '{}',
  PRIMARY KEY (room, epoch, entry, n)
);
CREATE INDEX timeline_seller ON timeline (room, seller, at);

CREATE TABLE places (
  room      TEXT    NOT NULL,
  epoch     BIGINT  NOT NULL,
  ticket    BIGINT  NOT NULL,
  seller    TEXT    NOT NULL,
  joined_at BIGINT,            -- null: how it began is not known
  ended_at  BIGINT,
  outcome   TEXT,
  fence     BIGINT,
  PRIMARY KEY (room, epoch, ticket),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
);
CREATE INDEX places_open ON places (room, epoch) WHERE outcome IS NULL;
CREATE INDEX places_time ON places (room, (COALESCE(joined_at, ended_at, 0)));
CREATE INDEX places_seller ON places (room, seller, joined_at);

CREATE TABLE leases (
  room       TEXT    NOT NULL,
  fence      BIGINT  NOT NULL,
  epoch      BIGINT  NOT NULL,
  ticket     BIGINT  NOT NULL,
  seller     TEXT    NOT NULL,
  granted_at BIGINT,           -- null: how it began is not known
  expires_at BIGINT,
  ended_at   BIGINT,
  outcome    TEXT,
  PRIMARY KEY (room, fence),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
);
CREATE INDEX leases_open ON leases (room, epoch) WHERE outcome IS NULL;
CREATE INDEX leases_time ON leases (room, (COALESCE(granted_at, ended_at, 0)));
CREATE INDEX leases_seller ON leases (room, seller, granted_at);

-- messages never hold a code: every digit of sender and body is masked.
CREATE TABLE messages (
  room        TEXT    NOT NULL,
  message_id  TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('received', 'judged')),
  sender      TEXT    NOT NULL,
  body        TEXT    NOT NULL,
  sent_at     BIGINT  NOT NULL,  -- the carrier's word; 0: it did not say
  received_at BIGINT  NOT NULL,  -- by the replica's clock
  result      TEXT    NOT NULL DEFAULT '',
  reason      TEXT    NOT NULL DEFAULT '',
  verdict     TEXT    NOT NULL DEFAULT '' CHECK (verdict IN ('', 'agreed', 'refused')),
  completes   BIGINT  NOT NULL DEFAULT 0,
  epoch       BIGINT  NOT NULL DEFAULT 0,
  ticket      BIGINT  NOT NULL DEFAULT 0,
  fence       BIGINT  NOT NULL DEFAULT 0,
  seller      TEXT    NOT NULL DEFAULT '',
  granted_at  BIGINT  NOT NULL DEFAULT 0,
  ended_at    BIGINT  NOT NULL DEFAULT 0,
  matched_at  BIGINT  NOT NULL DEFAULT 0,
  claimed     BIGINT  NOT NULL DEFAULT 0,  -- the fence of the first match, also of a refused one
  PRIMARY KEY (room, message_id)
);
CREATE INDEX messages_time ON messages (room, received_at);
CREATE INDEX messages_seller ON messages (room, seller, received_at);

-- verifications are the second line of defence: what gets in here was matched to the one lease it
-- belongs to. The rules hold against any client of the database.
CREATE TABLE verifications (
  room       TEXT    NOT NULL,
  fence      BIGINT  NOT NULL,
  epoch      BIGINT  NOT NULL,
  ticket     BIGINT  NOT NULL,
  message_id TEXT    NOT NULL,
  granted_at BIGINT  NOT NULL,
  ended_at   BIGINT  NOT NULL,
  PRIMARY KEY (room, fence),
  UNIQUE (room, message_id),
  CHECK (fence > 0 AND ended_at >= granted_at)
);
CREATE INDEX verifications_time ON verifications (room, ended_at);

-- One insert into a room at a time: the check sees every verification committed before it.
-- +goose StatementBegin
CREATE FUNCTION verifications_rules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(NEW.room, 0));
  IF EXISTS (SELECT 1 FROM verifications WHERE room = NEW.room AND fence >= NEW.fence) THEN
    RAISE EXCEPTION 'fence is not above the highest settled one' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF EXISTS (SELECT 1 FROM verifications
      WHERE room = NEW.room AND ended_at > NEW.granted_at AND granted_at < NEW.ended_at) THEN
    RAISE EXCEPTION 'lease overlaps a settled one' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION verifications_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a verification is for good' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER verifications_rules BEFORE INSERT ON verifications
  FOR EACH ROW EXECUTE FUNCTION verifications_rules();
CREATE TRIGGER verifications_stay BEFORE UPDATE OR DELETE ON verifications
  FOR EACH ROW EXECUTE FUNCTION verifications_stay();
CREATE TRIGGER verifications_kept BEFORE TRUNCATE ON verifications
  FOR EACH STATEMENT EXECUTE FUNCTION verifications_stay();

CREATE TABLE actions (
  room   TEXT    NOT NULL,
  epoch  BIGINT  NOT NULL,
  entry  TEXT    NOT NULL,
  n      BIGINT  NOT NULL,
  at     BIGINT  NOT NULL,
  who    TEXT    NOT NULL,
  action TEXT    NOT NULL,
  reason TEXT    NOT NULL,
  ticket BIGINT  NOT NULL DEFAULT 0,
  fence  BIGINT  NOT NULL DEFAULT 0,
  PRIMARY KEY (room, epoch, entry, n)
);
CREATE INDEX actions_time ON actions (room, at);

CREATE TABLE incidents (
  room       TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  subject    TEXT    NOT NULL,  -- the message id, or the ticket
  epoch      BIGINT  NOT NULL,
  ticket     BIGINT  NOT NULL,
  fence      BIGINT  NOT NULL,
  detail     TEXT    NOT NULL,
  at         BIGINT  NOT NULL,
  PRIMARY KEY (room, kind, subject, fence)
);

-- parked entries could not be applied; they wait for a person.
CREATE TABLE parked (
  room  TEXT    NOT NULL,
  epoch BIGINT  NOT NULL,
  entry TEXT    NOT NULL,
  body  TEXT    NOT NULL,
  error TEXT    NOT NULL,
  PRIMARY KEY (room, epoch, entry)
);
