package ledger_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

func TestTheLedgerIsCompleteAfterTheDatabaseWasAway(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(strings.Replace(pg.URL(), "postgres@", "postgres:canary@", 1))
	l := b.open(t)
	b.life(1)
	require.NoError(t, l.Drain(t.Context(), here))

	pg.Stop()
	for ticket := range int64(20) {
		b.life(ticket + 2)
		require.Error(t, l.Drain(t.Context(), here))
	}
	require.Equal(t, 40, b.journal.left(here), "what is not in the ledger stays in the journal")
	_, err := l.Receive(t.Context(), here, room.MessageNote{MessageID: "m"})
	require.ErrorIs(t, err, sqldb.ErrAway, "nobody waits for a database known to be away")
	_, err = l.Judge(t.Context(), here, 1, matched("m-2", 2))
	require.ErrorIs(t, err, sqldb.ErrAway)
	l.JournalSeen(here, room.Checked{Journal: 40})
	status := l.Status()
	require.True(t, status.Behind)
	require.Equal(t, 40, status.Pending)
	require.NotEmpty(t, status.Error)
	require.NotContains(t, status.Error+err.Error(), "canary")

	pg.Start()
	require.ErrorIs(t, l.Drain(t.Context(), here), sqldb.ErrAway, "it is not asked in every moment")
	b.now.Move(time.Second)
	require.NoError(t, l.Drain(t.Context(), here))
	require.Equal(t, ledger.Status{}, l.Status())
	require.Zero(t, b.journal.left(here))
	require.Equal(t, 21, count(t, l, "leases WHERE outcome = 'completed'"))
	require.Equal(t, 21, count(t, l, "verifications"))
	require.Equal(t, 4*21, count(t, l, "timeline"))
	require.Len(t, b.journal.verdicts(), 21)
}

func TestTheServerStartsWhileTheDatabaseIsAway(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(pg.URL())
	pg.Stop()
	l := b.open(t)
	require.True(t, l.Status().Behind)
	b.life(1)
	require.Error(t, l.Drain(t.Context(), here))
	pg.Start()
	b.now.Move(time.Second)
	require.NoError(t, l.Drain(t.Context(), here), "and migrates when it is back")
	require.Equal(t, 1, count(t, l, "verifications"))
}

func TestADatabaseThatRefusesUsStopsTheStart(t *testing.T) {
	b := newBench(strings.Replace(pgtest.Start(t).URL(), "/test_", "/nowhere_", 1))
	_, err := b.database(t.Context())
	require.ErrorContains(t, err, "does not exist")
}

func TestRunDrainsWhatTheSweepFound(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(1)
		drained := make(chan struct{})
		b.journal.onTrim = func() { close(drained) }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		l.JournalSeen(here, room.Checked{Journal: 2})
		<-drained
		stop()
		require.True(t, errors.Is(<-ended, context.Canceled))
		require.Equal(t, 1, count(t, l, "verifications"))
	})
}

func TestTwoProgramsCanNotBreakARuleAtTheSameMoment(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		insert := `INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at) VALUES `
		for range 20 {
			errs := make(chan error, 2)
			for _, values := range []string{`('integration', 1, 1, 1, 'a', 10, 30)`,
				`('integration', 2, 1, 2, 'b', 20, 40)`} {
				go func() {
					_, err := l.DB().Exec(insert + values)
					errs <- err
				}()
			}
			one, other := <-errs, <-errs
			require.True(t, (one == nil) != (other == nil), "%v / %v", one, other)
			wipe(t, l)
		}
	})
}

// wipe deletes all verifications, for which the table's triggers have to be dropped first.
func wipe(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	for _, trigger := range []string{"verifications_stay", "verifications_kept"} {
		drop := "DROP TRIGGER IF EXISTS " + trigger
		if l.Dialect() == dialect.Postgres {
			drop += " ON verifications"
		}
		_, err := l.DB().Exec(drop)
		require.NoError(t, err)
	}
	_, err := l.DB().Exec("DELETE FROM verifications")
	require.NoError(t, err)
}

// quiet returns a running replica that has reconciled, and so makes no queries for a minute.
func (b *bench) quiet(t *testing.T) *ledger.Ledger {
	t.Helper()
	b.journal.epoch = 1
	b.write(1, joined(1), granted(1))
	c, looked := b.config(), make(chan struct{})
	c.Rooms = lookedAt{b.journal, sync.OnceFunc(func() { close(looked) })}
	l := b.openWith(t, c)
	require.NoError(t, l.Drain(t.Context(), here))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	<-looked
	return l
}

// lookedAt signals when a room with open rows is read.
type lookedAt struct {
	*journal
	judged func()
}

func (l lookedAt) Look(ctx context.Context, id room.ID, sessions ...string) (room.View, []room.Seat, error) {
	defer l.judged()
	return l.journal.Look(ctx, id, sessions...)
}

// A quiet room whose journal is empty is not reported by JournalSeen again.
func TestARoomThatAnotherReplicaDrainedDoesNotWaitHere(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l, other := b.quiet(t), b.open(t)
		tried := make(chan struct{})
		died := sync.OnceFunc(func() { close(tried) })
		var back atomic.Bool
		b.journal.failTrim = func() bool { died(); return !back.Load() }
		b.life(2)
		l.JournalSeen(here, room.Checked{Journal: 2})
		<-tried
		require.Equal(t, 2, l.Status().Pending)
		b.now.Move(4 * time.Second)
		require.True(t, l.Status().Behind)
		back.Store(true)
		require.NoError(t, other.Drain(t.Context(), here))
		wait(t, func() bool { return l.Status() == ledger.Status{} })
	})
}

func TestAReplicaWithNothingToTakeInNoticesThatTheDatabaseIsBack(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(pg.URL())
	l, other := b.quiet(t), b.open(t)
	pg.Stop()
	b.life(2)
	l.JournalSeen(here, room.Checked{Journal: 2})
	wait(t, func() bool { return l.Status().Error != "" })
	pg.Start()
	b.now.Move(4 * time.Second)
	require.NoError(t, other.Drain(t.Context(), here))
	wait(t, func() bool { return l.Status() == ledger.Status{} })
	require.Equal(t, 1, count(t, l, "verifications"))
}
