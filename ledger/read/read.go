// Package read reads the ledger, for support, the pages and the reports, and for the engine after a loss of
// data.
package read

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// Journal reads a room's journal, for what the ledger does not have yet; *room.Engine implements it.
type Journal interface {
	ReadJournal(ctx context.Context, id wire.ID, n int) ([]wire.Entry, error)
}

// Config configures a Reader. Zero fields get the defaults.
type Config struct {
	DB        *sqldb.DB // opened with schema.Migrations
	Journal   Journal
	Retention time.Duration    // how long rows are kept; 0 = for ever
	Now       func() time.Time // for tests
}

// Reader reads a ledger. It is safe for concurrent use. While the database is away, its methods return
// sqldb.ErrAway at once.
type Reader struct{ cfg Config }

// New returns a reader of a database, which the caller closes.
func New(c Config) *Reader {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Reader{c}
}

// Identity returns the database's schema.IdentityOf.
func (r *Reader) Identity(ctx context.Context) (id string, err error) {
	err = r.cfg.DB.Read(ctx, func(s sqldb.Session) error {
		id, err = schema.IdentityOf(ctx, s)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the database's name: %w", err)
	}
	return id, nil
}

// work is a session about one room; id is "" for questions about all rooms.
type work struct {
	sqldb.Session
	id wire.ID
}

// reading runs do outside any transaction.
func (r *Reader) reading(ctx context.Context, id wire.ID, do func(*work) error) error {
	return r.cfg.DB.Read(ctx, func(s sqldb.Session) error { return do(&work{s, id}) })
}

const (
	storyJournal = 10_000 // entries that are read of one journal: nearly three hours at one a second
	storyReaders = 8
)

// eachEntry calls read for the entries of some rooms' journals, in order within a room. It reads several
// rooms at a time, continues after a journal that fails, and returns the first error.
func (r *Reader) eachEntry(ctx context.Context, ids []wire.ID, read func(i int, e wire.Entry)) error {
	var g errgroup.Group
	g.SetLimit(storyReaders)
	for i, id := range ids {
		g.Go(func() error {
			entries, err := r.cfg.Journal.ReadJournal(ctx, id, storyJournal)
			for _, e := range entries {
				if e.Odd == nil {
					read(i, e)
				}
			}
			return err
		})
	}
	return g.Wait()
}
