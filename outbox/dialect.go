package outbox

import "github.com/waitroom/waitroom/internal/sqldb/dialect"

// Dialect is the SQL that a database speaks.
type Dialect = dialect.Dialect

// The databases it works on.
const (
	SQLite   = dialect.SQLite
	Postgres = dialect.Postgres
)

// Querier is what a *sql.DB and a *sql.Tx have in common.
type Querier = dialect.Querier
