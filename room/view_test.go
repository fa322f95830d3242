package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
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
		"free and empty":           {room.View{Room: wire.Room{Hold: 2 * time.Minute}}, 1, 0, 0},
		"free, all ahead are away": {room.View{Room: wire.Room{Hold: 90 * time.Second}}, 3, 180, 240},
		"next, nothing known yet": {room.View{Room: wire.Room{Hold: 2 * time.Minute},
			Lease: held(time.Minute, time.Minute)}, 1, 60, 60},
		"second, nothing known yet": {room.View{Room: wire.Room{Hold: 2 * time.Minute},
			Lease: held(time.Minute, time.Minute)}, 2, 180, 180},
		"fourth, holders are quick": {room.View{Room: wire.Room{Hold: 90 * time.Second},
			Lease: held(33*time.Second, 87*time.Second)}, 4, 327, 447},
		"holder is over its time": {room.View{Room: wire.Room{Hold: 30 * time.Second},
			Lease: held(time.Minute, time.Minute)}, 2, 30, 180},
		"holds vary as chance does": {room.View{Room: wire.Room{Hold: 50 * time.Second, Spread: 50 * time.Second},
			Lease: held(time.Minute, time.Minute)}, 2, 85, 180},
		"no more than as chance does": {room.View{Room: wire.Room{Hold: 50 * time.Second, Spread: 90 * time.Second},
			Lease: held(time.Minute, time.Minute)}, 2, 85, 180},
		"holds vary half as much": {room.View{Room: wire.Room{Hold: 80 * time.Second, Spread: 40 * time.Second},
			Lease: held(20*time.Second, 100*time.Second)}, 1, 59, 100},
		"half as much, over its time": {room.View{Room: wire.Room{Hold: 80 * time.Second, Spread: 40 * time.Second},
			Lease: held(100*time.Second, 20*time.Second)}, 1, 14, 20},
		"varying, what the lease has left": {room.View{Room: wire.Room{Hold: 80 * time.Second, Spread: 80 * time.Second},
			Lease: held(90*time.Second, 30*time.Second)}, 1, 30, 30},
		"varying, but free": {room.View{Room: wire.Room{Hold: 50 * time.Second, Spread: 50 * time.Second}}, 2,
			50, 120},
		"ended as soon as granted, always": {room.View{Lease: held(0, 2*time.Minute)}, 3, 0, 360},
		"a hold of another lease length": {room.View{Room: wire.Room{Hold: 5 * time.Minute}, Lease: held(0, 2*time.Minute)},
			2, 240, 240},
		"never over what the lease has": {room.View{Room: wire.Room{Hold: 2 * time.Minute},
			Lease: held(0, 10*time.Second)}, 1, 10, 10},
		"lease is over, not handed off yet": {room.View{Room: wire.Room{Hold: 2 * time.Minute},
			Lease: held(2*time.Minute, -time.Second)}, 1, 0, 0},
		"part of a second counts whole": {room.View{Room: wire.Room{Hold: 2 * time.Minute},
			Lease: held(0, 1001*time.Millisecond)}, 1, 2, 2},
	} {
		w, ok := c.view.WaitsAt(c.position, now, 2*time.Minute)
		require.True(t, ok, name)
		require.Equal(t, c.estimated, room.Seconds(w.Estimated), name)
		require.Equal(t, c.maximum, room.Seconds(w.Maximum), name)
	}
	_, ok := room.View{Room: wire.Room{Public: wire.Public{Paused: true}}}.WaitsAt(1, now, time.Minute)
	require.False(t, ok, "while paused there is no estimate")
}

// If all leases are held equally long (spread 0), the expected wait is the average hold less the lease's age,
// plus a hold for each place ahead. It never exceeds the longest wait.
func TestEstimateIsNeverOverTheMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(most int64, name string) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
		const now = int64(1_800_000_000_000)
		lease := time.Duration(1+ms(600_000, "lease length")) * time.Millisecond
		v := room.View{Room: wire.Room{Hold: time.Duration(ms(600_000, "hold")) * time.Millisecond, Spread: time.Duration(ms(600_000, "spread")) * time.Millisecond},

			Lease: &room.Lease{GrantedAt: now - ms(700_000, "elapsed"),
				ExpiresAt: now - 1000 + ms(600_000, "left")}}
		p := rapid.IntRange(1, 20).Draw(t, "position")
		w, ok := v.WaitsAt(p, now, lease)
		require.True(t, ok)
		require.LessOrEqual(t, w.Estimated, w.Maximum)
		require.GreaterOrEqual(t, w.Estimated, time.Duration(0))

		v.Hold = min(v.Hold, lease)
		w, _ = v.WaitsAt(p, now, lease)
		require.GreaterOrEqual(t, w.Estimated, time.Duration(p-1)*v.Hold,
			"each place ahead takes an average hold")
		v.Spread = 0
		alike, _ := v.WaitsAt(p, now, lease)
		left := max(time.Duration(v.Lease.ExpiresAt-now)*time.Millisecond, 0)
		elapsed := time.Duration(now-v.Lease.GrantedAt) * time.Millisecond
		require.Equal(t, min(max(v.Hold-elapsed, 0), left)+time.Duration(p-1)*v.Hold, alike.Estimated)
	})
}
