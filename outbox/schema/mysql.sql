-- Times are unix milliseconds. locked_at 0 = the task is not locked. Text is compared as it is, capital letters and all.
CREATE TABLE outbox_tasks (
  id            BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uid           VARCHAR(128) NOT NULL,
  kind          VARCHAR(64)  NOT NULL,
  task_key      VARCHAR(512) NOT NULL DEFAULT '',
  payload       LONGTEXT     NOT NULL,
  state         VARCHAR(8)   NOT NULL DEFAULT 'open',
  phase         VARCHAR(64)  NOT NULL,
  locked_at     BIGINT       NOT NULL DEFAULT 0,
  waiting_since BIGINT       NULL,
  attempts      BIGINT       NOT NULL DEFAULT 0,
  last_error    VARCHAR(2000) NOT NULL DEFAULT '',
  created_at    BIGINT       NOT NULL,
  updated_at    BIGINT       NOT NULL,
  traceparent   VARCHAR(64)  NOT NULL DEFAULT '',
  UNIQUE KEY outbox_tasks_uid (uid),
  KEY outbox_tasks_claim (state, kind, updated_at, id, locked_at),
  KEY outbox_tasks_key (task_key, state, id),
  CHECK (state IN ('open', 'done', 'dead')),
  CHECK (phase <> 'done')
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ROW_FORMAT=DYNAMIC;
