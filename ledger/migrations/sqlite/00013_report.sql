-- +goose Up
-- When the place of a lease was joined; null: it is in places, or not known.
ALTER TABLE leases ADD COLUMN joined_at INTEGER;

-- The days of a report. All that these count is in an index, and a row comes into it once.
CREATE INDEX places_joined ON places (room, joined_at);
CREATE INDEX leases_over ON leases (room, granted_at, ended_at, outcome, joined_at, epoch, ticket)
  WHERE outcome IS NOT NULL;
CREATE INDEX messages_judged ON messages (room, received_at, sent_at, code, result, reason, now_result, now_reason)
  WHERE state = 'judged';
