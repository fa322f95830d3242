package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// Two replicas drain several rooms in one transaction, each in another order.
func TestRoomsThatAreDrainedTogetherAreWrittenAsIfEachHadBeenAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		one, other := b.open(t), b.open(t)
		var rooms []room.ID
		for n := range ledger.MaxRooms + 10 {
			id := room.ID(fmt.Sprintf("r-%03d", n))
			rooms = append(rooms, id)
			for ticket := range int64(n%5 + 1) {
				b.journal.write(id, 1, joined(ticket+1), granted(ticket+1))
				b.journal.write(id, 1, matched(fmt.Sprintf("m-%d", ticket), ticket+1), ended(ticket+1, room.Completed))
			}
		}
		b.journal.add("r-007", room.Entry{ID: "x",
			Odd: errors.New("records: not JSON")}) // has the whole transaction undone
		b.journal.write("r-009", 1, room.Record{Type: "granted"})

		drainAll(t, rooms, one, other)
		var want []string
		all := 0
		for n, id := range rooms {
			want = append(want, fmt.Sprint(id, " ", n%5+1))
			all += n%5 + 1
		}
		for _, from := range []string{"leases WHERE outcome = 'completed'", "verifications"} {
			require.Equal(t, want, column(t, one.DB(), `SELECT room || ' ' || COUNT(*)
				FROM `+from+` GROUP BY room ORDER BY room`))
		}
		require.GreaterOrEqual(t, len(b.journal.verdicts()), all,
			"a verdict for each match, of which there are one to five in a room; both may report it")
		require.Equal(t, []string{"r-007", "r-009"}, column(t, one.DB(), `SELECT room FROM parked ORDER BY room`))
	})
}

// drainAll makes ledgers drain rooms until their journals are empty.
func drainAll(t *testing.T, rooms []room.ID, ledgers ...*ledger.Ledger) {
	t.Helper()
	for i, l := range ledgers {
		list := slices.Clone(rooms)
		if i%2 == 1 {
			slices.Reverse(list)
		}
		for _, id := range list {
			l.JournalSeen(id, room.Checked{Journal: 1})
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	for _, l := range ledgers {
		g.Go(func() error { return l.Run(ctx) })
	}
	wait(t, func() bool {
		return !slices.ContainsFunc(ledgers, func(l *ledger.Ledger) bool { return l.Status().Pending > 0 })
	})
	cancel()
	require.ErrorIs(t, g.Wait(), context.Canceled)
}

// reading is a journal that calls before when it is read alone.
type reading struct {
	*journal
	before func(room.ID)
}

func (r reading) ReadJournals(ctx context.Context, ids []room.ID, n int) []room.Journal {
	if len(ids) == 1 {
		r.before(ids[0])
	}
	return r.journal.ReadJournals(ctx, ids, n)
}

// together is a journal that sends how many rooms are read at a time.
type together struct {
	*journal
	read chan int
}

func (t together) ReadJournals(ctx context.Context, ids []room.ID, n int) []room.Journal {
	t.read <- len(ids)
	return t.journal.ReadJournals(ctx, ids, n)
}

func TestATransactionHasFewRoomsWhenTheirJournalsAreLong(t *testing.T) {
	const rooms = ledger.MaxRooms + 72
	for entries, want := range map[int]int{1: ledger.MaxRooms, 20: 100, 500: 4} {
		t.Run(fmt.Sprint(entries), func(t *testing.T) {
			b := newBench("sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"))
			c := b.config()
			journal := together{b.journal, make(chan int, rooms)}
			c.Journal = journal
			l := b.openWith(t, c)
			for n := range rooms {
				l.JournalSeen(room.ID(fmt.Sprint("r-", n)), room.Checked{Journal: entries})
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- l.Run(ctx) }()
			for left := rooms; left > 0; {
				some := <-journal.read
				require.LessOrEqual(t, some, want)
				left -= some
			}
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
		})
	}
}

func TestARoomWithALongJournalHoldsUpNoneThatIsDrainedWithIt(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		var l *ledger.Ledger
		more := 0
		c := b.config()
		c.Journal = reading{b.journal, func(id room.ID) {
			if id != "long" {
				return
			}
			more++
			b.journal.write("short", 1, joined(int64(more+1)))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, l.Drain(ctx, "short"), "while the long one is drained")
		}}
		l = b.openWith(t, c)
		b.journal.write("short", 1, joined(1))
		for ticket := range int64(600) {
			b.journal.write("long", 1, joined(ticket+1))
		}
		require.NoError(t, l.DrainRooms(t.Context(), []room.ID{"long", "short"}))
		require.NotZero(t, more)
		require.Equal(t, 600, count(t, l, "places WHERE room = 'long'"))
		require.Equal(t, more+1, count(t, l, "places WHERE room = 'short'"))
	})
}

// settling is a journal that grows with each verdict, as that of a changing room does.
type settling struct{ *journal }

func (s settling) SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64,
	agreed bool) error {
	s.write(id, 1, joined(fence/1000+100))
	return s.journal.SettleMatch(ctx, id, messageID, fence, agreed)
}

func TestEverythingIsTakenInBeforeAStoreEndsAlsoWhatVerdictsAddAndWhatFailedAtFirst(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		c := b.config()
		c.Rooms = settling{b.journal}
		l := b.openWith(t, c)
		var rooms []room.ID
		for n := range ledger.MaxRooms + 1 {
			id := room.ID(fmt.Sprintf("r-%02d", n))
			rooms = append(rooms, id)
			b.journal.write(id, 1, joined(1), granted(1))
			b.journal.write(id, 1, matched("m", 1), ended(1, room.Completed))
		}
		trims := 0
		b.journal.failTrim = func() bool { trims++; return trims == 3 }
		require.NoError(t, l.DrainAll(t.Context(), rooms))
		for _, id := range rooms {
			require.Zero(t, b.journal.left(id), id)
			require.Equal(t, 1, count(t, l, fmt.Sprintf("leases WHERE room = '%s' AND outcome = 'completed'", id)))
			require.Equal(t, 1, count(t, l, fmt.Sprintf("places WHERE room = '%s' AND ticket = 101", id)))
		}

		b.journal.write("r-00", 1, joined(200))
		b.journal.failTrim = func() bool { return true }
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		require.Error(t, l.DrainAll(ctx, rooms), "it says so when its time is over")
	})
}
