package ledger

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

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

// entryTime returns when Redis wrote an entry, from its id.
func entryTime(e room.Entry) (time.Time, error) {
	id := parseEntryID(e.ID)
	if id.ms > math.MaxInt64 {
		return time.Time{}, errors.New("entry id is odd")
	}
	return time.UnixMilli(int64(id.ms)), nil
}

// compareEntries orders the journal's ids as Redis does; names that are not ids come last.
func compareEntries(a, b string) int {
	x, y := parseEntryID(a), parseEntryID(b)
	return cmp.Or(cmp.Compare(x.ms, y.ms), cmp.Compare(x.seq, y.seq), cmp.Compare(a, b))
}

type entryID struct{ ms, seq uint64 }

func parseEntryID(text string) entryID {
	text, _, _ = strings.Cut(text, "~") // see renameConflicting
	before, after, _ := strings.Cut(text, "-")
	ms, err := strconv.ParseUint(before, 10, 64)
	seq, errSeq := strconv.ParseUint(after, 10, 64)
	if err != nil || errSeq != nil {
		return entryID{ms: math.MaxUint64, seq: math.MaxUint64}
	}
	return entryID{ms, seq}
}
