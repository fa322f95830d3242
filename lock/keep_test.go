package lock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

// keepAlive runs work under a lease of 30 seconds that is kept alive, with fake time (testing/synctest).
func keepAlive(t *testing.T,
	hold func(t *testing.T, f *locktest.Fake, key lock.Key, do func(work func(context.Context) error) error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, key := locktest.NewFake(), newKey(t, "order", "1")
		hold(t, f, key, func(work func(context.Context) error) error {
			return lock.Do(t.Context(), f, key, 0, 30*time.Second, func(ctx context.Context, _ int64) error {
				return work(ctx)
			}, lock.KeepAlive)
		})
	})
}

func locked(t *testing.T, f *locktest.Fake, key lock.Key) bool {
	t.Helper()
	is, err := f.IsLocked(t.Context(), key)
	require.NoError(t, err)
	return is
}

func TestKeepAliveHoldsTheLockForAsLongAsTheWorkTakes(t *testing.T) {
	keepAlive(t, func(t *testing.T, f *locktest.Fake, key lock.Key, do func(func(context.Context) error) error) {
		require.NoError(t, do(func(ctx context.Context) error {
			for range 60 {
				time.Sleep(5 * time.Second)
				require.True(t, locked(t, f, key))
				require.NoError(t, ctx.Err())
			}
			return nil
		}))
		require.False(t, locked(t, f, key))
	})
}

func TestWithoutKeepAliveTheWorkIsOverWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := lock.Do(t.Context(), locktest.NewFake(), newKey(t, "order", "1"), 0, 30*time.Second,
			func(ctx context.Context, _ int64) error {
				<-ctx.Done()
				return context.Cause(ctx)
			})
		require.ErrorIs(t, err, lock.ErrNotHeld)
		require.Equal(t, 30*time.Second, time.Since(begun))
	})
}

func TestKeepAliveOutlivesAStoreThatIsAwayForLessThanTheLease(t *testing.T) {
	keepAlive(t, func(t *testing.T, f *locktest.Fake, key lock.Key, do func(func(context.Context) error) error) {
		require.NoError(t, do(func(ctx context.Context) error {
			for range 5 {
				f.Break()
				time.Sleep(15 * time.Second)
				f.Repair()
				time.Sleep(20 * time.Second)
			}
			return ctx.Err()
		}))
	})
}

func TestKeepAliveCancelsTheWorkAtTheEndOfALeaseThatItCannotRenew(t *testing.T) {
	keepAlive(t, func(t *testing.T, f *locktest.Fake, _ lock.Key, do func(func(context.Context) error) error) {
		var took time.Duration
		err := do(func(ctx context.Context) error {
			time.Sleep(11 * time.Second) // the lease was renewed after 10
			begun := time.Now()
			f.Break()
			<-ctx.Done()
			took = time.Since(begun)
			f.Repair()
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, lock.ErrNotHeld)
		require.Equal(t, 29*time.Second, took)
	})
}

func TestKeepAliveCancelsTheWorkWhenAnotherCallerEndedItsLease(t *testing.T) {
	keepAlive(t, func(t *testing.T, f *locktest.Fake, key lock.Key, do func(func(context.Context) error) error) {
		begun := time.Now()
		err := do(func(ctx context.Context) error {
			f.Expire(key)
			<-ctx.Done()
			return errMine
		})
		require.ErrorIs(t, err, errMine)
		require.ErrorIs(t, err, lock.ErrNotHeld)
		require.Equal(t, 10*time.Second, time.Since(begun), "when it would have been renewed")
	})
}

func TestKeepAliveHoldsTheLockWhileCancelledWorkComesToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, key := locktest.NewFake(), newKey(t, "order", "1")
		ctx, cancel := context.WithCancel(t.Context())
		err := lock.Do(ctx, f, key, 0, 30*time.Second, func(ctx context.Context, _ int64) error {
			cancel()
			<-ctx.Done()
			time.Sleep(2 * time.Minute)
			require.True(t, locked(t, f, key))
			return context.Cause(ctx)
		}, lock.KeepAlive)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, lock.ErrNotHeld)
	})
}

// deaf is a locker that extends leases but loses the replies to the first attempts.
type deaf struct {
	*locktest.Fake
	lost    int
	longest time.Duration // the most that a lease had left
}

func (d *deaf) Extend(ctx context.Context, lease *lock.Lease, by time.Duration) error {
	until := lease.ExpiresAt
	err := d.Fake.Extend(ctx, lease, by)
	d.longest = max(d.longest, time.Until(lease.ExpiresAt))
	if d.lost == 0 || err != nil {
		return err
	}
	d.lost--
	lease.ExpiresAt = until
	return lock.ErrStore
}

func TestRenewalWhoseAnswerWasLostIsNotDoneTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deaf{Fake: locktest.NewFake(), lost: 5}
		const lease = 30 * time.Second
		require.NoError(t, lock.Do(t.Context(), d, newKey(t, "order", "1"), 0, lease,
			func(ctx context.Context, _ int64) error {
				time.Sleep(3 * lease)
				return ctx.Err()
			}, lock.KeepAlive))
		require.Zero(t, d.lost)
		require.Equal(t, lease, d.longest)
	})
}

// hung is a locker that answers only every second renewal.
type hung struct {
	*locktest.Fake
	calls int
}

func (h *hung) Extend(ctx context.Context, lease *lock.Lease, by time.Duration) error {
	if h.calls++; h.calls%2 == 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.Fake.Extend(ctx, lease, by)
}

func TestRenewalThatHangsLeavesTimeForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hung{Fake: locktest.NewFake()}
		require.NoError(t, lock.Do(t.Context(), h, newKey(t, "order", "1"), 0, 30*time.Second,
			func(ctx context.Context, _ int64) error {
				time.Sleep(5 * time.Minute)
				return context.Cause(ctx)
			}, lock.KeepAlive))
		require.Greater(t, h.calls, 10)
	})
}

func TestResumeReturnsTheEndAfterAnExtensionWhoseAnswerWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deaf{Fake: locktest.NewFake(), lost: 1}
		held, err := d.TryLock(t.Context(), newKey(t, "order", "1"), 0, long)
		require.NoError(t, err)
		require.ErrorIs(t, d.Extend(t.Context(), held, long), lock.ErrStore)
		again, err := d.Resume(t.Context(), held.Token())
		require.NoError(t, err)
		require.Equal(t, long, time.Until(held.ExpiresAt))
		require.Equal(t, 2*long, time.Until(again.ExpiresAt))
	})
}

func TestFailedUnlockIsReturned(t *testing.T) {
	for name, opts := range map[string][]lock.Option{"plain": nil, "kept alive": {lock.KeepAlive}} {
		for _, want := range []error{nil, errMine} {
			t.Run(name, func(t *testing.T) {
				f, key := locktest.NewFake(), newKey(t, "order", "1")
				got, err := lock.DoValue(t.Context(), f, key, 0, long, func(context.Context, int64) (string, error) {
					f.Break()
					return "done", want
				}, opts...)
				require.Equal(t, "done", got, "the work is done all the same")
				require.ErrorIs(t, err, lock.ErrUnlock)
				require.ErrorIs(t, err, lock.ErrStore)
				require.NotErrorIs(t, err, lock.ErrNotHeld)
				require.True(t, errors.Is(err, want) || want == nil)
				f.Repair()
				require.True(t, locked(t, f, key), "until its lease is over")
				f.Expire(key)
			})
		}
	}
}

func TestWorksOwnErrorIsReturnedAsItIs(t *testing.T) {
	f, key := locktest.NewFake(), newKey(t, "order", "1")
	for _, opts := range [][]lock.Option{nil, {lock.KeepAlive}} {
		require.Same(t, errMine, lock.Do(t.Context(), f, key, 0, long, func(context.Context, int64) error {
			return errMine
		}, opts...))
	}
}

func TestLeaseShowsNoProof(t *testing.T) {
	held, err := locktest.NewFake().TryLock(t.Context(), newKey(t, "order", "1"), 0, long)
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(verb, held), held.Proof())
		require.NotContains(t, fmt.Sprintf(verb, *held), held.Proof())
	}
}
