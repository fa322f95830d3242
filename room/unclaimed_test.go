package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const (
	claimWithin = 20 * time.Second
	claimDrop   = 5 * time.Minute
)

// court is a room whose leases have to be claimed, a replica with browsers, and a Redis whose clock the test
// sets.
type court struct {
	*desk
	replica room.ReplicaNumber
	calls   int64
}

func newCourt(t *testing.T, c room.Config) *court {
	if c.ClaimWithin == 0 {
		c.ClaimWithin = claimWithin
	}
	d := newDesk(t, c)
	replica, err := d.engine.Heartbeat(t.Context(), 0)
	require.NoError(t, err)
	return &court{desk: d, replica: replica}
}

func (c *court) come(who ...seller) {
	c.Helper()
	for _, s := range who {
		c.calls++
		_, err := c.engine.Presence(c.Context(), integration, c.replica, c.calls, []string{s.session}, nil)
		require.NoError(c, err)
	}
}

func (c *court) gone(who seller, since time.Duration) {
	c.Helper()
	c.calls++
	_, err := c.engine.Presence(c.Context(), integration, c.replica, c.calls, nil,
		[]room.Gone{{Session: who.session, Replica: c.replica, For: since}})
	require.NoError(c, err)
}

// line makes sellers join. The first holds the lock, without a browser. The others wait, each with a browser.
// All announce their asks.
func (c *court) line(names ...string) (all []seller) {
	c.Helper()
	for i, name := range names {
		all = append(all, c.asker(name))
		if i > 0 {
			c.come(all[i])
		}
	}
	return all
}

func (s seller) claims(fence int64) (room.Standing, error) {
	return s.engine.ClaimTurn(context.Background(), integration,
		room.ClaimRequest{Session: s.session, Fence: fence})
}

func (s seller) claimed(fence int64) room.Standing {
	s.t.Helper()
	st, err := s.claims(fence)
	require.NoError(s.t, err)
	return st
}

// requireUnclaimed requires that a session is in line at a position, away as unclaimed.
func (s seller) requireUnclaimed(position int) room.Standing {
	s.t.Helper()
	st := s.stand()
	require.Equal(s.t, room.Waiting, st.Status)
	require.True(s.t, st.Unclaimed)
	require.Equal(s.t, position, st.Position)
	return st
}

func (s seller) requireHolds() room.Standing {
	s.t.Helper()
	st := s.stand()
	require.Equal(s.t, room.Locked, st.Status)
	return st
}

func TestUnclaimedTurnIsTheNextOnesAtThatInstant(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{ClaimWithin: 150 * time.Millisecond, Journal: 100, Recovery: -1})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		first := a.join()
		require.Zero(t, first.Lease.ClaimBy, "a newcomer in a free room is there")
		second := b.join()
		c.join()
		replica, err := e.Heartbeat(t.Context(), 0)
		require.NoError(t, err)
		_, err = e.Presence(t.Context(), integration, replica, 1, []string{b.session, c.session}, nil)
		require.NoError(t, err)
		turn := a.leave(room.Completed) // a's reply, which has the lease of the next holder
		require.Equal(t, second.Ticket, turn.Lease.Ticket)
		require.Equal(t, turn.Lease.GrantedAt+150, turn.Lease.ClaimBy)
		require.Equal(t, turn.Lease.GrantedAt+120_000, turn.Lease.ExpiresAt)
		require.Equal(t, turn.Lease.ClaimBy, turn.Lease.Ends())
		require.Equal(t, turn.Lease.ExpiresAt, int64(rdb.PExpireTime(t.Context(),
			room.LockKey(integration)).Val()/time.Millisecond), "claimed or not")

		passUntil(t, rdb, turn.Lease.ClaimBy)
		next := c.requireHolds()
		require.Equal(t, turn.Version+1, next.Version, "one change")
		require.Greater(t, next.Fence, turn.Lease.Fence)
		missed := b.requireUnclaimed(1)
		require.Equal(t, second.Ticket, missed.Ticket)
		require.Equal(t, turn.Hold, next.Hold, "an unclaimed turn does not count in the average")
		var found bool
		entries, err := e.ReadJournal(t.Context(), integration, 100)
		require.NoError(t, err)
		for _, entry := range entries {
			for _, r := range entry.Records {
				if r.Outcome == room.Unclaimed {
					found = true
					require.Equal(t, []any{"ended", turn.Lease.Fence, turn.Lease.Ticket, "b",
						turn.Lease.ClaimBy}, []any{r.Type, r.Fence, r.Ticket, r.Seller, r.EndedAt})
				}
			}
		}
		require.True(t, found)
	})
}

func TestHolderThatClaimsInTimeHoldsTheLeaseToItsEnd(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	all[0].leave(room.Completed)
	turn := all[1].requireHolds()
	c.pass(claimWithin - time.Millisecond)
	got := all[1].claimed(turn.Fence)
	require.Equal(t, room.Locked, got.Status)
	require.Zero(t, got.Lease.ClaimBy)
	require.Equal(t, turn.Version+1, got.Version)
	require.Equal(t, turn.Lease.ExpiresAt, got.Lease.ExpiresAt)
	require.Equal(t, turn.Lease.ExpiresAt,
		int64(c.rdb.PExpireTime(t.Context(), room.LockKey(integration)).Val()/time.Millisecond))
	require.Equal(t, got.Version, all[1].claimed(turn.Fence).Version, "a repeat is no change")
	require.Equal(t, got.Version, all[1].claimed(0).Version, "nor is one without a fence")
	c.come(all[1])
	require.Zero(t, all[1].stand().Lease.ClaimBy, "claimed is claimed")
	c.pass(time.Minute)
	require.Equal(t, turn.Fence, all[1].requireHolds().Fence)
	c.pass(time.Minute)
	require.Equal(t, room.Expired, all[1].stand().Outcome)
}

func TestPressingReadyOrAskingForACodeClaimsToo(t *testing.T) {
	for name, act := range map[string]func(s seller){
		"ready": func(s seller) { s.join() },
		"ask":   func(s seller) { s.expect() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t, room.Config{})
			all := c.line("a", "b", "c")
			all[0].leave(room.Completed)
			c.pass(claimWithin - time.Millisecond)
			act(all[1])
			require.Zero(t, all[1].stand().Lease.ClaimBy)
			c.pass(claimWithin)
			all[1].requireHolds()
		})
	}
	t.Run("also an ask that is refused", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b", "c")
		all[0].expect()
		all[0].leave(room.Cancelled)
		_, err := c.engine.Expect(t.Context(), integration, all[1].request())
		require.ErrorIs(t, err, room.ErrNumberBusy)
		c.pass(claimWithin)
		all[1].requireHolds()
	})
}

func TestSessionWithoutABrowserNeedNotClaim(t *testing.T) {
	c := newCourt(t, room.Config{})
	a, b := c.asker("a"), c.asker("b")
	a.leave(room.Completed)
	require.Zero(t, b.requireHolds().Lease.ClaimBy)
	c.pass(claimWithin + time.Second)
	b.requireHolds()
}

// A replica records that a waiter has a browser only a moment after it joined. Its turn may come in that
// moment.
func TestSessionWhoseBrowserIsRecordedAfterItsTurnCameHasToClaim(t *testing.T) {
	c := newCourt(t, room.Config{})
	a, b, next := c.asker("a"), c.asker("b"), c.asker("c")
	a.leave(room.Completed)
	turn := b.requireHolds()
	c.pass(time.Second)
	c.come(b)
	got := b.requireHolds()
	require.Equal(t, c.now.Add(claimWithin).UnixMilli(), got.Lease.ClaimBy)
	require.Equal(t, turn.Version+1, got.Version)
	c.come(b)
	require.Equal(t, got.Version, b.stand().Version)
	c.pass(claimWithin)
	next.requireHolds()
	t.Run("but not once it has confirmed", func(t *testing.T) {
		next.join()
		c.come(next)
		require.Zero(t, next.requireHolds().Lease.ClaimBy)
	})
}

func TestSessionWhoseBrowserHasJustGoneHasToClaim(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	c.gone(all[1], 0)
	all[0].leave(room.Completed)
	require.NotZero(t, all[1].requireHolds().Lease.ClaimBy)
	c.pass(claimWithin)
	all[2].requireHolds()
	all[1].requireUnclaimed(1)
}

// A session without a place, and one that names another lease's fence, cannot claim a lease.
func TestClaimIsRefusedByName(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	stranger := newSeller(t, c.engine, "z")
	_, err := stranger.claims(0)
	require.ErrorIs(t, err, room.ErrNoPlace)
	_, err = stranger.claims(all[0].stand().Fence)
	require.ErrorIs(t, err, room.ErrNoPlace)
	held := all[0].requireHolds()
	_, err = all[1].claims(held.Fence)
	require.ErrorIs(t, err, room.ErrStaleFence, "another's")
	_, err = all[0].claims(held.Fence - 1)
	require.ErrorIs(t, err, room.ErrStaleFence)
	require.Equal(t, held.Version, all[0].claimed(held.Fence).Version,
		"a session that need not claim gets the same")
	require.Equal(t, 1, all[1].claimed(0).Position, "a present waiter gets its place")
	all[0].leave(room.Completed)
	_, err = all[0].claims(held.Fence)
	require.ErrorIs(t, err, room.ErrNoPlace)
	turn := all[1].requireHolds()
	c.pass(claimWithin)
	_, err = all[1].claims(turn.Fence)
	require.ErrorIs(t, err, room.ErrStaleFence)
	all[1].requireUnclaimed(1)
}

func TestCallerForAPlaceClaimsNoOtherOfItsOwners(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b")
	over := all[1].stand()
	all[1].leave(room.Cancelled)
	place := all[1].join()
	c.come(all[1])
	all[0].leave(room.Completed)
	claim := func(ticket int64) (room.Standing, error) {
		return c.engine.ClaimTurn(t.Context(), integration,
			room.ClaimRequest{Session: all[1].session, Ticket: ticket})
	}
	_, err := claim(over.Ticket)
	require.ErrorIs(t, err, room.ErrNoPlace)
	require.NotZero(t, all[1].requireHolds().Lease.ClaimBy)
	turn, err := claim(place.Ticket)
	require.NoError(t, err)
	require.Zero(t, turn.Lease.ClaimBy)
}

func TestLostReplyClaimsOnce(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	e := room.New(proxy.Client(), room.Config{ClaimWithin: 100 * time.Millisecond, Recovery: -1})
	a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
	a.join()
	b.join()
	c.join()
	b.here(time.Minute)
	c.here(time.Minute)
	passUntil(t, server.Client(), a.leave(room.Completed).Lease.ClaimBy)
	passUntil(t, server.Client(), c.requireHolds().Lease.ClaimBy)
	require.Nil(t, b.stand().Lease)
	lost := proxy.DropNextReply(mentions(b.session))
	back := b.claimed(0)
	<-lost
	require.Equal(t, room.Locked, back.Status)
	require.Equal(t, back.Version, b.stand().Version)
	require.Zero(t, b.stand().Lease.ClaimBy)
}
