-- +goose Up
-- The days of a report. All that these count is in an index, and a row comes into it once.
CREATE INDEX places_joined ON places (room, joined_at);
CREATE INDEX leases_over ON leases (room, granted_at, ended_at, outcome, epoch, ticket) WHERE outcome IS NOT NULL;
CREATE INDEX messages_judged ON messages (room, received_at, sent_at, code, result, reason, now_result, now_reason)
  WHERE state = 'judged';
