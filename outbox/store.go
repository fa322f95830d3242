package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// StoreConfig configures a Store. Zero fields get the defaults.
type StoreConfig struct {
	// how long a claim lasts, the same for all users of the table; default LockTimeout
	LockTimeout time.Duration
	// for tests; default: the common clock, the database server's or, for SQLite, this machine's
	Now func() time.Time
}

// Store accesses the tasks of one database. It has no state of its own, and is safe for concurrent use.
type Store struct {
	db      *sql.DB
	dialect Dialect
	timeout time.Duration
	clock   func() time.Time // nil = the database's
}

// NewStore returns a store on a database that has the Schema. The caller closes db.
func NewStore(db *sql.DB, d Dialect, c StoreConfig) *Store {
	if c.LockTimeout == 0 {
		c.LockTimeout = LockTimeout
	}
	return &Store{db: db, dialect: d, timeout: c.LockTimeout, clock: c.Now}
}

// Now returns the time by which tasks are claimed, in unix ms.
func (s *Store) Now(ctx context.Context) (int64, error) { return s.now(ctx, s.db) }

// now reads the clock through the caller's connection: a second connection might have to wait for the first.
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
