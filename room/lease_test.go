package room_test

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestFreeLockIsGrantedAtOnceAndTheOthersWaitInOrder(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		first := a.join()
		require.Equal(t, room.Locked, first.Status)
		require.Equal(t, int64(1), first.Ticket)
		require.Equal(t, int64(2*time.Minute/time.Millisecond), first.Lease.ExpiresAt-first.Lease.GrantedAt)
		require.Equal(t, 1, b.join().Position)
		last := c.join()
		require.Equal(t, room.Waiting, last.Status)
		require.Equal(t, 2, last.Position)
		require.Equal(t, int64(3), last.Ticket)

		over := a.leave(room.Completed)
		require.Equal(t, room.Completed, over.Outcome)
		require.Equal(t, first.Fence, over.Fence)
		second := b.stand()
		require.Equal(t, room.Locked, second.Status)
		require.Greater(t, second.Fence, first.Fence)
		require.Equal(t, over.Version, second.Version, "a handoff is one change")
		require.Equal(t, 1, c.stand().Position)
	})
}

func TestLockKeyHasTheHolderAndExpires(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "하록")
		st := a.join()
		var held struct {
			SessionID string    `json:"session_id"`
			SellerID  string    `json:"seller_id"`
			Ticket    int64     `json:"ticket"`
			Fence     int64     `json:"fence"`
			LockedAt  time.Time `json:"locked_at"`
			ExpiresAt time.Time `json:"expires_at"`
		}
		text, err := rdb.Get(t.Context(), "{integration}:lock").Result()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(text), &held))
		require.Equal(t, a.session, held.SessionID)
		require.Equal(t, "하록", held.SellerID)
		require.Equal(t, st.Fence, held.Fence)
		require.Equal(t, st.Ticket, held.Ticket)
		require.Equal(t, st.Lease.GrantedAt, held.LockedAt.UnixMilli())
		require.Equal(t, st.Lease.ExpiresAt, held.ExpiresAt.UnixMilli())
		ttl, err := rdb.PTTL(t.Context(), "{integration}:lock").Result()
		require.NoError(t, err)
		require.Positive(t, ttl)
	})
}

func TestLeaseEndsAtItsEndAndTheNextIsGranted(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.joinFor(30 * time.Millisecond)
		b.join()
		passUntil(t, rdb, first.Lease.ExpiresAt)
		found, err := e.Expire(t.Context(), integration)
		require.NoError(t, err)
		require.Equal(t, int64(2), found.Lease.Ticket)
		require.Equal(t, room.Expired, a.stand().Outcome)
	})
}

func TestDeletingTheLockKeyEndsTheLeaseAsForced(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join()
		b.join()
		require.NoError(t, rdb.Del(t.Context(), "{integration}:lock").Err())
		second := b.stand()
		require.Equal(t, room.Locked, second.Status)
		require.Greater(t, second.Fence, first.Fence)
		require.Equal(t, room.Forced, a.stand().Outcome)
	})
}

func TestStaleFenceEndsNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first, waiting := a.join(), b.join()
		for _, s := range []seller{a, b} {
			_, err := e.Leave(t.Context(), integration,
				room.LeaveRequest{Session: s.session, Outcome: room.Completed, Fence: first.Fence + 1})
			require.ErrorIs(t, err, room.ErrStaleFence)
		}
		_, err := e.Leave(t.Context(), integration,
			room.LeaveRequest{Session: b.session, Outcome: room.Completed, Fence: first.Fence})
		require.ErrorIs(t, err, room.ErrStaleFence, "a fence of another's lease")
		require.Equal(t, waiting.Version, b.stand().Version)
	})
}

func TestOneSellerOnePlaceAndARefusedJoinUsesNoTicket(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, other := newSeller(t, e, "a"), newSeller(t, e, "a")
		first := a.join()
		again := a.join()
		require.Equal(t, first.Place, again.Place)
		require.Equal(t, first.Version, again.Version, "a repeat is no change")
		refused, err := e.Join(t.Context(), integration, room.JoinRequest{Session: other.session, Seller: "a"})
		require.ErrorIs(t, err, room.ErrSellerHasPlace)
		require.Equal(t, first.Ticket, refused.OtherTicket)
		require.Equal(t, room.Idle, refused.Status, "the place is not the caller's")
		_, err = e.Join(t.Context(), integration,
			room.JoinRequest{Session: other.session, Seller: "b", NoWait: true})
		require.ErrorIs(t, err, room.ErrLockHeld)
		require.Equal(t, int64(2), newSeller(t, e, "c").join().Ticket)
	})
}

func TestPausedRoomQueuesAndGrantsNoWaiterUntilResumed(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		a.join()
		_, err := e.Pause(t.Context(), integration, "", true,
			room.Action{Who: "kim", Action: "pause", Reason: `carrier "down"`})
		require.NoError(t, err)
		b.join()
		a.leave(room.Completed)
		require.Equal(t, room.Waiting, b.stand().Status)
		_, err = e.Join(t.Context(), integration,
			room.JoinRequest{Session: room.NewSession(), Seller: "c", NoWait: true})
		require.ErrorIs(t, err, room.ErrPaused)
		_, err = e.Pause(t.Context(), integration, "", false,
			room.Action{Who: "kim", Action: "resume", Reason: "back"})
		require.NoError(t, err)
		require.Equal(t, room.Locked, b.stand().Status)
	})
}

func TestTwoHundredJoinsAtOnceGiveOneLeaseAndEveryPositionOnce(t *testing.T) {
	onRedis(t, manyJoinAtOnce)
}

func manyJoinAtOnce(t *testing.T, rdb redis.UniversalClient) {
	const n = 200
	e := room.New(rdb, room.Config{})
	standings := make([]room.Standing, n)
	errs := make([]error, n)
	var joins sync.WaitGroup
	for i := range n {
		joins.Go(func() {
			standings[i], errs[i] = e.Join(t.Context(), integration,
				room.JoinRequest{Session: room.NewSession(), Seller: room.NewSession()})
		})
	}
	joins.Wait()
	tickets, holders := map[int64]bool{}, 0
	for i, st := range standings {
		require.NoError(t, errs[i])
		tickets[st.Ticket] = true
		if st.Status == room.Locked {
			holders++
			continue
		}
		require.Equal(t, int(st.Ticket)-1, st.Position,
			"no session left: the position follows from the ticket")
	}
	require.Equal(t, 1, holders)
	require.Len(t, tickets, n)
	require.True(t, tickets[1] && tickets[n], "tickets have no gaps")
}

// "-" is an empty field in the scripts' replies, and a valid seller id of the contract.
func TestASellerMayBeCalledDash(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		a := newSeller(t, room.New(rdb, room.Config{}), "-")
		require.Equal(t, "-", a.join().Seller)
		require.Equal(t, "-", a.leave(room.Cancelled).Seller)
		require.Empty(t, newSeller(t, a.engine, "b").stand().Seller)
	})
}

// If no call notices the end of a lease for a long time, its outcome is kept as long as any other, from the
// call that notices the end.
func TestOutcomeIsKeptHoweverLateTheEndIsNoticed(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	start := time.Now()
	embedded.SetTime(start)
	e := room.New(rdb, room.Config{})
	a := newSeller(t, e, "a")
	ends := a.join().Lease.ExpiresAt
	for _, later := range []time.Duration{time.Hour, time.Hour + 10*time.Minute} {
		embedded.SetTime(start.Add(later))
		require.Equal(t, room.Expired, a.stand().Outcome)
	}
	entries, err := rdb.ZRange(t.Context(), "{integration}:leases", 0, -1).Result()
	require.NoError(t, err)
	require.Contains(t, entries[0], `"ended":`+strconv.FormatInt(ends, 10)+",",
		"it was over at its end all the same")
}

// Support has done nothing then, and no person has deleted the key.
func TestLeaseWhoseLockKeyRedisEvictedIsLost(t *testing.T) {
	rdb := redistest.StartWith(t, redistest.Config{Args: []string{"--maxmemory-policy", "volatile-lru"}}).Client()
	e := room.New(rdb, room.Config{Journal: 100})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	first := a.join()
	b.join()
	require.NoError(t, rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	require.Eventually(t, func() bool {
		return rdb.Exists(t.Context(), "{integration}:lock").Val() == 0
	}, time.Minute, time.Millisecond)
	require.Equal(t, room.Lost, a.stand().Outcome, "also while Redis takes no writes")
	require.NoError(t, rdb.ConfigSet(t.Context(), "maxmemory", "0").Err())
	require.Equal(t, room.Lost, a.stand().Outcome)
	second := b.stand()
	require.Equal(t, room.Waiting, second.Status, "a may not know yet, and use its turn")
	require.Equal(t, first.Lease.ExpiresAt, second.Lease.ExpiresAt)
	ended := recordsOf(t, e, integration, "ended")
	require.Len(t, ended, 1)
	require.Equal(t, room.Lost, ended[0].Outcome)
	require.Equal(t, first.Fence, ended[0].Fence)
}

// evict makes a Redis with a volatile policy evict its keys that expire, until the key is gone.
func evict(t *testing.T, rdb *redis.Client, key string) {
	t.Helper()
	require.NoError(t, rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	gone := func() bool { return rdb.Exists(t.Context(), key).Val() == 0 }
	require.Eventually(t, gone, time.Minute, time.Millisecond)
	require.NoError(t, rdb.ConfigSet(t.Context(), "maxmemory", "0").Err())
}

// Contract section 6: DEL by hand ends the lease as forced, and by rule 1 of section 7 the next lease, which
// does not ask, has the messages of its time. An eviction is a loss of data, so rule 10 of section 3 holds.
func TestOnlyAnEvictionSinceTheLeaseBeganIsALoss(t *testing.T) {
	rdb := redistest.StartWith(t, redistest.Config{Args: []string{"--maxmemory-policy", "volatile-lru"}}).Client()
	require.NoError(t, rdb.Set(t.Context(), "another", "key", time.Hour).Err())
	evict(t, rdb, "another")
	e := room.New(rdb, room.Config{})
	require.NoError(t, e.LookAtMasters(t.Context()))
	a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
	a.join()
	b.join()
	c.join()
	require.NoError(t, rdb.Del(t.Context(), room.LockKey(integration)).Err())
	require.Equal(t, room.Forced, a.stand().Outcome, "the eviction was before")
	second := b.stand().Lease
	requireLease(t, room.Matched, second, probe(t, e, second.GrantedAt, second.GrantedAt+1, 0), "rule 1")

	evict(t, rdb, room.LockKey(integration))
	require.Equal(t, room.Lost, b.stand().Outcome)
	reserved := c.stand()
	require.Equal(t, room.Waiting, reserved.Status, "b may not know yet, and use its turn")
	require.Equal(t, second.ExpiresAt, reserved.Lease.ExpiresAt)
	evict(t, rdb, room.LockKey(integration))
	require.Equal(t, second.ExpiresAt, c.stand().Lease.ExpiresAt, "the same lease is lost")
	require.NoError(t, rdb.Del(t.Context(), room.LockKey(integration)).Err())
	third := c.stand().Lease
	require.Equal(t, room.Locked, c.stand().Status, "a person knows")
	requireNone(t, room.Ambiguous, probe(t, e, third.GrantedAt, third.GrantedAt+1, 0), "it may be b's")
	require.GreaterOrEqual(t, c.busy(), third.GrantedAt+30_000)
}
