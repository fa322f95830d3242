package desk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

func TestRowShowsWhatAPersonShouldLookAt(t *testing.T) {
	const now, minute = int64(1_000_000_000), int64(60_000)
	held := &room.Lease{Fence: 7, ExpiresAt: now + minute}
	for name, c := range map[string]struct {
		glance room.Glance
		want   trouble
	}{
		"nothing":      {room.Glance{}, 0},
		"held":         {room.Glance{View: room.View{Lease: held, Waiting: 3}}, 0},
		"all are away": {room.Glance{View: room.View{Waiting: 3}, Glance: wire.Glance{Away: 3}}, troubleStuck},
		"paused, somebody waits": {room.Glance{View: room.View{Waiting: 3, Room: wire.Room{Public: wire.Public{Paused: true}}}},
			troublePaused},
		"two leases, both expired":     {room.Glance{Glance: wire.Glance{Leases: 2, Expired: 2}}, 0},
		"most of the leases expired":   {room.Glance{Glance: wire.Glance{Leases: 3, Expired: 2}}, troubleExpired},
		"half of the leases expired":   {room.Glance{Glance: wire.Glance{Leases: 4, Expired: 2}}, 0},
		"a code is nobody's":           {room.Glance{Glance: wire.Glance{Nobodys: 1}}, troubleNobodys},
		"data lost nine minutes ago":   {room.Glance{Glance: wire.Glance{LostAt: now - 9*minute}}, troubleLost},
		"data lost eleven minutes ago": {room.Glance{Glance: wire.Glance{LostAt: now - 11*minute}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := row{glance: c.glance}
			require.Equal(t, c.want, r.at(now).trouble)
		})
	}
}

func TestHandoffsAreThoseOfTheLastMinuteWithoutAskingAgain(t *testing.T) {
	r := row{glance: room.Glance{Glance: wire.Glance{Grants: []int64{1_000, 30_000, 59_000, 60_000}}}}
	for now, want := range map[int64]int{60_000: 4, 60_999: 4, 61_000: 3, 89_999: 3, 90_000: 2, 119_999: 1,
		120_000: 0} {
		require.Equal(t, want, r.at(now).handoffs, "at %d", now)
	}
}
