package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// hold blocks all writes of a room until release; on SQLite it blocks all writes of the file.
func hold(t *testing.T, by *ledger.Ledger) (release func()) {
	t.Helper()
	conn, err := by.DB().Conn(t.Context())
	require.NoError(t, err)
	for _, statement := range map[dialect.Dialect][]string{
		dialect.SQLite:   {`BEGIN IMMEDIATE`},
		dialect.Postgres: {`BEGIN`, `SELECT pg_advisory_xact_lock(hashtextextended('integration', 0))`},
	}[by.Dialect()] {
		_, err := conn.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	return func() {
		_, err := conn.ExecContext(t.Context(), `ROLLBACK`)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
}

// probes returns the number of probes with a result.
func probes(t *testing.T, r *prometheus.Registry, answer string) (n float64) {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() != "waitroom_ledger_probes_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == answer {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

func TestOneSlowQuestionHoldsUpNoOther(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		registry := prometheus.NewRegistry()
		c := b.config()
		c.Registerer = registry
		l := b.openWith(t, c)
		b.life(1)
		release := hold(t, b.open(t))
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := l.Judge(ctx, here, 1, matched("m-1", 1))
		require.Error(t, err)
		require.NotErrorIs(t, err, sqldb.ErrAway)

		others := func() {
			t.Helper()
			require.Equal(t, ledger.Status{}, l.Status())
			_, err := l.Story(t.Context(), read.Story{Room: here, Seller: "s-1"})
			require.NoError(t, err)
			if l.Dialect() == dialect.Postgres { // which has more than one writer
				_, err = l.Receive(t.Context(), here, room.MessageNote{MessageID: "other"})
				require.NoError(t, err)
				require.NoError(t, l.Drain(t.Context(), "other"))
			}
		}
		others()
		wait(t, func() bool { return probes(t, registry, "there") > 0 })
		others()
		release()
		agreed, err := l.Judge(t.Context(), here, 1, matched("m-1", 1))
		require.NoError(t, err, "it may be asked again at once")
		require.True(t, agreed)
		require.Zero(t, probes(t, registry, "none"))
	})
}

// The probe has a connection of its own, since waiting queries use all the others.
func TestSlowQuestionsThatTakeEveryConnectionSayNothing(t *testing.T) {
	b := onPostgres(t)
	registry := prometheus.NewRegistry()
	c := b.config()
	c.Registerer = registry
	l := b.openWith(t, c)
	tx, err := b.open(t).DB().Begin()
	require.NoError(t, err)
	_, err = tx.Exec(`LOCK TABLE messages IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	var questions sync.WaitGroup
	for n := range 30 {
		questions.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(200+20*n)*time.Millisecond)
			defer cancel()
			if _, err := l.Receive(ctx, here, room.MessageNote{MessageID: "m"}); errors.Is(err, sqldb.ErrAway) {
				t.Errorf("receive: %v", err)
			}
		})
	}
	questions.Wait()
	wait(t, func() bool { return probes(t, registry, "there") > 0 })
	require.NoError(t, tx.Rollback())
	wait(t, func() bool { // the first may get a connection that a question before it broke off
		_, err := l.Receive(t.Context(), here, room.MessageNote{MessageID: "m"})
		return err == nil
	})
	require.Equal(t, ledger.Status{}, l.Status())
	require.Zero(t, probes(t, registry, "none"))
}

func TestAFrozenDatabaseIsFoundOutByOneProbe(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(pg.URL())
	b.probeWithin = 2 * time.Second
	registry := prometheus.NewRegistry()
	c := b.config()
	c.Registerer = registry
	l := b.openWith(t, c)
	require.NoError(t, l.Drain(t.Context(), here))
	b.life(1)

	pg.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var questions sync.WaitGroup
	for range 3 { // which end at once, long before the probe
		questions.Go(func() {
			_, err := l.Receive(ctx, here, room.MessageNote{MessageID: "m"})
			if !errors.Is(err, context.DeadlineExceeded) ||
				errors.Is(err, sqldb.ErrAway) { // a time-out proves nothing
				t.Errorf("receive: %v", err)
			}
		})
	}
	questions.Wait()
	wait(t, func() bool { return l.Status().Behind })
	require.Contains(t, l.Status().Error, "does not answer")
	require.EqualValues(t, 1, probes(t, registry, "none"))
	_, err := l.Receive(t.Context(), here, room.MessageNote{MessageID: "m"})
	require.ErrorIs(t, err, sqldb.ErrAway)

	pg.Thaw()
	b.now.Move(time.Second)
	require.NoError(t, l.Drain(t.Context(), here))
	require.Equal(t, ledger.Status{}, l.Status())
	require.Equal(t, []string{"m-1 true"}, b.journal.verdicts())
}

func TestCloseEndsAProbe(t *testing.T) {
	pg := pgtest.StartOwn(t)
	b := newBench(pg.URL())
	c := b.config()
	before := goleak.IgnoreCurrent()
	var err error
	c.DB, err = b.database(t.Context())
	require.NoError(t, err)
	l := ledger.New(c)
	pg.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = l.Receive(ctx, here, room.MessageNote{MessageID: "m"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	pg.Thaw()
	l.Close()
	require.NoError(t, c.DB.Close())
	require.Equal(t, ledger.Status{}, l.Status())
	// the driver cancels the query on the server and waits for the server's confirmation
	testproc.Until(t, time.Minute, func() error { return goleak.Find(before) })
}

var errNotYet = errors.New("not yet")

// wait waits until a condition holds.
func wait(t *testing.T, so func() bool) {
	t.Helper()
	testproc.Until(t, time.Minute, func() error {
		if !so() {
			return errNotYet
		}
		return nil
	})
}
