package ledger

import (
	"context"
	"database/sql"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// DB returns the database, for tests that read its tables.
func (l *Ledger) DB() *sql.DB { return l.db.SQL() }

func (l *Ledger) Dialect() dialect.Dialect { return l.db.Dialect() }

// MaxRooms is the most rooms that one transaction drains.
const MaxRooms = maxRooms

func (l *Ledger) DrainRooms(ctx context.Context, ids []room.ID) error {
	_, err := l.drain(ctx, ids)
	return err
}

// RefusedMost is the most sellers whose refused joins wait to be written.
const RefusedMost = refusedMost

func (l *Ledger) WriteRefused(ctx context.Context) { l.writeRefused(ctx) }
