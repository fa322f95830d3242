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

// outboxVersion is the migration that makes the outbox's table.
const outboxVersion = 2

// Migrations make the tables that a Ledger writes: its own, and the outbox's.
func Migrations() sqldb.Migrations {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is not one
	}
	return sqldb.Migrations{Files: files, Schemas: map[int64]func(dialect.Dialect) string{outboxVersion: outbox.Schema}}
}
