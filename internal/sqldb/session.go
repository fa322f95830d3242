package sqldb

import (
	"context"
	"database/sql"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// Session is access to the tables for as long as its context: a transaction's, or the database's own.
// Statements are written with $1, $2 ….
type Session struct {
	dialect.Querier // takes the statements; through prepared ones where SQLite would parse them each time
	Ctx             context.Context
	Dialect         dialect.Dialect
}

// Exec runs a statement and returns how many rows it changed.
func (s Session) Exec(query string, args ...any) (changed int64, err error) {
	query, args = s.Dialect.Bind(query, args...)
	res, err := s.ExecContext(s.Ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// ExecRows is Exec of a statement that reads rows as the table v.
func (s Session) ExecRows(rows *dialect.Rows, query string, args ...any) error {
	for query, args := range s.Dialect.Each(rows, query, args...) {
		if _, err := s.Exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// EachRow is Each of a statement that reads rows as the table v.
func (s Session) EachRow(read func(scan func(...any) error) error, rows *dialect.Rows, query string,
	args ...any) error {
	for query, args := range s.Dialect.Each(rows, query, args...) {
		if err := s.Each(read, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// Row asks for one row.
func (s Session) Row(query string, args ...any) *sql.Row {
	query, args = s.Dialect.Bind(query, args...)
	return s.QueryRowContext(s.Ctx, query, args...)
}

// Each calls read for every row; it must not use the session meanwhile.
func (s Session) Each(read func(scan func(...any) error) error, query string, args ...any) error {
	query, args = s.Dialect.Bind(query, args...)
	rows, err := s.QueryContext(s.Ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
