package lockredis_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockotel"
	"github.com/waitroom/waitroom/lock/lockprom"
	"github.com/waitroom/waitroom/lock/lockredis"
)

// spans remembers the names of the spans that were begun.
type spans struct {
	noop.Tracer
	mu    sync.Mutex
	names []string
}

func (s *spans) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context,
	trace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, name)
	return s.Tracer.Start(ctx, name, opts...)
}

// counted returns the values of counters and how many values histograms have, by name and label.
func counted(t *testing.T, r *prometheus.Registry) map[string]uint64 {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	all := map[string]uint64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			all[name] = m.GetHistogram().GetSampleCount()
			if c := m.GetCounter(); c != nil {
				all[name] = uint64(c.GetValue())
			}
		}
	}
	return all
}

func TestEveryWaitHoldLossAndFailureIsCountedAndSpanned(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb, r, s := redistest.Start(t), prometheus.NewRegistry(), &spans{}
	open := func(rdb *redis.Client) *lockredis.Locker {
		l := lockredis.New(rdb, lockredis.Config{Metrics: lockprom.New(r), Tracer: lockotel.New(s)})
		t.Cleanup(func() {
			require.NoError(t, l.Close())
			require.NoError(t, rdb.Close())
		})
		return l
	}
	// this database number does not exist, so every call fails
	l, away := open(redis.NewClient(&redis.Options{Addr: rdb.Addr()})),
		open(redis.NewClient(&redis.Options{Addr: rdb.Addr(), DB: 1 << 20}))
	key := newKey(t, "order", "counted")
	held, err := l.Lock(ctx, key, long)
	require.NoError(t, err)
	_, err = l.TryLock(ctx, key, time.Millisecond, long)
	require.ErrorIs(t, err, lock.ErrNotAcquired)
	require.NoError(t, l.Extend(ctx, held, long))
	require.NoError(t, l.Unlock(ctx, held))
	require.ErrorIs(t, l.Unlock(ctx, held), lock.ErrNotHeld)
	_, err = away.TryLock(ctx, key, 0, long)
	require.ErrorIs(t, err, lock.ErrStore)
	_, err = l.TryLock(ctx, lock.Key{}, 0, long)
	require.ErrorIs(t, err, lock.ErrInvalidKey)

	got := counted(t, r)
	delete(got, "waitroom_lock_failures_total background") // background work may have failed by now
	require.Equal(t, map[string]uint64{
		"waitroom_lock_wait_seconds acquired": 1, "waitroom_lock_wait_seconds not_acquired": 1,
		"waitroom_lock_wait_seconds failed":  1,
		"waitroom_lock_wait_seconds refused": 1, "waitroom_lock_hold_seconds": 1,
		"waitroom_lock_losses_total lease":     1,
		"waitroom_lock_failures_total TryLock": 1,
	}, got)
	require.Equal(t, []string{"lock.Lock", "lock.TryLock", "lock.Extend", "lock.Unlock", "lock.Unlock",
		"lock.TryLock", "lock.TryLock"}, s.names)
}
