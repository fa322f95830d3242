package ledger

import (
	"embed"
	"io/fs"

	"github.com/waitroom/waitroom/internal/sqldb"
)

//go:embed migrations
var migrations embed.FS

// Migrations returns the tables that a Ledger writes: its own, and the outbox's, which match outbox.Schema.
func Migrations() sqldb.Migrations {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is fixed
	}
	return sqldb.Migrations{Files: files}
}
