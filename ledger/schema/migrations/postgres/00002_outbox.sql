-- +goose Up
-- Times are unix milliseconds. locked_at 0 = the task is not locked.
CREATE TABLE outbox_tasks (
  id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id      TEXT   NOT NULL UNIQUE,
  room          TEXT   NOT NULL,
  lease_key     TEXT   NOT NULL,
  seq           BIGINT NOT NULL,
  type          TEXT   NOT NULL,
  payload       TEXT   NOT NULL,
  phase         TEXT   NOT NULL CHECK (phase IN ('deliver', 'record', 'done', 'dead')),
  locked_at     BIGINT NOT NULL DEFAULT 0,
  waiting_since BIGINT,
  attempts      BIGINT NOT NULL DEFAULT 0,
  last_error    TEXT   NOT NULL DEFAULT '',
  created_at    BIGINT NOT NULL,
  updated_at    BIGINT NOT NULL,
  UNIQUE (lease_key, seq)
);

CREATE INDEX outbox_tasks_open ON outbox_tasks (locked_at, id) WHERE phase IN ('deliver', 'record');
CREATE INDEX outbox_tasks_over ON outbox_tasks (phase, updated_at);
