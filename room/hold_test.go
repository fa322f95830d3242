package room_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// holds is the model of a room's average hold, in plain Go (ms).
type holds struct {
	lease, average, variance float64
	n                        int
}

func newHolds(lease time.Duration) holds {
	return holds{lease: float64(lease.Milliseconds()), average: float64(lease.Milliseconds())}
}

// learn adds the hold time of a lease (ms). The first leases weigh the same; later each weighs a tenth.
func (h *holds) learn(ms int64) {
	h.n++
	weight := max(1/float64(h.n+1), 0.1)
	off := min(float64(ms), h.lease) - h.average
	h.variance = (1 - weight) * (h.variance + weight*off*off)
	h.average += weight * off
}

// requireIn compares the model with a view. Redis stores thousandths of a millisecond.
func (h *holds) requireIn(t require.TestingT, v room.View) {
	require.InDelta(t, h.average, milliseconds(v.Hold), 0.01, "average hold")
	require.InDelta(t, math.Sqrt(h.variance), milliseconds(v.Spread), 0.05, "spread")
	require.Equal(t, min(h.n, 9), v.Holds, "from how many leases")
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// hold ends a lease that was held for about a duration, and returns the exact one.
func (s seller) hold(rdb redis.UniversalClient, about time.Duration) (ms int64, after room.Standing) {
	granted := s.join().Lease.GrantedAt - about.Milliseconds()
	redistest.SetState(s.t, rdb, "integration", "granted", granted)
	after = s.leave(room.Completed)
	return after.Now - granted, after
}

func TestAverageHoldAndSpreadAreThoseOfTheModel(t *testing.T) { learnsAsTheModel(t, 20) }

func learnsAsTheModel(t *testing.T, rooms int) {
	tries(t, rooms)
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		rapid.Check(t, func(rt *rapid.T) {
			require.NoError(rt, rdb.FlushDB(context.Background()).Err())
			s := newSeller(t, room.New(rdb, room.Config{Recovery: -1}), "a")
			events := listen(rt, rdb)
			want := newHolds(2 * time.Minute)
			want.requireIn(rt, s.stand().View)
			// holds above the lease's length stand for extended leases
			for _, about := range rapid.SliceOfN(rapid.Int64Range(0, 150_000), 1, 30).Draw(rt, "holds") {
				ms, after := s.hold(rdb, time.Duration(about)*time.Millisecond)
				want.learn(ms)
				want.requireIn(rt, after.View)
			}
			requireSameViews(rt, s.engine, events())
		})
	})
}

// requireSameViews requires that replies have the same averages as the last event.
func requireSameViews(t require.TestingT, e *room.Engine, events []room.Event) {
	last := events[len(events)-1]
	want := [3]time.Duration{last.Hold, last.Spread, time.Duration(last.Holds)}
	view, _, err := e.Look(context.Background(), integration)
	require.NoError(t, err)
	snapshot, err := e.Snapshot(context.Background(), integration)
	require.NoError(t, err)
	glance, err := e.Glance(context.Background(), integration)
	require.NoError(t, err)
	for _, v := range []room.View{view, snapshot.View, glance.View, roster(t, e).View} {
		require.Equal(t, want, [3]time.Duration{v.Hold, v.Spread, time.Duration(v.Holds)})
	}
}

// A new room's average hold is the lease length, which counts less with each lease that ends.
func TestEveryLeaseWeighsTheSameUntilOneWeighsATenth(t *testing.T) {
	d := newDesk(t, room.Config{})
	s := newSeller(t, d.engine, "a")
	hold := func(for_ time.Duration) room.Standing {
		s.join()
		d.pass(for_)
		return s.leave(room.Completed)
	}
	require.Equal(t, [2]time.Duration{2 * time.Minute, 0}, [2]time.Duration{s.stand().Hold, s.stand().Spread})
	first := hold(20 * time.Second)
	require.Equal(t, [2]time.Duration{70 * time.Second, 50 * time.Second},
		[2]time.Duration{first.Hold, first.Spread}, "half the lease length, half the lease")
	for range 8 {
		hold(20 * time.Second)
	}
	require.InDelta(t, 30, s.stand().Hold.Seconds(), 0.001, "the mean of nine and the lease length")
	require.InDelta(t, 30, s.stand().Spread.Seconds(), 0.001, "and their standard deviation")
	require.InDelta(t, 29, hold(20*time.Second).Hold.Seconds(), 0.001)
	require.InDelta(t, 28.1, hold(20*time.Second).Hold.Seconds(), 0.001)
}

func TestLeaseThatSupportExtendedTeachesNoMoreThanTheLeaseLength(t *testing.T) {
	d := newDesk(t, room.Config{})
	s := newSeller(t, d.engine, "a")
	st := s.join()
	_, err := d.engine.Extend(t.Context(), integration, "", st.Fence, 2*time.Minute, byKim)
	require.NoError(t, err)
	d.pass(3 * time.Minute)
	after := s.leave(room.Completed)
	require.Equal(t, 2*time.Minute, after.Hold)
	require.Zero(t, after.Spread)
}

// The room begins with a pause, so it has no average hold when its first lease ends.
func TestRoomThatWasPausedBeforeItsFirstLeaseLearnsFromNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		s := newSeller(t, room.New(rdb, room.Config{}), "a")
		for _, paused := range []bool{true, false} {
			_, err := s.engine.Pause(t.Context(), integration, "", paused, room.Action{})
			require.NoError(t, err)
		}
		ms, after := s.hold(rdb, 20*time.Second)
		want := newHolds(2 * time.Minute)
		want.learn(ms)
		want.requireIn(t, after.View)
	})
}

func TestRoomThatLostItsDataHasLearnedNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Recovery: -1})
		s := newSeller(t, e, "a")
		for range 3 {
			s.hold(rdb, 20*time.Second)
		}
		before := s.stand()
		require.NotZero(t, before.Spread)
		require.NoError(t, rdb.FlushDB(t.Context()).Err())
		require.Greater(t, s.stand().Epoch, before.Epoch)
		want := newHolds(2 * time.Minute)
		want.requireIn(t, s.stand().View)
		ms, st := s.hold(rdb, 30*time.Second)
		want.learn(ms)
		want.requireIn(t, st.View)
	})
}

// If the lease length is made shorter, it also bounds the average that longer leases have left.
func TestAverageHoldAndSpreadAreNeverOverTheLeaseLength(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		s := newSeller(t, room.New(rdb, room.Config{}), "a")
		s.hold(rdb, time.Second)
		require.Greater(t, s.stand().Spread, 10*time.Second)
		s.engine = room.New(rdb, room.Config{Lease: 10 * time.Second})
		require.Equal(t, [2]time.Duration{10 * time.Second, 10 * time.Second},
			[2]time.Duration{s.stand().Hold, s.stand().Spread})
	})
}
