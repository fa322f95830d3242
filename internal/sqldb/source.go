package sqldb

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
)

// source is a parsed DATABASE_URL.
type source struct {
	dialect dialect.Dialect
	path    string // of SQLite's file
	pg      *postgres
}

var errURL = errors.New("DATABASE_URL: use sqlite:PATH or postgres://user:password@host/database")

// parseURL parses a DATABASE_URL. Its error does not repeat the URL, which may contain a password.
func parseURL(text string) (source, error) {
	if path, ok := strings.CutPrefix(text, "sqlite:"); ok {
		if path == "" || strings.HasPrefix(path, ":memory:") {
			return source{}, errURL
		}
		return source{dialect: dialect.SQLite, path: path}, nil
	}
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return source{}, errURL
	}
	if isTorn(text) {
		return source{}, fmt.Errorf("%w: percent-encode what is no letter or digit in user and password (/ is "+
			"%%2F, @ is %%40)", errURL)
	}
	cfg, err := pgx.ParseConfig(text)
	if err != nil {
		return source{}, fmt.Errorf("%w: %s", errURL, parseFault(err))
	}
	return source{dialect: dialect.Postgres, pg: newPostgres(cfg, choosesServer(text))}, nil
}

// choosesServer reports whether an address names the servers that it accepts: pgx does not distinguish "any"
// from no setting.
func choosesServer(text string) bool {
	return strings.Contains(text, "target_session_attrs=") || os.Getenv("PGTARGETSESSIONATTRS") != ""
}

// isTorn reports whether a part of the password may be parsed as another part of the address. That happens
// when its / or @ is not encoded. Connection errors name host, port, database and settings, so such an
// address is never used. Like libpq, pgx ends user and password at the first @ before any /; after it, only
// the values of user and password may contain one.
func isTorn(text string) bool {
	_, rest, _ := strings.Cut(text, "://")
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		rest = rest[i+1:]
	}
	place, query, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); strings.Contains(value, "@") && name != "user" &&
			name != "password" {
			return true
		} else if strings.Contains(name, "@") {
			return true
		}
	}
	return strings.Contains(place, "@")
}

// Connect returns a pool like a DB's, without migrations. The error of an unreadable address does not repeat
// it.
func Connect(databaseURL string) (*sql.DB, error) {
	src, err := parseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	return src.open()
}

// parseFault returns pgx's complaint about an address, without the address. pgx may hide only a part of the
// password.
func parseFault(err error) string {
	parts := strings.Split(err.Error(), "`: ") // cannot parse `address`: reason
	return parts[len(parts)-1]
}

// FULL makes every commit durable before the journal is trimmed, so that a power cut loses nothing. IMMEDIATE
// makes a writer wait at the start of its transaction, instead of failing in its middle. A transaction's
// changes stay in memory until its commit, up to 16 MB, and so does a statement's undo log: otherwise both
// would be written to files, and twice. The log is checkpointed every 16 MB: a page that changed several
// times is written once. A log that grew beyond 32 MB, beside a long reader, is cut once it begins anew.
const sqliteOptions = "?_busy_timeout=5000&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate" +
	"&_pragma=cache_size(-16000)&_pragma=temp_store(memory)&_pragma=wal_autocheckpoint(4000)" +
	"&_pragma=journal_size_limit(33554432)"

// sqliteConnections leaves room for writers that wait, each with a connection. Our transactions need a second
// connection for a statement that is not compiled yet, so there are more connections than the outbox's
// workers and our writers use.
const sqliteConnections = 24

func (s source) open() (*sql.DB, error) {
	if s.dialect == dialect.Postgres {
		return s.pg.pool(), nil
	}
	file := FileAt(s.path)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return nil, fmt.Errorf("DATABASE_URL: no directory can be made for %s: %s (%w)", s.path,
			FileRemedy(err), err)
	}
	// the driver would make a file that everybody on the machine reads; SQLite reports what fails here
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(s.path)
	db, err := sql.Open("sqlite", "file:"+escaped+sqliteOptions)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.SetMaxOpenConns(sqliteConnections)
	return db, nil
}

// mostLinks is how many links in a row SQLite follows.
const mostLinks = 40

// FileAt returns the file that SQLite opens for a path, where its log is also: the end of the links there, if
// the path is one. That file need not exist.
func FileAt(path string) string {
	for range mostLinks {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}
