package ledger

import (
	"context"
	"database/sql"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// DB is what the tests look at directly.
func (l *Ledger) DB() *sql.DB { return l.db.SQL() }

func (l *Ledger) Dialect() dialect.Dialect { return l.db.Dialect() }

// TogetherMost is of how many rooms a drain takes at once.
const TogetherMost = togetherMost

func (l *Ledger) DrainTogether(ctx context.Context, ids []room.ID) error {
	return l.drainTogether(ctx, ids)
}
