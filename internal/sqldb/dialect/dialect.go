// Package dialect is the SQL in which the databases differ. It needs none of their drivers.
package dialect

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Dialect is the SQL of a database. Statements are written with $1, $2 ….
type Dialect int

// The supported databases.
const (
	SQLite Dialect = iota + 1
	Postgres
	MySQL // and MariaDB, in the SQL that both understand
)

// Querier is the common part of a *sql.DB and a *sql.Tx.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

var parameter = regexp.MustCompile(`\$[0-9]+`)

// Bind returns a statement with the database's parameters, and its arguments: MySQL wants one for each place.
// Statements have no other dollar.
func (d Dialect) Bind(query string, args ...any) (string, []any) {
	switch d {
	case SQLite:
		return strings.ReplaceAll(query, "$", "?"), args
	case MySQL:
		var places []any
		query = parameter.ReplaceAllStringFunc(query, func(p string) string {
			n, _ := strconv.Atoi(p[1:])
			places = append(places, args[n-1])
			return "?"
		})
		return query, places
	}
	return query, args
}

// SkipLocked returns the clause that keeps claimants from waiting for each other; SQLite has
// one writer at a time anyway.
func (d Dialect) SkipLocked() string {
	if d == SQLite {
		return ""
	}
	return "FOR UPDATE SKIP LOCKED"
}

// Now returns the one clock of all users of a database, in unix ms. It is the server's own, because its
// clients may be on several machines; for SQLite it is this machine's, which all its users share.
func (d Dialect) Now(ctx context.Context, q Querier) (ms int64, err error) {
	switch d {
	case Postgres:
		err = q.QueryRowContext(ctx, `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint`).Scan(&ms)
	case MySQL: // by UTC, which no session's time zone changes
		err = q.QueryRowContext(ctx,
			`SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000`).Scan(&ms)
	default:
		ms = time.Now().UnixMilli()
	}
	return ms, err
}
