package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// lastPause returns a room's last pause as text.
func lastPause(t *testing.T, l *ledger.Ledger) string {
	t.Helper()
	p, found, err := l.LastPause(t.Context(), here)
	require.NoError(t, err)
	if !found {
		require.Zero(t, p)
		return ""
	}
	return fmt.Sprint(p.At, " ", p.Who, " ", p.Reason)
}

// Each step is read twice: while it is still in the journal, and after the ledger has it.
func TestLastPauseIsKnownFromTheJournalOnAndFromTheLedger(t *testing.T) {
	for name, steps := range map[string][]struct {
		record room.Record
		want   string
	}{
		"one after another": {
			{room.Record{}, ""},
			{act(10, "kim", "pause"), "10 kim why pause"},
			{act(20, "kim", "resume"), "10 kim why pause"}, // the caller knows that the room is not paused
			{act(30, "lee", "pause"), "30 lee why pause"},
			{act(35, "kim", "move"), "30 lee why pause"},
		},
		"paused again": {
			{act(10, "kim", "pause"), "10 kim why pause"},
			{act(20, "lee", "pause"), "10 kim why pause"},
			{act(30, "lee", "resume"), "10 kim why pause"},
			{act(40, "lee", "pause"), "40 lee why pause"},
			{act(50, "kim", "pause"), "40 lee why pause"},
		},
		"a store that went back before a resume": {
			{act(10, "kim", "pause"), "10 kim why pause"},
			{act(20, "lee", "resume"), "10 kim why pause"},
			{room.Record{Type: "epoch", At: 30}, "10 kim why pause"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.open(t)
				for i, step := range steps {
					if step.record.Type != "" {
						b.write(1, step.record)
					}
					require.Equal(t, step.want, lastPause(t, l), "step %d, in the journal", i)
					if i%2 == 0 {
						require.NoError(t, l.Drain(t.Context(), here))
						require.Equal(t, step.want, lastPause(t, l), "step %d, in the ledger", i)
					}
				}
			})
		})
	}
}

func TestLastPauseOfAnErasedSellersRoomNamesNoSeller(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		pause := act(10, "kim", "pause")
		pause.Reason = "s-1 asked"
		b.write(1, joined(1), pause)
		require.NoError(t, l.Drain(t.Context(), here))
		_, err := l.EraseSeller(t.Context(), "s-1", "erased-x")
		require.NoError(t, err)
		require.Equal(t, "10 kim erased-x asked", lastPause(t, l))
	})
}

func TestLastPauseSaysWhenItCannotBeKnown(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(pg.URL())
	b.loose = true // the database is away at the end
	l := b.open(t)
	b.write(1, act(10, "kim", "pause"))
	require.NoError(t, l.Drain(t.Context(), here))
	pg.Stop()
	for range 2 { // the first call notices the outage, the second fails at once
		_, found, err := l.LastPause(t.Context(), here)
		require.ErrorIs(t, err, sqldb.ErrAway)
		require.False(t, found)
	}
	b.write(1, act(20, "lee", "pause"))
	require.Equal(t, "20 lee why pause", lastPause(t, l), "as far as the journal knows")
	b.write(1, act(25, "kim", "resume"), act(30, "lee", "pause"))
	require.Equal(t, "30 lee why pause", lastPause(t, l), "the journal alone knows")

	c := b.config()
	c.Journal = mute{b.journal}
	_, _, err := newBench("sqlite:"+t.TempDir()+"/waitroom.db").openWith(t, c).LastPause(t.Context(), "other")
	require.ErrorIs(t, err, room.ErrStore)
}

func TestLastPauseIsNotReadFromAPartOfAJournal(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, act(10, "kim", "pause"))
		for n := range int64(10_000) {
			b.write(1, joined(n+1))
		}
		require.Empty(t, lastPause(t, l), "what is behind that part may say otherwise")
	})
}
