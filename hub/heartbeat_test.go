package hub

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// slowAnswer has something happen before the next answer of the store is heard.
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

// The answer is held back until the heartbeat before is too old, and comes within the time that the call has: no heartbeat has failed, and the next are on time.
func TestWhatHadToWaitForASlowHeartbeatIsTold(t *testing.T) {
	for name, happens := range map[string]func(teller, *conn){
		"one has gone": func(l teller, c *conn) { l.leave(c) },
		"one has come": func(l teller, _ *conn) { l.waits("b") },
	} {
		t.Run(name, func(t *testing.T) {
			l, slow, histories := newTeller(t), new(slowAnswer), int64(0)
			t.Cleanup(func() { l.h.end(); l.h.tasks.Wait() })
			l.h.rooms[l.id] = l.localRoom
			l.h.cfg.Redis.AddHook(slow)
			half := (l.h.engine.DeadAfter()/2 + l.h.cfg.Beat) / 2
			later := func() { l.h.clock.Start = l.h.clock.Start.Add(-half) }

			l.h.alive(t.Context(), &histories)
			c := l.waits("a")
			require.Equal(t, []string{"a"}, l.next().came)
			later()
			slow.meanwhile = func() {
				later()
				happens(l, c)
				_, told := l.nextAttendance()
				require.False(t, told, "others may have taken this replica for dead")
			}
			l.h.alive(t.Context(), &histories)
			require.Nil(t, slow.meanwhile)
			testproc.Until(t, time.Minute, func() error {
				l.mu.Lock()
				defer l.mu.Unlock()
				if l.who.waits() {
					return errors.New("it is not told")
				}
				return nil
			})
		})
	}
}
