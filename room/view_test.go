package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestWaits(t *testing.T) {
	const now = int64(1_800_000_000_000)
	held := func(elapsed, left time.Duration) *room.Lease {
		return &room.Lease{GrantedAt: now - elapsed.Milliseconds(), ExpiresAt: now + left.Milliseconds()}
	}
	for name, c := range map[string]struct {
		view               room.View
		position           int
		estimated, maximum int64
	}{
		"free and empty":                    {room.View{Hold: 2 * time.Minute}, 1, 0, 0},
		"free, all ahead are away":          {room.View{Hold: 90 * time.Second}, 3, 180, 240},
		"next, nothing known yet":           {room.View{Hold: 2 * time.Minute, Lease: held(time.Minute, time.Minute)}, 1, 60, 60},
		"second, nothing known yet":         {room.View{Hold: 2 * time.Minute, Lease: held(time.Minute, time.Minute)}, 2, 180, 180},
		"fourth, holders are quick":         {room.View{Hold: 90 * time.Second, Lease: held(33*time.Second, 87*time.Second)}, 4, 327, 447},
		"holder is over its time":           {room.View{Hold: 30 * time.Second, Lease: held(time.Minute, time.Minute)}, 2, 30, 180},
		"never over what the lease has":     {room.View{Hold: 2 * time.Minute, Lease: held(0, 10*time.Second)}, 1, 10, 10},
		"lease is over, not handed off yet": {room.View{Hold: 2 * time.Minute, Lease: held(2*time.Minute, -time.Second)}, 1, 0, 0},
		"part of a second counts whole":     {room.View{Hold: 2 * time.Minute, Lease: held(0, 1001*time.Millisecond)}, 1, 2, 2},
	} {
		w, ok := c.view.WaitsAt(c.position, now, 2*time.Minute)
		require.True(t, ok, name)
		require.Equal(t, c.estimated, room.Seconds(w.Estimated), name)
		require.Equal(t, c.maximum, room.Seconds(w.Maximum), name)
	}
	_, ok := room.View{Paused: true}.WaitsAt(1, now, time.Minute)
	require.False(t, ok, "while paused nobody can say")
}
