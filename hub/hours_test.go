package hub_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// The hours of a room change nothing in Redis: each replica tells its own sockets.
func TestEverySocketIsToldWhenItsRoomOpensAndCloses(t *testing.T) {
	var opens atomic.Int64
	r := start(t, redistest.Start(t).Client(), room.Config{Lease: time.Minute, OpensAt: func(id room.ID) time.Time {
		if at := opens.Load(); at != 0 && id == lobby {
			return time.UnixMilli(at)
		}
		return time.Time{}
	}}, hub.Config{})
	id := room.NewSession()
	spectator, waiter := r.dial(""), r.dial(id)
	join(t, r.Engine, room.NewSession())
	join(t, r.Engine, id)
	require.Nil(t, waiter.untilStatus(room.Waiting).OpensAt)

	at := time.Now().Add(time.Hour).UnixMilli()
	for _, want := range []int64{at, at + 1, 0, at} {
		opens.Store(want)
		for _, s := range []*socket{spectator, waiter} {
			s.untilTrue("the hours", func() bool {
				last := s.states[len(s.states)-1].OpensAt
				return want == 0 && last == nil || last != nil && *last == want
			})
		}
	}
	newcomer := r.dial("").untilStatus(room.Idle)
	require.Equal(t, at, *newcomer.OpensAt)
}
