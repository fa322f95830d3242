package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// far is how long a sleeping room may stay without a look in these tests; none of them waits for it.
const far = time.Hour

// leftAlone looks at every due room once, as the sweep does. A room that sleeps is then due far from now.
func leftAlone(t *testing.T, rdb redis.UniversalClient, e *room.Engine) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Sweep(ctx, nil, func(error) {}) }()
	require.Eventually(t, func() bool {
		return rdb.Exists(t.Context(), "{waitroom}:whole").Val() == 1 && dueIn(t, rdb) > far/2
	}, time.Minute, 5*time.Millisecond)
	stop()
	<-done
}

func dueIn(t *testing.T, rdb redis.UniversalClient) time.Duration {
	t.Helper()
	at, err := rdb.ZScore(t.Context(), "{waitroom}:due", string(integration)).Result()
	require.NoError(t, err)
	now, err := rdb.Time(t.Context()).Result()
	require.NoError(t, err)
	return time.UnixMilli(int64(at)).Sub(now)
}

// A process trusts its own registration for a while. A room that fell asleep meanwhile is due only long from
// now, and the call that wakes it has to make it due again.
func TestCallThatWakesARoomMakesItDueAtOnce(t *testing.T) {
	for name, wake := range map[string]func(*testing.T, *room.Engine){
		"join": func(t *testing.T, e *room.Engine) { newSeller(t, e, "b").join() },
		"message": func(t *testing.T, e *room.Engine) {
			_, err := e.Match(t.Context(), integration, room.MatchRequest{MessageID: "m"})
			require.NoError(t, err)
		},
		"pause": func(t *testing.T, e *room.Engine) {
			_, err := e.Pause(t.Context(), integration, "", true, byKim)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
				e := room.New(rdb, room.Config{IdleEvery: far})
				a := newSeller(t, e, "a")
				a.join()
				a.leave(room.Completed)
				leftAlone(t, rdb, e)
				wake(t, e)
				require.LessOrEqual(t, dueIn(t, rdb), time.Duration(0))
			})
		})
	}
}

// After a failover, the last look at an empty room is at the end of its recovery window. A join that waited
// for that end comes right after the look. Only a room that Redis does not have may have been lost, and waits
// for replays.
func TestRoomThatFallsAsleepBetweenRegistrationAndUseIsNotWaitedFor(t *testing.T) {
	for name, use := range map[string]func(context.Context, *room.Engine) error{
		"join": func(ctx context.Context, e *room.Engine) error {
			_, err := e.Join(ctx, integration, room.JoinRequest{Session: room.NewSession()})
			return err
		},
		"message": func(ctx context.Context, e *room.Engine) error {
			_, err := e.Match(ctx, integration, room.MatchRequest{MessageID: "m"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
				e := room.New(rdb, room.Config{})
				a := newSeller(t, e, "a")
				a.join()
				a.leave(room.Completed)
				way := &heldBack{}
				rdb.AddHook(way)
				registers, uses := func() {}, func() { fallAsleep(t, e) }
				way.inTurn(registers, uses)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				require.NoError(t, use(ctx, room.New(rdb, room.Config{Recovery: time.Hour})))
			})
		})
	}
}

func fallAsleep(t *testing.T, e *room.Engine) {
	t.Helper()
	found, err := e.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.True(t, found.Asleep)
}

// A process's own first registration does not make a room that was used long ago a new one.
func TestRoomLostInItsSleepIsNotBegunBeforeItsReplays(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		a.leave(room.Completed)
		require.NoError(t, rdb.Set(t.Context(), "{waitroom}:life", "old 1", 0).Err())
		require.NoError(t, rdb.ZAdd(t.Context(), "{waitroom}:registered",
			redis.Z{Score: 1, Member: string(integration)}).Err())
		way := &heldBack{}
		rdb.AddHook(way)
		registers, uses := func() {}, func() { fallAsleep(t, e) }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		loses := func() {
			keys, err := rdb.Keys(t.Context(), "{integration}:*").Result()
			require.NoError(t, err)
			require.NoError(t, rdb.Del(t.Context(), keys...).Err())
			time.AfterFunc(300*time.Millisecond, cancel) // enough time for a call that begins the room
		}
		way.inTurn(registers, uses, registers, loses)
		// this process has observed nothing of the room
		_, err := room.New(rdb, room.Config{Recovery: time.Hour}).Match(ctx, integration,
			room.MatchRequest{MessageID: "m"})
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, rdb.Exists(t.Context(), "{integration}:state").Val())
	})
}

func TestRoomIsListedAgainWhenTheIndexIsLostWithTheRest(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Recovery: -1})
		a := newSeller(t, e, "a")
		a.join()
		require.NoError(t, rdb.FlushDB(t.Context()).Err())
		a.join()
		require.LessOrEqual(t, dueIn(t, rdb), time.Duration(0))
	})
}

// The only replica that knows the room is dead.
func TestIndexThatIsLostAloneIsRebuiltFromTheRooms(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		dead, e := room.New(rdb, room.Config{}), room.New(rdb, room.Config{})
		a, b := newSeller(t, dead, "a"), newSeller(t, dead, "b")
		a.joinFor(time.Second)
		b.join()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		granted := make(chan room.Checked, 100)
		go func() {
			_ = e.Sweep(ctx, func(_ room.ID, found room.Checked) {
				if found.Lease != nil && found.Lease.Ticket == 2 {
					select {
					case granted <- found:
					default:
					}
				}
			}, func(error) {})
		}()
		require.Eventually(t, func() bool {
			return rdb.Exists(t.Context(), "{waitroom}:whole").Val() == 1
		}, time.Minute, 5*time.Millisecond)
		require.NoError(t, rdb.Del(t.Context(), "{waitroom}:due", "{waitroom}:registered",
			"{waitroom}:life").Err())
		require.Equal(t, int64(2), (<-granted).Lease.Ticket)
		require.Equal(t, room.Locked, b.stand().Status)
	})
}

// Two keys of the index are deleted, but not its generation, so no process notices a loss.
func TestRoomsThatAreTakenOutOfTheIndexComeBack(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		newSeller(t, room.New(rdb, room.Config{}), "a").join()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = e.Sweep(ctx, nil, func(error) {}) }()
		require.Eventually(t, func() bool {
			return rdb.Exists(t.Context(), "{waitroom}:whole").Val() == 1
		}, time.Minute, 5*time.Millisecond)
		require.NoError(t, rdb.Del(t.Context(), "{waitroom}:due", "{waitroom}:registered").Err())
		require.Eventually(t, func() bool {
			return rdb.ZScore(t.Context(), "{waitroom}:due", string(integration)).Err() == nil
		}, time.Minute, 5*time.Millisecond)
	})
}

func TestRoomIsDueInTimeThoughTheClockWentBack(t *testing.T) {
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	start := time.Now()
	store.SetTime(start)
	e := room.New(rdb, room.Config{})
	newSeller(t, e, "a").join()
	looks := make(chan room.Checked, 1000)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = e.Sweep(ctx, func(_ room.ID, found room.Checked) { looks <- found }, func(error) {}) }()
	<-looks
	back := start.Add(-time.Hour)
	store.SetTime(back)
	for found := range looks {
		if found.Now == back.UnixMilli() {
			return
		}
	}
}
