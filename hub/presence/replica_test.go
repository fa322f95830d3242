package presence

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// slowAnswer runs a function after the next answer of Redis has come and before its caller gets it.
type slowAnswer struct{ meanwhile func() }

func (s *slowAnswer) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *slowAnswer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s *slowAnswer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if happen := s.meanwhile; happen != nil {
			s.meanwhile = nil
			happen()
		}
		return err
	}
}

// The answer comes after the previous heartbeat is too old, but within the call's time. No heartbeat failed,
// and the next ones are on time.
func TestPresenceThatWaitedForASlowHeartbeatIsRecorded(t *testing.T) {
	for name, happens := range map[string]func(*local){
		"one has gone": func(l *local) { l.leave("a") },
		"one has come": func(l *local) { l.waiting("b") },
	} {
		t.Run(name, func(t *testing.T) {
			l, slow := newLocal(t), new(slowAnswer)
			l.rdb.AddHook(slow)
			half := int64(l.replica.Engine.DeadAfter()/2+l.replica.Every) / 2
			all, _ := l.replica.Heartbeat(t.Context())
			require.True(t, all, "it has a number now")
			l.waiting("a")
			l.work.run(t.Context())
			require.False(t, l.waits())
			l.now += half
			slow.meanwhile = func() {
				l.now += half
				happens(l)
				l.work.run(t.Context())
				require.True(t, l.waits(), "other replicas may have taken this one for dead")
			}
			all, some := l.replica.Heartbeat(t.Context())
			require.Nil(t, slow.meanwhile)
			require.False(t, all)
			require.True(t, some)
			l.lock.Lock()
			l.Resume()
			l.lock.Unlock()
			l.work.run(t.Context())
			require.False(t, l.waits())
			require.False(t, l.Busy())
		})
	}
}

// counter counts calls that take rooms from a list.
type counter struct{ calls int }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "srem" {
			c.calls++
		}
		return next(ctx, cmd)
	}
}

func TestRoomsWithoutSocketsLeaveTheListInOneCall(t *testing.T) {
	l, calls := newLocal(t), new(counter)
	rooms := []room.ID{"a", "b", "used", "c", "stays"}
	for _, id := range rooms {
		require.NoError(t, l.replica.rooms.ensure(t.Context(), id, l.replica.Number()))
	}
	l.replica.InUse = func(id room.ID) bool { return id == "used" }
	l.rdb.AddHook(calls)
	l.replica.Drop(t.Context(), "a", "b", "used", "c", "never listed")
	require.Equal(t, 1, calls.calls)
	listed, err := l.rdb.SMembers(t.Context(), "{waitroom}:attended:7").Result()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"used", "stays"}, listed)
	l.replica.Drop(t.Context())
	require.Equal(t, 1, calls.calls, "without rooms there is no call")
}
