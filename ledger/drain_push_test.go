package ledger_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// pushes is a store of subscriptions in memory.
type pushes struct {
	browsers  map[int64][]string
	asked     []string // records that were passed to Browsers
	forgotten []int64
	pushed    int
	broken    error
}

func (p *pushes) Browsers(_ context.Context, _ room.ID, happened []room.Record) (map[int64][]string, error) {
	for _, r := range happened {
		p.asked = append(p.asked, r.Type+" "+r.Seller)
	}
	return p.browsers, p.broken
}

func (p *pushes) Forget(_ context.Context, _ room.ID, tickets ...int64) error {
	p.forgotten = append(p.forgotten, tickets...)
	return p.broken
}

func (p *pushes) Pushed() { p.pushed++ }

func sqliteBench(t *testing.T) *bench {
	return newBench("sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"))
}

func TestBrowsersAreNotifiedOfTurnsAndOfBeingPassedOverUntilThePlaceIsOver(t *testing.T) {
	b, p := sqliteBench(t), &pushes{browsers: map[int64][]string{1: {"desktop", "phone"}, 3: {"other"}}}
	c := b.config()
	c.Pushes, c.Webhooks = p, false
	l := b.openWith(t, c)
	pushed := func() []string {
		return column(t, l.DB(), `SELECT (payload->>'what') || ' ' || (payload->>'ticket') || ' ' ||
			(payload->>'browser') FROM outbox_tasks WHERE kind LIKE 'push%' ORDER BY id`)
	}
	b.write(1, joined(1), granted(1), joined(2), joined(3))
	b.write(1, room.Record{Type: "away", At: 15, Ticket: 3, Seller: "s-3"},
		room.Record{Type: "back", At: 16, Ticket: 3, Seller: "s-3"})
	b.journal.failTrim = func() bool { return true }
	require.ErrorIs(t, l.Drain(t.Context(), here), errLost)
	b.journal.failTrim = nil
	require.NoError(t, l.Drain(t.Context(), here), "what was put in before is not put in again")
	require.Equal(t, []string{"turn 1 desktop", "turn 1 phone", "away 3 other"}, pushed())
	require.Equal(t, []string{"granted s-1", "away s-3"}, slices.Compact(p.asked[:2]))
	require.Positive(t, p.pushed)
	require.Empty(t, p.forgotten)

	b.write(1, ended(1, room.Unclaimed), granted(2))
	require.NoError(t, l.Drain(t.Context(), here))
	require.Equal(t, []string{"away 1 desktop", "away 1 phone"}, pushed()[3:])
	require.Empty(t, p.forgotten, "the place goes on")
	b.write(1, room.Record{Type: "ended", At: 40, Ticket: 1, Seller: "s-1", Outcome: room.Dropped, EndedAt: 40})
	require.NoError(t, l.Drain(t.Context(), here))
	require.Equal(t, []int64{1}, p.forgotten)
}

func TestJournalGoesOnWithoutAReceiver(t *testing.T) {
	b, p := sqliteBench(t), &pushes{broken: errors.New("store is away")}
	c := b.config()
	c.Pushes = p
	l := b.openWith(t, c)
	b.write(1, joined(1), granted(1), ended(1, room.Completed))
	require.NoError(t, l.Drain(t.Context(), here))
	require.Zero(t, b.journal.left(here))
	require.Zero(t, count(t, l, "outbox_tasks WHERE kind LIKE 'push%'"))
}
