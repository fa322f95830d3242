package ledger

import (
	"embed"
	"io/fs"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/outbox"
)

//go:embed migrations
var migrations embed.FS

// tasksVersion is the migration that makes the outbox's table as package outbox has it now, out of what 00002 made.
const tasksVersion = 6

// Migrations make the tables that a Ledger writes: its own, and the outbox's.
func Migrations() sqldb.Migrations {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is not one
	}
	return sqldb.Migrations{Files: files, Schemas: map[int64]func(dialect.Dialect) string{tasksVersion: tasks}}
}

// tasks takes the webhooks that are there along, in their order. When Schema changes, this keeps what it makes today.
func tasks(d dialect.Dialect) string {
	return `ALTER TABLE outbox_tasks RENAME TO outbox_webhooks;
		DROP INDEX outbox_tasks_open;
		DROP INDEX outbox_tasks_over;
		` + outbox.Schema(d) + `
		INSERT INTO outbox_tasks (uid, kind, task_key, payload, state, phase, locked_at, waiting_since, attempts, last_error, created_at, updated_at)
			SELECT event_id, 'webhook', lease_key, payload, CASE WHEN phase IN ('done', 'dead') THEN phase ELSE 'open' END,
				CASE phase WHEN 'dead' THEN 'deliver' WHEN 'done' THEN 'record' ELSE phase END,
				locked_at, waiting_since, attempts, last_error, created_at, updated_at
			FROM outbox_webhooks ORDER BY id;
		DROP TABLE outbox_webhooks;`
}
