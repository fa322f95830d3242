package room_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// These tests check that a script's own variables stay equal to what it has written to Redis's keys.

func TestWaiterInTheLineIsCountedOnce(t *testing.T) {
	rdb := redistest.Shared(t)
	e := room.New(rdb, room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "")
	a.join()
	require.Equal(t, 1, b.join().Waiting)
	// delete the field as an operator might
	require.NoError(t, rdb.HDel(t.Context(), "{integration}:places", b.session).Err())
	st := b.join()
	require.Equal(t, 1, st.Waiting)
	require.Equal(t, 1, st.Position)
}

func TestEndedPlaceOfAnEphemeralRoomIsIdle(t *testing.T) {
	e := room.New(redistest.Shared(t), room.Config{Ephemeral: true, Silent: true})
	a := newSeller(t, e, "a")
	a.join()
	require.Equal(t, room.Idle, a.leave(room.Completed).Status, "as in every later reply")
	require.Equal(t, room.Idle, a.stand().Status)
}

// One script removes the last place, and with it the key of the places, and then writes the next place to a
// new key.
func TestPlacesOfAnEphemeralRoomExpireAlsoWhereALeaseEndedUnnoticed(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	at := time.Now()
	embedded.SetTime(at)
	e := room.New(rdb, room.Config{Ephemeral: true, Silent: true, Outcomes: -1, Leases: -1,
		Lease: time.Second})
	newSeller(t, e, "").join()
	embedded.SetTime(at.Add(2 * time.Second))
	require.Equal(t, room.Locked, newSeller(t, e, "").join().Status)
	for _, key := range []string{"lock", "state", "places"} {
		require.Positive(t, rdb.PTTL(t.Context(), "{integration}:"+key).Val(), key)
	}
}

// One lease in eight, when it ends, also deletes leases that were kept for long enough. Which one does must
// not depend on tickets: here all leases have odd ones.
func TestEndedLeasesAreForgottenWhicheverTicketsHeldTheLock(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	e := room.New(rdb, room.Config{Leases: time.Minute, Quarantine: -1})
	at := time.Now()
	for n := range 40 {
		at = at.Add(50*time.Second + time.Microsecond)
		embedded.SetTime(at)
		a, b := newSeller(t, e, fmt.Sprint("a", n)), newSeller(t, e, fmt.Sprint("b", n))
		require.Equal(t, room.Locked, a.join().Status)
		require.EqualValues(t, 0, b.join().Ticket%2)
		b.leave(room.Cancelled)
		a.leave(room.Completed)
	}
	require.Less(t, rdb.ZCard(t.Context(), "{integration}:leases").Val(), int64(12))
}

// A server may have a replication id with other characters, which must not get into replies.
func TestMalformedReplicationIDIsNoHistory(t *testing.T) {
	for id, lineage := range map[string]string{"": "", "none": "",
		"8371b4fb1155b71f4a04d3e1bc3e18c4a990aeeb": "8371b4fb1155:1"} {
		embedded := redistest.StartEmbedded(t)
		rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
		t.Cleanup(func() { require.NoError(t, rdb.Close()) })
		embedded.Server().SetPreHook(func(c *server.Peer, cmd string, _ ...string) bool {
			if !strings.EqualFold(cmd, "INFO") {
				return false
			}
			c.WriteBulk("# Replication\r\nrole:master\r\nmaster_replid:" + id +
				"\r\nmaster_replid2:0000000000000000000000000000000000000000\r\n")
			return true
		})
		a := newSeller(t, room.New(rdb, room.Config{}), "a")
		require.Equal(t, room.Locked, a.join().Status)
		require.Equal(t, lineage, a.stand().Lineage)
	}
}
