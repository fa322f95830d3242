package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DataError is a caller's error in its data, and not of the database.
type DataError string

func (e DataError) Error() string { return string(e) }

// OfData reports whether an error lies in the data, where a repeat does not help.
func OfData(err error) bool {
	if own := DataError(""); errors.As(err, &own) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// data, integrity, a row that is too large for an index
		return strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23") || pg.Code == "54000"
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE:
			return true
		}
	}
	return false
}

// slow reports whether a call waited too long, or got only broken connections of earlier calls. It waits for
// its caller's time, or behind another's lock. The probe decides whether the database is away as well.
func slow(ctx context.Context, err error) bool {
	if err == nil || OfData(err) {
		return false
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// rolled back for another's sake, lock not available, cancelled for its duration
		return strings.HasPrefix(pg.Code, "40") || pg.Code == "55P03" || pg.Code == "57014"
	}
	return late(ctx) || errors.Is(err, driver.ErrBadConn) || busy(err)
}

// late reports whether the caller's time is over. The network's own timer for it may fire first.
func late(ctx context.Context) bool {
	until, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(until)
}

// busy reports whether SQLite refused a call because of another writer.
func busy(err error) bool {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return false
	}
	code := lite.Code() & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// answered reports whether PostgreSQL itself sent the error, at the start of a connection or later.
func answered(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg)
}

// RefusesParameter reports whether a pooler refuses a setting of the address.
func RefusesParameter(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.Contains(pg.Message, "unsupported startup parameter")
}

// ParameterAdvice is the advice against that error.
const ParameterAdvice = "take that setting out of DATABASE_URL, or name it in the pooler's " +
	"ignore_startup_parameters"

// Temporary reports whether a database cannot be reached or is overloaded. It is false for a lasting refusal:
// a wrong password, a database that does not exist.
func Temporary(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		if RefusesParameter(err) {
			return false
		}
		if pg.Code == readOnlyTransaction {
			return true // another server takes writes, or this one will again
		}
		switch pg.Code[:2] {
		case "08", "40", "53", "55", "57", "58": // connection, rollback, resources, in use, shutting down, system
			return true
		}
		return false
	}
	if lite := new(sqlite.Error); errors.As(err, &lite) {
		return busy(err)
	}
	var network net.Error
	var connecting *pgconn.ConnectError
	return errors.Is(err, ErrAway) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) || errors.As(err, &connecting)
}

// OfConnection reports whether no call got through, or its connection broke: a repeat helps
// once the database is back.
func OfConnection(err error) bool {
	var connecting *pgconn.ConnectError
	return Temporary(err) || errors.As(err, &connecting) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}
