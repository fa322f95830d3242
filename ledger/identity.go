package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb"
)

const askIdentity = `SELECT id FROM identity`

// Identity returns the random name that the database got when it was made. A URL would not tell databases
// apart: it differs by user and host for one database, and is the same for a file's path on two hosts. It
// returns ErrAway at once while the database is away.
func (l *Ledger) Identity(ctx context.Context) (id string, err error) {
	err = l.db.Read(ctx, func(s sqldb.Session) error { return s.Row(askIdentity).Scan(&id) })
	if err != nil {
		return "", fmt.Errorf("read the database's name: %w", err)
	}
	return id, nil
}

// IdentityOf is Identity of a database that no Ledger has opened. The error is the driver's if the database
// is not migrated yet.
func IdentityOf(ctx context.Context, db *sql.DB) (id string, err error) {
	err = db.QueryRowContext(ctx, askIdentity).Scan(&id)
	return id, err
}
