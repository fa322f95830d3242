-- +goose Up
-- The outbox's table as package outbox had it then, out of what 00002 made: the webhooks that are there are taken along, in their order.
ALTER TABLE outbox_tasks RENAME TO outbox_webhooks;
DROP INDEX outbox_tasks_open;
DROP INDEX outbox_tasks_over;

-- Times are unix milliseconds. locked_at 0 = the task is not locked.
CREATE TABLE outbox_tasks (
  id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uid           TEXT   NOT NULL UNIQUE,
  kind          TEXT   NOT NULL,
  task_key      TEXT   NOT NULL DEFAULT '',
  payload       TEXT   NOT NULL,
  state         TEXT   NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'dead')),
  phase         TEXT   NOT NULL CHECK (phase <> 'done'),
  locked_at     BIGINT NOT NULL DEFAULT 0,
  waiting_since BIGINT,
  attempts      BIGINT NOT NULL DEFAULT 0,
  last_error    TEXT   NOT NULL DEFAULT '',
  created_at    BIGINT NOT NULL,
  updated_at    BIGINT NOT NULL
);

CREATE INDEX outbox_tasks_claim ON outbox_tasks (state, kind, updated_at, id, locked_at);
CREATE INDEX outbox_tasks_key ON outbox_tasks (task_key, state, id);

INSERT INTO outbox_tasks (uid, kind, task_key, payload, state, phase, locked_at, waiting_since, attempts, last_error, created_at, updated_at)
  SELECT event_id, 'webhook', lease_key, payload, CASE WHEN phase IN ('done', 'dead') THEN phase ELSE 'open' END,
    CASE phase WHEN 'dead' THEN 'deliver' WHEN 'done' THEN 'record' ELSE phase END,
    locked_at, waiting_since, attempts, last_error, created_at, updated_at
  FROM outbox_webhooks ORDER BY id;
DROP TABLE outbox_webhooks;
