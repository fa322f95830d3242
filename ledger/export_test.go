package ledger

import (
	"database/sql"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// DB is what the tests look at directly.
func (l *Ledger) DB() *sql.DB { return l.db.SQL() }

func (l *Ledger) Dialect() dialect.Dialect { return l.db.Dialect() }
