-- +goose Up
-- When the place of a lease was joined; null: it is in places, or not known.
ALTER TABLE leases ADD COLUMN joined_at INTEGER;

DROP INDEX leases_over;
CREATE INDEX leases_over ON leases (room, granted_at, ended_at, outcome, joined_at, epoch, ticket)
  WHERE outcome IS NOT NULL;
