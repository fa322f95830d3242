-- +goose Up
-- Times are unix milliseconds. locked_at 0 = the task is not locked.
CREATE TABLE outbox_tasks (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id      TEXT    NOT NULL UNIQUE,
  room          TEXT    NOT NULL,
  lease_key     TEXT    NOT NULL,
  seq           INTEGER NOT NULL,
  type          TEXT    NOT NULL,
  payload       TEXT    NOT NULL,
  phase         TEXT    NOT NULL CHECK (phase IN ('deliver', 'record', 'done', 'dead')),
  locked_at     INTEGER NOT NULL DEFAULT 0,
  waiting_since INTEGER,
  attempts      INTEGER NOT NULL DEFAULT 0,
  last_error    TEXT    NOT NULL DEFAULT '',
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  UNIQUE (lease_key, seq)
);

CREATE INDEX outbox_tasks_open ON outbox_tasks (locked_at, id) WHERE phase IN ('deliver', 'record');
CREATE INDEX outbox_tasks_over ON outbox_tasks (phase, updated_at);
