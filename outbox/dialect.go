package outbox

import (
	"context"
	"database/sql"
	_ "embed"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// Dialect is a database's SQL.
type Dialect = dialect.Dialect

// The supported databases: SQLite from 3.38, PostgreSQL from 10, MySQL from 8.0 and MariaDB from 10.6.
const (
	SQLite   = dialect.SQLite
	Postgres = dialect.Postgres
	MySQL    = dialect.MySQL // and MariaDB
)

// Querier is the part that *sql.DB and *sql.Tx have in common.
type Querier = dialect.Querier

// exec runs a statement written with $1, $2 … and returns how many rows it changed.
func exec(ctx context.Context, q Querier, d Dialect, query string, args ...any) (int64, error) {
	query, args = d.Bind(query, args...)
	res, err := q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func row(ctx context.Context, q Querier, d Dialect, query string, args ...any) *sql.Row {
	query, args = d.Bind(query, args...)
	return q.QueryRowContext(ctx, query, args...)
}

//go:embed schema/sqlite.sql
var sqliteSchema string

//go:embed schema/postgres.sql
var postgresSchema string

//go:embed schema/mysql.sql
var mysqlSchema string

// Schema returns the SQL that creates the table outbox_tasks. The owner of the database runs it as one of its
// migrations. For MySQL it is one statement; for the others several, which their drivers accept at once.
func Schema(d Dialect) string {
	switch d {
	case Postgres:
		return postgresSchema
	case MySQL:
		return mysqlSchema
	default:
		return sqliteSchema
	}
}
