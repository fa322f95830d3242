package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DataError is an error of the caller's data, not of the database.
type DataError string

func (e DataError) Error() string { return string(e) }

// OfData reports whether an error is the data's fault, which no retry mends.
func OfData(err error) bool {
	if own := DataError(""); errors.As(err, &own) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// classes of invalid data and violated constraints, and a row that is too large for an index
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

// slow reports whether a question failed for lack of time or of a connection. The database may be there
// nevertheless: the question may have waited for its caller's deadline or another one's lock, or got
// connections that earlier questions had broken. A probe then decides.
func slow(ctx context.Context, err error) bool {
	if err == nil || OfData(err) {
		return false
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// rolled back for another transaction, lock not available, cancelled for its time
		return strings.HasPrefix(pg.Code, "40") || pg.Code == "55P03" || pg.Code == "57014"
	}
	return late(ctx) || errors.Is(err, driver.ErrBadConn) || busy(err)
}

// late reports whether the caller's time is over. The network's own timer may notice that first.
func late(ctx context.Context) bool {
	until, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(until)
}

// busy reports whether SQLite has another writer.
func busy(err error) bool {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return false
	}
	code := lite.Code() & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// full reports whether SQLite's disk is full.
func full(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_FULL
}

// FileRemedy returns what to do about an SQLite file that could not be opened or written.
func FileRemedy(err error) string {
	code, extended := 0, 0
	if lite := new(sqlite.Error); errors.As(err, &lite) {
		extended = lite.Code()
		code = extended & 0xff
	}
	switch {
	case full(err) || extended == sqlite3.SQLITE_IOERR_SHMSIZE || errors.Is(err, syscall.ENOSPC):
		return "make room on its disk"
	case code == sqlite3.SQLITE_IOERR:
		return "its disk failed: look for a fault of it in the kernel's log (dmesg), and for a used-up quota"
	case code == sqlite3.SQLITE_NOTADB:
		return "it is no SQLite database: name another path, or move that file away"
	case code == sqlite3.SQLITE_CORRUPT:
		return "it is damaged: put a backup of it in its place"
	}
	return "give the user who runs waitroom the right to write there, or name another path"
}

// answered reports whether PostgreSQL itself sent the error, at the start of a connection or later.
func answered(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg)
}

// RefusesParameter reports whether a pooler refused a setting of the address.
func RefusesParameter(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.Contains(pg.Message, "unsupported startup parameter")
}

// ParameterAdvice is the remedy.
const ParameterAdvice = "take that setting out of DATABASE_URL, or name it in the pooler's " +
	"ignore_startup_parameters"

// Temporary reports whether the database is unreachable or overloaded. A refusal is not temporary, such as a
// wrong password or a missing database.
func Temporary(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		if RefusesParameter(err) {
			return false
		}
		if pg.Code == readOnlyTransaction {
			return true // another server takes writes, or this one will again
		}
		switch class := pg.Code[:min(2, len(pg.Code))]; class { // some poolers send errors without a code
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

// OfConnection reports whether an error is Temporary, or shows that no question got through or that its
// connection broke. A retry works once the database is back.
func OfConnection(err error) bool {
	var connecting *pgconn.ConnectError
	return Temporary(err) || errors.As(err, &connecting) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}
