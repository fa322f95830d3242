package hub

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// lone is a room of a hub that is not running.
type lone struct {
	*testing.T
	*localRoom
}

func newLone(t *testing.T) lone {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	h := New(Config{Engine: room.New(rdb, room.Config{}), Redis: rdb})
	t.Cleanup(func() { h.end(); h.tasks.Wait() })
	return lone{t, h.open("integration")}
}

// Redis is away for longer than a room without sockets is followed, so there is no heartbeat.
func TestRoomIsFollowedUntilEverySocketHasGone(t *testing.T) {
	l := newLone(t)
	c := &conn{h: l.h}
	require.True(t, l.enter(c, "a"))
	l.leave(c)
	require.False(t, l.retire(-time.Minute))
	l.h.report(t.Context())
	testproc.Until(t, time.Minute, func() error {
		if !l.retire(-time.Minute) {
			return errors.New("it is still followed")
		}
		return nil
	})
}
