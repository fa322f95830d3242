package ledger

import (
	"embed"
	"io/fs"

	"github.com/waitroom/waitroom/internal/sqldb"
)

//go:embed migrations
var migrations embed.FS

// Migrations make the tables that a Ledger writes: its own, and the outbox's as outbox.Schema has them.
func Migrations() sqldb.Migrations {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is not one
	}
	return sqldb.Migrations{Files: files}
}
