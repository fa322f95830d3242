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

// parseURL reads a DATABASE_URL. Its error does not repeat it: it may hold a password.
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
		return source{}, fmt.Errorf("%w: percent-encode other characters than letters and digits in user and "+
			"password (/ is %%2F, @ is %%40)", errURL)
	}
	cfg, err := pgx.ParseConfig(text)
	if err != nil {
		return source{}, fmt.Errorf("%w: %s", errURL, whyNot(err))
	}
	return source{dialect: dialect.Postgres, pg: newPostgres(cfg, choosesServer(text))}, nil
}

// choosesServer reports whether the address names the right servers: pgx does not distinguish
// "any" from an empty value.
func choosesServer(text string) bool {
	return strings.Contains(text, "target_session_attrs=") || os.Getenv("PGTARGETSESSIONATTRS") != ""
}

// isTorn reports whether a part of the password reads as another part of the address. That happens since a /
// or an @ of it is not encoded. Errors about connections name these parts, so it must never be connected to.
// Like libpq, pgx has the first @ before any / end user and password; behind it only the values of user and
// password may have one.
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

// Connect returns a pool as a DB has one, without a migration. The error of an unreadable
// address does not repeat it.
func Connect(databaseURL string) (*sql.DB, error) {
	src, err := parseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	return src.open()
}

// whyNot returns pgx's error about an address, without the address: the password in it may
// be recognized only in part.
func whyNot(err error) string {
	parts := strings.Split(err.Error(), "`: ") // cannot parse `address`: reason
	return parts[len(parts)-1]
}

// sqliteOptions: FULL makes every commit durable before the journal is trimmed, so that a power cut loses
// nothing; IMMEDIATE makes a writer wait at the start of its transaction and not fail in its middle. What a
// transaction changes stays in memory until its commit, up to 16 MB, and so does what would undo a statement:
// else both would go to files meanwhile, and be written twice. The log is taken into the file every 16 MB:
// what changed again meanwhile is written there once.
const sqliteOptions = "?_busy_timeout=5000&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate" +
	"&_pragma=cache_size(-16000)&_pragma=temp_store(memory)&_pragma=wal_autocheckpoint(4000)"

// sqliteConnections: waits for a writer hold a connection each. A transaction of ours needs a second one for
// a statement that is not compiled yet, so there are more than the outbox's workers and ours can wait with.
const sqliteConnections = 24

func (s source) open() (*sql.DB, error) {
	if s.dialect == dialect.Postgres {
		return s.pg.pool(), nil
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o750); err != nil {
		return nil, fmt.Errorf("DATABASE_URL: make directory: %w", err)
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(s.path)
	db, err := sql.Open("sqlite", "file:"+escaped+sqliteOptions)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.SetMaxOpenConns(sqliteConnections)
	return db, nil
}
