-- +goose Up
-- The chain of hashes over what support did, of each room in order; see audit_chain.go.
ALTER TABLE actions ADD COLUMN seq   BIGINT  NOT NULL DEFAULT 0;  -- 0: it is not in the chain
ALTER TABLE actions ADD COLUMN salt  TEXT    NOT NULL DEFAULT ''; -- '': the texts were rewritten when a seller was erased
ALTER TABLE actions ADD COLUMN texts TEXT    NOT NULL DEFAULT ''; -- digest of the salt, the seller and the reason
ALTER TABLE actions ADD COLUMN prev  TEXT    NOT NULL DEFAULT ''; -- hash of the row before
ALTER TABLE actions ADD COLUMN hash  TEXT    NOT NULL DEFAULT '';
CREATE INDEX actions_chain ON actions (room, seq) WHERE seq > 0;

CREATE TABLE audit_chains (
  room  TEXT    NOT NULL PRIMARY KEY,
  first BIGINT NOT NULL, -- from here on every row is there: what is before has gone with the retention
  seq   BIGINT NOT NULL, -- of the last row
  hash  TEXT    NOT NULL  -- and its hash
);
