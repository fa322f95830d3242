package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// StoreConfig says how. Zero fields get the defaults.
type StoreConfig struct {
	LockTimeout time.Duration    // how long a claim lasts, the same for all who share the tasks; default LockTimeout
	Now         func() time.Time // for tests; default: the one clock that all share, the database server's or, for SQLite, this machine's
}

// Store is the tasks of one database. It holds nothing itself, and may be used by many goroutines.
type Store struct {
	db      *sql.DB
	dialect Dialect
	timeout time.Duration
	clock   func() time.Time // nil = the database's
}

// NewStore works on a database that has the Schema; db stays the caller's to close.
func NewStore(db *sql.DB, d Dialect, c StoreConfig) *Store {
	if c.LockTimeout == 0 {
		c.LockTimeout = LockTimeout
	}
	return &Store{db: db, dialect: d, timeout: c.LockTimeout, clock: c.Now}
}

// Now is the time by which tasks are claimed, in unix ms.
func (s *Store) Now(ctx context.Context) (int64, error) { return s.now(ctx, s.db) }

// now reads the clock by a connection that the caller has already: a second one might have to wait for the first.
func (s *Store) now(ctx context.Context, q Querier) (int64, error) {
	if s.clock != nil {
		return s.clock().UnixMilli(), nil
	}
	ms, err := s.dialect.Now(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("read clock: %w", err)
	}
	return ms, nil
}
