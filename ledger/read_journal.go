package ledger

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/room"
)

const (
	storyJournal = 10_000 // entries that are read of one journal: nearly three hours at one a second
	storyReaders = 8
)

// eachEntry calls read for the entries of some rooms' journals, in order within a room. It reads several
// rooms at a time, continues after a journal that fails, and returns the first error.
func (l *Ledger) eachEntry(ctx context.Context, ids []room.ID, read func(i int, e room.Entry)) error {
	var g errgroup.Group
	g.SetLimit(storyReaders)
	for i, id := range ids {
		g.Go(func() error {
			entries, err := l.cfg.Journal.ReadJournal(ctx, id, storyJournal)
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
