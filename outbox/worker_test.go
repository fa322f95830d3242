package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
)

func TestPhasesFollowEachOtherInOneTick(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		var c calls
		w := b.worker(t, c.record(outbox.Phases{
			outbox.Start: func(context.Context, outbox.Task) (outbox.Phase, error) { return "second", nil },
			"second":     func(context.Context, outbox.Task) (outbox.Phase, error) { return "third", nil },
			"third":      func(context.Context, outbox.Task) (outbox.Phase, error) { return outbox.Done, nil },
		}.Do))
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, map[string]int{"a start": 1, "a second": 1, "a third": 1}, c.seen())
		require.Zero(t, b.pending(t))
	})
}

func TestPhaseThatReturnsItselfIsTriedOnceATick(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		var c calls
		w := b.worker(t, c.record(func(context.Context, outbox.Task) (outbox.Phase, error) {
			return outbox.Start, nil
		}))
		for n := range 3 {
			require.NoError(t, w.Tick(t.Context()))
			require.Equal(t, map[string]int{"a start": n + 1}, c.seen())
			b.clock.Move(time.Second)
		}
	})
}

func TestPhasesThatReturnEachOtherAreTriedOnceATick(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		var c calls
		w := b.worker(t, c.record(outbox.Phases{
			outbox.Start: func(context.Context, outbox.Task) (outbox.Phase, error) { return "second", nil },
			"second":     func(context.Context, outbox.Task) (outbox.Phase, error) { return outbox.Start, nil },
		}.Do))
		for n := range 3 {
			require.NoError(t, w.Tick(t.Context()))
			require.Equal(t, map[string]int{"a start": n + 1, "a second": n + 1}, c.seen())
			b.clock.Move(1001 * time.Millisecond)
		}
	})
}

// Nothing but the next claim shows the worker to which phase such a transaction has gone on.
func TestPhaseThatUnlocksIntoItselfIsTriedOnceATick(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		var c calls
		w := b.worker(t, c.record(func(ctx context.Context, task outbox.Task) (outbox.Phase, error) {
			return outbox.Settled, b.store.UnlockTx(ctx, b.db, task, outbox.Start)
		}))
		for n := range 3 {
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second) // a phase that spins never ends its tick
			require.NoError(t, w.Tick(ctx))
			stop()
			require.Equal(t, map[string]int{"a start": n + 1}, c.seen())
			b.clock.Move(1001 * time.Millisecond)
		}
	})
}

func TestPhaseThatSaysSettledAndIsNotFailsAndIsLogged(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		for name, settle := range map[string]func(context.Context, outbox.Task) error{
			"without UnlockTx": func(context.Context, outbox.Task) error { return nil },
			"rolled back": func(ctx context.Context, task outbox.Task) error {
				tx, err := b.db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				return errors.Join(b.store.UnlockTx(ctx, tx, task, outbox.Done), tx.Rollback())
			},
		} {
			var log strings.Builder
			b.putAll(t, outbox.Task{Kind: name, Payload: name})
			tries := 0
			w, err := outbox.NewWorker(outbox.Config{Store: b.store,
				Log: slog.New(slog.NewTextHandler(&log, nil)), Kinds: map[string]outbox.Kind{
					name: {Do: func(ctx context.Context, task outbox.Task) (outbox.Phase, error) {
						tries++
						return outbox.Settled, settle(ctx, task)
					}}}})
			require.NoError(t, err)
			require.NoError(t, w.Tick(t.Context()))
			require.Contains(t, log.String(), "Settled without UnlockTx, or its transaction was rolled back")
			b.clock.Move(time.Second)
			require.NoError(t, w.Tick(t.Context()))
			require.Equal(t, 2, tries, "it is tried again after a rest")
		}
	})
}

// A finished phase is not repeated: only the failed one is retried, after its delay, once in a tick.
func TestOnlyThePhaseThatFailedIsTriedAgain(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		var c calls
		broken := errors.New("no")
		w := b.worker(t, c.record(outbox.Phases{
			outbox.Start: func(context.Context, outbox.Task) (outbox.Phase, error) { return "second", nil },
			"second":     func(context.Context, outbox.Task) (outbox.Phase, error) { return outbox.Done, broken },
		}.Do))
		for range 3 {
			require.NoError(t, w.Tick(t.Context()))
			b.clock.Move(time.Second)
		}
		require.Equal(t, map[string]int{"a start": 1, "a second": 3}, c.seen())
		broken = nil
		require.NoError(t, w.Tick(t.Context()))
		require.Zero(t, b.pending(t))
	})
}

func TestAFailingKeyHoldsUpNoOther(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "1", "failing")
		b.put(t, "1", "behind it")
		b.put(t, "2", "other")
		var c calls
		w := b.worker(t, c.record(func(_ context.Context, t outbox.Task) (outbox.Phase, error) {
			if t.Payload == "failing" {
				return "", errors.New("no")
			}
			return outbox.Done, nil
		}))
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, map[string]int{"failing start": 1, "other start": 1}, c.seen())
	})
}

// Each kind has its own limit of concurrent tasks, so one that hangs delays no other.
func TestAKindThatHangsHoldsUpNoOther(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		for range 20 {
			b.put(t, "", "hangs")
		}
		b.putAll(t, outbox.Task{Kind: "other"})
		through, hangs := make(chan struct{}), make(chan struct{}, 2)
		w, err := outbox.NewWorker(outbox.Config{Store: b.store, Tick: time.Millisecond,
			Kinds: map[string]outbox.Kind{
				job: {Parallel: 2, Do: func(ctx context.Context, _ outbox.Task) (outbox.Phase, error) {
					hangs <- struct{}{}
					<-ctx.Done()
					return "", ctx.Err()
				}},
				"other": {Do: func(context.Context, outbox.Task) (outbox.Phase,
					error) {
					close(through)
					return outbox.Done, nil
				}},
			}})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		<-through
		<-hangs
		<-hangs // a claim that is interrupted is known to no worker, and is taken over later
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
		for range 20 {
			b.mustClaim(t) // tasks in progress are released at once
		}
	})
}

func TestWorkerThatIsWokenDoesNotWaitForItsTick(t *testing.T) {
	b := newBench(t, sqlite(t))
	done := make(chan string, 2)
	w, err := outbox.NewWorker(outbox.Config{Store: b.store, Tick: time.Hour, Kinds: map[string]outbox.Kind{
		job: {Do: func(_ context.Context, t outbox.Task) (outbox.Phase, error) {
			done <- t.Payload
			return outbox.Done, nil
		}}}})
	require.NoError(t, err)
	b.put(t, "", "there at the start")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	require.Equal(t, "there at the start", <-done)
	b.put(t, "", "put in later")
	w.Wake("other")
	w.Wake(job)
	w.Wake(job)
	require.Equal(t, "put in later", <-done)
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestWhatIsNotReadyWaitsAndIsNoFailure(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "key", "a")
		registry, log := prometheus.NewRegistry(), &strings.Builder{}
		ready := outbox.ErrNotReady
		w, err := outbox.NewWorker(outbox.Config{Store: b.store, Registerer: registry,
			Log: slog.New(slog.NewTextHandler(log, nil)),
			Kinds: map[string]outbox.Kind{job: {Do: func(context.Context, outbox.Task) (outbox.Phase,
				error) {
				return outbox.Done, ready
			}}}})
		require.NoError(t, err)
		require.NoError(t, w.Tick(t.Context()))
		b.clock.Move(time.Second)
		ready = nil
		require.NoError(t, w.Tick(t.Context()))
		require.Zero(t, b.pending(t))
		require.Empty(t, log.String())
		require.Equal(t, map[string]float64{"job start ok": 1, "job start waiting": 1}, attempts(t, registry))
	})
}

// attempts returns the counted attempts, by kind, phase and result.
func attempts(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	all := make(map[string]float64)
	for _, f := range families {
		if f.GetName() != "waitroom_outbox_attempts_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			all[strings.Join(labels, " ")] = m.GetCounter().GetValue()
		}
	}
	return all
}

func TestAPhaseThatPanicsIsAFailureAndItsPayloadIsNotLogged(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "key", "secret")
		log := &strings.Builder{}
		w, err := outbox.NewWorker(outbox.Config{Store: b.store, Log: slog.New(slog.NewTextHandler(log, nil)),
			Kinds: map[string]outbox.Kind{job: {Do: func(context.Context, outbox.Task) (outbox.Phase,
				error) {
				panic("at the disco")
			}}}})
		require.NoError(t, err)
		require.NoError(t, w.Tick(t.Context()))
		b.clock.Move(time.Second)
		require.Equal(t, "panic: at the disco", b.mustClaim(t).LastError)
		require.Contains(t, log.String(), "key=key")
		require.NotContains(t, log.String(), "secret")
	})
}

func TestAPhaseThatNoWorkerKnowsIsNotTheEnd(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.putAll(t, outbox.Task{Kind: job, Phase: "of tomorrow"})
		w := b.worker(t, outbox.Phases{outbox.Start: nil}.Do)
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, 1, b.pending(t))
		nowhere := b.worker(t, func(context.Context, outbox.Task) (outbox.Phase, error) { return "", nil })
		b.clock.Move(time.Second)
		require.NoError(t, nowhere.Tick(t.Context()))
		b.clock.Move(time.Second)
		require.Contains(t, b.mustClaim(t).LastError, "there is no phase")
	})
}

// The effect and the end of a phase are one transaction: the effect happens once, even if the claim was lost
// meanwhile.
func TestAPhaseThatUnlocksInItsOwnTransactionHasItsEffectOnce(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		t.Cleanup(func() { _, _ = b.db.Exec(`DROP TABLE shipped`) })
		_, err := b.db.Exec(`CREATE TABLE shipped (task VARCHAR(64) NOT NULL)`)
		require.NoError(t, err)
		b.put(t, "", "a")
		ship := func(ctx context.Context, task outbox.Task) (outbox.Phase, error) {
			tx, err := b.db.BeginTx(ctx, nil)
			if err != nil {
				return "", err
			}
			defer func() { _ = tx.Rollback() }()
			if _, err := tx.ExecContext(ctx, `INSERT INTO shipped (task) VALUES ('a')`); err != nil {
				return "", err
			}
			if err := b.store.UnlockTx(ctx, tx, task, outbox.Done); err != nil {
				return "", err
			}
			return outbox.Settled, tx.Commit()
		}
		stale := b.mustClaim(t)
		b.clock.Move(31 * time.Second)
		require.NoError(t, b.worker(t, ship).Tick(t.Context()))
		_, err = ship(t.Context(), stale)
		require.ErrorIs(t, err, outbox.ErrNotHeld)
		var n int
		require.NoError(t, b.db.QueryRow(`SELECT COUNT(*) FROM shipped`).Scan(&n))
		require.Equal(t, 1, n)
		require.Zero(t, b.pending(t))
	})
}

// onWarning is a log that calls f for the first warning.
type onWarning struct {
	slog.Handler
	once *sync.Once
	f    func()
}

func (h onWarning) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn {
		h.once.Do(h.f)
	}
	return nil
}

func (h onWarning) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h onWarning) Enabled(context.Context, slog.Level) bool { return true }

func TestAPhaseThatIsDoneIsWrittenDownAsSoonAsTheDatabaseTakesIt(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.put(t, "", "a")
		rename := func(from, to string) {
			_, err := b.db.Exec(`ALTER TABLE ` + from + ` RENAME TO ` + to)
			if err != nil {
				t.Error(err)
			}
		}
		t.Cleanup(func() { _, _ = b.db.Exec(`DROP TABLE IF EXISTS out_of_reach`) })
		done := 0
		w, err := outbox.NewWorker(outbox.Config{Store: b.store, Tick: time.Millisecond,
			Log: slog.New(onWarning{slog.DiscardHandler, new(sync.Once),
				func() { rename("out_of_reach", "outbox_tasks") }}),
			Kinds: map[string]outbox.Kind{job: {Parallel: 1,
				Do: func(context.Context, outbox.Task) (outbox.Phase, error) {
					done++
					rename("outbox_tasks", "out_of_reach")
					return outbox.Done, nil
				}}}})
		require.NoError(t, err)
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, 1, done)
		require.Zero(t, b.pending(t))
	})
}

func TestAPhaseMustEndBeforeItsLock(t *testing.T) {
	onEach(t, func(t *testing.T, b *bench) {
		b.store = outbox.NewStore(b.db, b.dialect, outbox.StoreConfig{LockTimeout: time.Minute, Now: b.clock.Now})
		b.putAll(t, outbox.Task{Kind: job}, outbox.Task{Kind: "long"}, outbox.Task{Kind: "short"})
		end := make(chan time.Time, 3)
		do := func(ctx context.Context, _ outbox.Task) (outbox.Phase, error) {
			deadline, _ := ctx.Deadline()
			end <- deadline
			return outbox.Done, nil
		}
		for kind, want := range map[string]outbox.Kind{job: {Do: do}, "long": {Do: do, Timeout: time.Hour},
			"short": {Do: do, Timeout: 10 * time.Second}} {
			w, err := outbox.NewWorker(outbox.Config{Store: b.store, Kinds: map[string]outbox.Kind{kind: want}})
			require.NoError(t, err)
			before := time.Now()
			require.NoError(t, w.Tick(t.Context()))
			most := 50 * time.Second
			if kind == "short" {
				most = want.Timeout
			}
			got := <-end
			require.False(t, got.Before(before.Add(most)), kind)
			require.False(t, got.After(time.Now().Add(most)), kind)
		}
	})
}

func TestAWorkerWithoutAStoreIsAnError(t *testing.T) {
	_, err := outbox.NewWorker(outbox.Config{Kinds: map[string]outbox.Kind{"job": {Do: outbox.Phases{}.Do}}})
	require.ErrorContains(t, err, "Config.Store is nil")
}

func TestAKindWithoutAHandlerIsAnError(t *testing.T) {
	store := outbox.NewStore(nil, outbox.SQLite, outbox.StoreConfig{})
	for _, kinds := range []map[string]outbox.Kind{{"job": {}}, {"": {Do: outbox.Phases{}.Do}}} {
		_, err := outbox.NewWorker(outbox.Config{Store: store, Kinds: kinds})
		require.Error(t, err)
	}
}
