package push_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/push"
)

// office is a database with notifications to send. The test sets its clock.
type office struct {
	store *outbox.Store
	put   func(n push.News)
	now   time.Time
}

func newOffice(t *testing.T) *office {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(),
		"outbox.db")+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec(outbox.Schema(outbox.SQLite))
	require.NoError(t, err)
	o := &office{now: time.Now()}
	o.store = outbox.NewStore(db, outbox.SQLite, outbox.StoreConfig{Now: func() time.Time { return o.now }})
	o.put = func(n push.News) {
		n.At, n.Room = o.now.UnixMilli(), "integration"
		task, err := n.Task()
		require.NoError(t, err)
		require.NoError(t, outbox.Enqueue(t.Context(), db, outbox.SQLite, task))
	}
	return o
}

func (o *office) worker(t *testing.T, send push.Send) *outbox.Worker {
	w, err := outbox.NewWorker(outbox.Config{Store: o.store, Kinds: push.Kinds(send)})
	require.NoError(t, err)
	return w
}

// Any number of sellers may be passed over at once; only one at a time holds the lock.
func TestTurnDoesNotWaitForPassedOverSellers(t *testing.T) {
	o := newOffice(t)
	for i := range 40 {
		o.put(push.News{What: push.Away, Ticket: int64(i), Browser: fmt.Sprint(i)})
	}
	o.put(push.News{What: push.Turn, Ticket: 99, Fence: 1, Browser: "turn"})
	sent, over := make(chan int64), make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := o.worker(t, func(ctx context.Context, n push.News) error {
		if n.What == push.Turn {
			sent <- n.Ticket
			return nil
		}
		<-ctx.Done() // a push service that does not answer
		end()
		return ctx.Err()
	})
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(ctx) }()
	select {
	case ticket := <-sent:
		require.Equal(t, int64(99), ticket)
	case <-over:
		t.Error("no browser was notified of its turn until another push had run out of time")
	}
	cancel()
	require.ErrorIs(t, <-stopped, context.Canceled)
}

// A seller that comes and goes all the time causes no more calls to its browser's push service.
func TestBrowserIsNotifiedOnceAMinuteThatItIsPassedOver(t *testing.T) {
	o := newOffice(t)
	var sent atomic.Int64
	w := o.worker(t, func(context.Context, push.News) error { sent.Add(1); return nil })
	o.now = time.UnixMilli(1_800_000_000_000).Truncate(time.Minute)
	for _, step := range []struct {
		pass time.Duration
		want int64
	}{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}} {
		o.now = o.now.Add(step.pass)
		o.put(push.News{What: push.Away, Browser: "b"})
		require.NoError(t, w.Tick(t.Context()))
		require.Equal(t, step.want, sent.Load())
	}
	o.put(push.News{What: push.Away, Browser: "another"})
	o.put(push.News{What: push.Away, Fence: 1, Browser: "b"})
	o.put(push.News{What: push.Turn, Fence: 1, Browser: "b"})
	o.put(push.News{What: push.Turn, Fence: 2, Browser: "b"})
	require.NoError(t, w.Tick(t.Context()))
	require.Equal(t, int64(6), sent.Load())
}

func TestPushThatCouldNotBeTriedForDaysIsNotDead(t *testing.T) {
	o := newOffice(t)
	o.put(push.News{What: push.Turn, Fence: 1, Browser: "b"})
	away := errors.New("store is away")
	w := o.worker(t, func(context.Context, push.News) error { return away })
	for range 3 {
		require.NoError(t, w.Tick(t.Context()))
		o.now = o.now.Add(25 * time.Hour)
	}
	away = nil // the turn is over
	require.NoError(t, w.Tick(t.Context()))
	counts, err := o.store.Count(t.Context())
	require.NoError(t, err)
	require.Zero(t, counts)
}
