package quota

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// ticket is the last one given.
var ticket atomic.Int64

var client = netip.MustParseAddr("203.0.113.7")

// seen is an engine whose Look returns this status for every session.
type seen room.Status

func (s seen) Look(_ context.Context, _ room.ID, sessions ...string) (room.View, []room.Seat, error) {
	seats := make([]room.Seat, len(sessions))
	for i := range seats {
		seats[i].Status = room.Status(s)
	}
	return room.View{Now: time.Now().UnixMilli()}, seats, nil
}

func (seen) EachRoom(ctx context.Context, ids []room.ID, _ time.Duration,
	f func(context.Context, room.ID) error) map[room.ID]error {
	for _, id := range ids {
		_ = f(ctx, id)
	}
	return nil
}

func limited(t *testing.T, err error, setting string) Limited {
	t.Helper()
	l, ok := errors.AsType[Limited](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, setting, l.Setting)
	require.Positive(t, l.After)
	return l
}

// onBoth runs a test on the embedded store and on a real Redis.
func onBoth(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	t.Run("embedded", func(t *testing.T) {
		rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
		t.Cleanup(func() { _ = rdb.Close() })
		test(t, rdb)
	})
	t.Run("redis", func(t *testing.T) { test(t, redistest.Start(t).Client()) })
}

func TestAddressMayJoinAgainAtTheTimeItWasGiven(t *testing.T) {
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	now := time.Now()
	store.SetTime(now)
	rate := Rate{PerSecond: 2, Burst: 3}
	a, b := New(Config{Redis: rdb, Rate: rate}), New(Config{Redis: rdb, Rate: rate})
	join := func(q *Quota, from netip.Addr) error {
		_, err := q.Admit(t.Context(), from, "r", room.NewSession())
		return err
	}
	for _, q := range []*Quota{a, b, a} {
		require.NoError(t, join(q, client))
	}
	for _, q := range []*Quota{a, b} {
		require.Equal(t, 500*time.Millisecond, limited(t, join(q, client), RateLimit).After,
			"it counts on every replica, and being refused costs nothing")
	}
	require.NoError(t, join(b, netip.MustParseAddr("203.0.113.8")))
	store.SetTime(now.Add(500 * time.Millisecond))
	require.NoError(t, join(b, client))
	limited(t, join(b, client), RateLimit)
	store.SetTime(now.Add(-time.Hour))
	require.LessOrEqual(t, limited(t, join(b, client), RateLimit).After, time.Second,
		"a clock that goes back keeps nobody out")
}

func TestOfManyJoinsAtOnceAsManyAreLetInAsThereMayBePlaces(t *testing.T) {
	onBoth(t, func(t *testing.T, rdb redis.UniversalClient) {
		replicas := []*Quota{}
		for range 3 {
			replicas = append(replicas, New(Config{Redis: rdb, Rooms: seen(room.Waiting), Places: 60}))
		}
		var let atomic.Int64
		var all sync.WaitGroup
		for i := range 300 {
			all.Go(func() {
				if a, err := replicas[i%3].Admit(t.Context(), client, room.ID("r:"+strconv.Itoa(i%7)),
					room.NewSession()); err == nil {
					let.Add(1)
					a.Joined(t.Context(), ticket.Add(1))
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 60, let.Load())
	})
}

func TestAnAddressHasOnlySoManyOfItsPlacesInOneRoom(t *testing.T) {
	onBoth(t, func(t *testing.T, rdb redis.UniversalClient) {
		q := New(Config{Redis: rdb, Rooms: seen(room.Waiting), Places: 10, OfRoom: 3})
		admit := func(id room.ID) error {
			a, err := q.Admit(t.Context(), client, id, room.NewSession())
			a.Joined(t.Context(), ticket.Add(1))
			return err
		}
		for range 3 {
			require.NoError(t, admit("r"))
			require.NoError(t, admit("r:1"), "a longer name is another room")
		}
		for range 3 {
			limited(t, admit("r"), PlacesPerIP)
		}
		for range 3 {
			require.NoError(t, admit("other"))
		}
		require.NoError(t, admit("last"))
		limited(t, admit("none"), PlacesPerIP)
		ended := New(Config{Redis: rdb, Rooms: seen(room.Ended), Places: 10, OfRoom: 3})
		ended.pending = 0
		_, err := ended.Admit(t.Context(), client, "r", room.NewSession())
		require.NoError(t, err, "ended places make room")
	})
}

func TestPlaceIsCountedOnceAndARefusedJoinNotAtAll(t *testing.T) {
	onBoth(t, func(t *testing.T, rdb redis.UniversalClient) {
		q := New(Config{Redis: rdb, Rooms: seen(room.Waiting), Places: 2})
		session := room.NewSession()
		for range 3 {
			a, err := q.Admit(t.Context(), client, "r", session)
			require.NoError(t, err)
			a.Joined(t.Context(), ticket.Add(1))
		}
		for range 3 {
			refused, err := q.Admit(t.Context(), client, "r", room.NewSession())
			require.NoError(t, err)
			refused.Refused(t.Context())
		}
		_, err := q.Admit(t.Context(), client, "other", session)
		require.NoError(t, err)
		_, err = q.Admit(t.Context(), client, "third", session)
		limited(t, err, PlacesPerIP)
		again, err := q.Admit(t.Context(), client, "r", session)
		require.NoError(t, err)
		again.Refused(t.Context())
		_, err = q.Admit(t.Context(), client, "third", session)
		limited(t, err, PlacesPerIP)
	})
}

func TestPlaceThatIsOverIsNotCountedHoweverItEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Lease: time.Minute})
		q := New(Config{Redis: rdb, Rooms: e, Places: 3})
		var sessions []string
		enter := func(id room.ID) error {
			session := room.NewSession()
			a, err := q.Admit(t.Context(), client, id, session)
			if err == nil {
				_, err = e.Join(t.Context(), id, room.JoinRequest{Session: session})
				a.Joined(t.Context(), ticket.Add(1))
				sessions = append(sessions, session)
			}
			return err
		}
		require.NoError(t, enter("r"))
		require.NoError(t, enter("r"))
		require.NoError(t, enter("s"))
		limited(t, enter("r"), PlacesPerIP)
		_, err := e.Leave(t.Context(), "r", room.LeaveRequest{Session: sessions[1], Outcome: room.Cancelled})
		require.NoError(t, err)
		q.Left(client)
		require.NoError(t, enter("s"))
		limited(t, enter("r"), PlacesPerIP)

		require.NoError(t, rdb.Del(t.Context(), room.LockKey("r")).Err()) // the limits get no notice of that
		require.Eventually(t, func() bool { return enter("s") == nil }, 10*time.Second, 5*time.Millisecond)
		limited(t, enter("s"), PlacesPerIP)
	})
}

func TestJoinUnderWayIsNotTakenForAPlaceThatIsOver(t *testing.T) {
	rdb := redistest.Start(t).Client()
	a, b := New(Config{Redis: rdb, Rooms: seen(room.Ended), Places: 1}),
		New(Config{Redis: rdb, Rooms: seen(room.Ended), Places: 1})
	a.pending, b.pending = time.Hour, time.Hour
	under, err := a.Admit(t.Context(), client, "r", room.NewSession())
	require.NoError(t, err)
	for _, q := range []*Quota{a, b} {
		_, err := q.Admit(t.Context(), client, "r", room.NewSession())
		limited(t, err, PlacesPerIP)
	}
	under.Joined(t.Context(), ticket.Add(1))
	a.Left(client)
	_, err = a.Admit(t.Context(), client, "r", room.NewSession())
	require.NoError(t, err, "its own replica knows that the join is done")
}

func TestStoreHoldsNoReadableAddress(t *testing.T) {
	rdb := redistest.Start(t).Client()
	names := func(key string) []string {
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		q := New(Config{Redis: rdb, Rooms: seen(room.Waiting), Places: 1, Rate: Rate{1, 1}, Key: []byte(key)})
		_, err := q.Admit(t.Context(), client, "r", room.NewSession())
		require.NoError(t, err)
		keys, err := rdb.Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		require.Len(t, keys, 3)
		for _, key := range keys {
			require.NotContains(t, key, client.String())
			require.Positive(t, rdb.PTTL(t.Context(), key).Val(), "nothing stays for ever")
		}
		return keys
	}
	require.NotEqual(t, names("one"), names("another"))
}

func TestJoinIsRefusedWhereTheLimitsCanNotBeJudged(t *testing.T) {
	store := redistest.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr(), MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	q := New(Config{Redis: rdb, Rooms: seen(room.Waiting), Places: 1})
	admitted, err := q.Admit(t.Context(), client, "r", room.NewSession())
	require.NoError(t, err)
	store.Stop()
	_, err = q.Admit(t.Context(), client, "r", room.NewSession())
	require.ErrorIs(t, err, room.ErrStore)
	admitted.Refused(t.Context())
	require.Nil(t, New(Config{}), "nothing is limited")
	_, err = (*Quota)(nil).Admit(t.Context(), client, "r", room.NewSession())
	require.NoError(t, err)
}

func TestPlaceThatWasAskedForAgainIsNotForgottenWithTheFirst(t *testing.T) {
	rdb := redistest.Start(t).Client()
	q := New(Config{Redis: rdb, Rooms: seen(room.Waiting), Places: 1})
	session := room.NewSession()
	refused, err := q.Admit(t.Context(), client, "r", session)
	require.NoError(t, err)
	_, err = q.Admit(t.Context(), client, "r", session)
	require.NoError(t, err)
	refused.Refused(t.Context())
	_, err = q.Admit(t.Context(), client, "r", room.NewSession())
	limited(t, err, PlacesPerIP)
}

func TestAddressTakesOnlySoManyNewPlacesADay(t *testing.T) {
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	now := time.Now()
	store.SetTime(now)
	require.InDelta(t, 5e8, Rate{PerSecond: 1e6}.perDay(), 1)
	require.InDelta(t, 50_000, Rate{PerSecond: 1}.perDay(), 0)
	rate := Rate{PerSecond: 100, Burst: 1000}
	require.InDelta(t, 50_000, rate.perDay(), 0)
	q := New(Config{Redis: rdb, Rooms: seen(room.Waiting), Rate: rate, Places: 1e6})
	took := float64(now.UnixMicro()) + 49_990*rate.dayPrice() // 49,990 places, this instant
	rdb.Set(t.Context(), q.key(q.digest(client), "day"), fmt.Sprintf("%.0f", took), 24*time.Hour)
	join := func(ticket int64) error {
		a, err := q.Admit(t.Context(), client, "r", "s")
		a.Joined(t.Context(), ticket)
		return err
	}
	for i := range int64(9) {
		require.NoError(t, join(i))
	}
	for range 5 {
		require.NoError(t, join(8), "a repeat is no new place")
	}
	a, err := q.Admit(t.Context(), client, "r", "another")
	require.NoError(t, err)
	a.Refused(t.Context())
	require.NoError(t, join(9), "a refused join took nothing")
	require.LessOrEqual(t, limited(t, join(10), RateLimit).After, 2*time.Second,
		"the session's own next place counts too; a day's places come back one by one")
	_, err = q.Admit(t.Context(), netip.MustParseAddr("203.0.113.8"), "r", "1")
	require.NoError(t, err)
	store.SetTime(now.Add(2 * time.Second))
	require.NoError(t, join(10))
}

func TestRoomsOfPrefixesAreBoundedOverAllAddresses(t *testing.T) {
	onBoth(t, func(t *testing.T, rdb redis.UniversalClient) {
		replica := func() *Quota {
			q := New(Config{Redis: rdb, Rooms: seen(room.Waiting), Places: 100,
				Rate:     Rate{PerSecond: 100, Burst: 1000},
				Prefixed: func(id room.ID) bool { return id != "named" }})
			q.mostRooms = 3 // and one new room a day for each address
			return q
		}
		a, b := replica(), replica()
		join := func(q *Quota, address, id string) error {
			_, err := q.Admit(t.Context(), netip.MustParseAddr(address), room.ID(id), room.NewSession())
			return err
		}
		for i := range 3 {
			require.NoError(t, join(a, fmt.Sprint("203.0.113.", i), fmt.Sprint("x:", i)))
		}
		for _, q := range []*Quota{a, b} {
			limited(t, join(q, "203.0.113.9", "x:3"), Rooms)
			require.NoError(t, join(q, "203.0.113.9", "x:1"), "a room in use goes on")
			require.NoError(t, join(q, "203.0.113.9", "named"))
		}
		from := a.digest(netip.MustParseAddr("203.0.113.9"))
		places, err := rdb.ZCard(t.Context(), a.key(from, "places")).Result()
		require.NoError(t, err)
		require.EqualValues(t, 4, places, "a refused room counts as no place")

		old := float64(time.Now().Add(-remembered - time.Minute).UnixMilli())
		forgotten := redis.Z{Score: old, Member: "x:0"}
		require.NoError(t, rdb.ZAdd(t.Context(), "{waitroom-limit}:rooms", forgotten).Err())
		require.NoError(t, join(b, "203.0.113.9", "x:3"), "a forgotten room makes way")
	})
}

// Each of two attackers opens rooms on all replicas until it is refused. Others open theirs.
func TestAddressesThatOpenRoomsWithoutEndLeaveRoomsForOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, rdb redis.UniversalClient) {
		replica := func() *Quota {
			q := New(Config{Redis: rdb, Rooms: seen(room.Ended), Places: 1e6, Rate: Rate{PerSecond: 1e4, Burst: 1e5},
				Prefixed: func(room.ID) bool { return true }})
			q.mostRooms = 200
			return q
		}
		a, b := replica(), replica()
		join := func(q *Quota, address, id string) error {
			_, err := q.Admit(t.Context(), netip.MustParseAddr(address), room.ID(id), room.NewSession())
			return err
		}
		for _, attacker := range []string{"203.0.113.6", "203.0.113.66"} {
			opened := 0
			for i := range 60 {
				q := []*Quota{a, b}[i%2]
				if err := join(q, attacker, fmt.Sprint("x:", attacker, i)); err == nil {
					opened++
				} else {
					require.Greater(t, limited(t, err, Rooms).After, time.Hour, "one of a day's ten comes back")
				}
			}
			require.Equal(t, 10, opened)
			require.NoError(t, join(b, attacker, fmt.Sprint("x:", attacker, 0)), "a room in use goes on")
		}
		rooms, err := rdb.ZCard(t.Context(), "{waitroom-limit}:rooms").Result()
		require.NoError(t, err)
		require.EqualValues(t, 20, rooms, "a refused room counts for no address")
		for i := range 9 {
			require.NoError(t, join(a, fmt.Sprint("198.51.100.", i), fmt.Sprint("x:honest", i)))
		}
		require.NoError(t, join(b, "203.0.113.6", "x:honest3"), "also an attacker may join a room that is open")
		limited(t, join(b, "203.0.113.6", "x:new"), Rooms)
	})
}
