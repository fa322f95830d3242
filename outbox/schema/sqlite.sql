-- Times are unix milliseconds. locked_at 0 = the task is not locked.
CREATE TABLE outbox_tasks (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  uid           TEXT    NOT NULL UNIQUE,
  kind          TEXT    NOT NULL,
  task_key      TEXT    NOT NULL DEFAULT '',
  payload       TEXT    NOT NULL,
  state         TEXT    NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'dead')),
  phase         TEXT    NOT NULL CHECK (phase <> 'done'),
  locked_at     INTEGER NOT NULL DEFAULT 0,
  waiting_since INTEGER,
  attempts      INTEGER NOT NULL DEFAULT 0,
  last_error    TEXT    NOT NULL DEFAULT '',
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  traceparent   TEXT    NOT NULL DEFAULT ''
);

CREATE INDEX outbox_tasks_claim ON outbox_tasks (state, kind, updated_at, id, locked_at);
CREATE INDEX outbox_tasks_key ON outbox_tasks (task_key, state, id);
