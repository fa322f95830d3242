// Package dialect is the SQL in which the databases differ. It needs none of their drivers.
package dialect

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// Dialect is the SQL that a database speaks. Statements are written with $1, $2 ….
type Dialect int

// The databases it works on.
const (
	SQLite Dialect = iota + 1
	Postgres
)

// Querier is what a *sql.DB and a *sql.Tx have in common.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Bind writes a statement's parameters as the database wants them. Statements have no other dollar.
func (d Dialect) Bind(query string) string {
	if d == SQLite {
		return strings.ReplaceAll(query, "$", "?")
	}
	return query
}

// SkipLocked is what keeps claimants from waiting for each other; SQLite has one writer at a time anyway.
func (d Dialect) SkipLocked() string {
	if d == Postgres {
		return "FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// Now is the one clock of all who use a database, in unix ms: PostgreSQL's own, because its clients may be on several machines;
// this machine's for SQLite, whose users all share it.
func (d Dialect) Now(ctx context.Context, q Querier) (int64, error) {
	if d != Postgres {
		return time.Now().UnixMilli(), nil
	}
	var ms int64
	err := q.QueryRowContext(ctx, `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint`).Scan(&ms)
	return ms, err
}
