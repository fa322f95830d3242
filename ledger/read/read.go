// Package read reads the ledger, for support, the pages and the reports, and for the engine after a loss of
// data.
package read

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// Journal reads a room's journal, for what the ledger does not have yet; *room.Engine implements it.
type Journal interface {
	ReadJournal(ctx context.Context, id wire.ID, n int) ([]wire.Entry, error)
}

// Config configures a Reader.
type Config struct {
	DB        *sqldb.DB     // opened with schema.Migrations
	Journal   Journal       // nil for a Reader that only verifies the audit
	Retention time.Duration // how long rows are kept; 0 = for ever
	Now       func() time.Time
}

// Reader reads a ledger. It is safe for concurrent use. While the database is away, its methods return
// sqldb.ErrAway at once.
type Reader struct{ cfg Config }

// New returns a reader of a database, which the caller closes.
func New(c Config) *Reader { return &Reader{c} }

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

// Known returns the ledger's last state of a room whose data the store may have lost. It has the highest
// fence, the highest ticket of the latest epoch, whether a lease is open, and when the latest one ended, or
// was granted if it is open. Trimmed fences and tickets count.
func (r *Reader) Known(ctx context.Context, id wire.ID) (found wire.Recorded, err error) {
	err = r.reading(ctx, id, func(w *work) error {
		var open int
		err := w.Row(`SELECT COALESCE((SELECT MAX(fence) FROM leases WHERE room = $1), 0),
			CASE WHEN EXISTS (SELECT 1 FROM leases WHERE room = $1 AND outcome IS NULL) THEN 1 ELSE 0 END`,
			string(id)).Scan(&found.Fence, &open)
		if err != nil {
			return err
		}
		found.Open = open == 1
		err = w.Row(`SELECT COALESCE(ended_at, granted_at, 0) FROM leases WHERE room = $1
			ORDER BY COALESCE(granted_at, ended_at, 0) DESC LIMIT 1`, string(id)).Scan(&found.Ended)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var epoch int64
		err = w.Row(`SELECT epoch, ticket FROM places WHERE room = $1 ORDER BY epoch DESC, ticket DESC LIMIT 1`,
			string(id)).Scan(&epoch, &found.Ticket)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		h, _, err := schema.HighWaterOf(w.Session, w.id)
		found.Fence = max(found.Fence, h.Fence)
		if h.Epoch > epoch || h.Epoch == epoch && h.Ticket > found.Ticket {
			found.Ticket = h.Ticket
		}
		return err
	})
	return found, err
}

// Ended returns the ends of those places that ended, without lost ones.
func (r *Reader) Ended(ctx context.Context, id wire.ID, places []wire.PlaceID) (ends []wire.RecordedEnd,
	err error) {
	rows := dialect.NewRows(len(places), "epoch BIGINT", "ticket BIGINT")
	for _, p := range places {
		rows.Add(p.Epoch, p.Ticket)
	}
	err = r.reading(ctx, id, func(w *work) error {
		return w.EachRow(func(scan func(...any) error) error {
			var e wire.RecordedEnd
			err := scan(&e.Epoch, &e.Ticket, &e.Seller, &e.Outcome, &e.Fence, &e.EndedAt)
			ends = append(ends, e)
			return err
		}, rows, `SELECT p.epoch, p.ticket, p.seller, p.outcome, COALESCE(p.fence, 0), p.ended_at
			FROM v JOIN places p ON p.room = $1 AND p.epoch = v.epoch AND p.ticket = v.ticket
			WHERE p.outcome <> 'lost'`, string(id))
	})
	return ends, err
}
