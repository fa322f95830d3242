package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestOpenSocketDoesNotBringBackAnUnclaimedWaiter(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c", "d")
	all[0].leave(room.Completed)
	c.pass(claimWithin)
	all[2].claimed(all[2].requireHolds().Fence)
	c.come(all[1])
	c.gone(all[1], 0)
	c.come(all[1])
	all[1].here(time.Hour)
	all[1].requireUnclaimed(1)
	all[2].leave(room.Completed)
	all[3].requireHolds()
	all[1].requireUnclaimed(1)
}

func TestUnclaimedWaiterIsFirstAgainOnceItConfirms(t *testing.T) {
	for name, say := range map[string]func(s seller) room.Standing{
		"claim": func(s seller) room.Standing { return s.claimed(0) },
		"ready": func(s seller) room.Standing { return s.join() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t, room.Config{})
			all := c.line("a", "b", "c", "d")
			all[0].leave(room.Completed)
			missed := all[1].requireHolds()
			c.pass(claimWithin)
			before := all[2].requireHolds()
			back := say(all[1])
			require.Equal(t, room.Waiting, back.Status)
			require.False(t, back.Unclaimed)
			require.Equal(t, 1, back.Position)
			require.Equal(t, missed.Ticket, back.Ticket)
			require.Equal(t, before.Version+1, back.Version)
			require.Equal(t, back.Version, say(all[1]).Version, "a repeat is no change")
			all[2].leave(room.Completed)
			turn := all[1].requireHolds()
			require.NotZero(t, turn.Lease.ClaimBy, "it has a browser, and waited")
			require.Equal(t, 1, all[3].stand().Position)
			all[1].claimed(turn.Fence)
			c.pass(claimWithin)
			all[1].requireHolds()
		})
	}
}

func TestWaiterThatComesBackToAFreeLockIsGrantedClaimed(t *testing.T) {
	t.Run("unclaimed", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b")
		all[0].leave(room.Completed)
		c.pass(claimWithin)
		require.Nil(t, all[1].requireUnclaimed(1).Lease, "no session is there")
		c.pass(time.Minute)
		back := all[1].claimed(0)
		require.Equal(t, room.Locked, back.Status)
		require.Zero(t, back.Lease.ClaimBy)
		require.Equal(t, c.now.UnixMilli(), back.Lease.GrantedAt)
		c.pass(claimWithin)
		all[1].requireHolds()
	})
	t.Run("at the very moment, before any look", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b")
		all[0].leave(room.Completed)
		missed := all[1].requireHolds()
		c.pass(claimWithin)
		_, err := all[1].claims(missed.Fence)
		require.ErrorIs(t, err, room.ErrStaleFence, "too late")
		back := all[1].join()
		require.Equal(t, room.Locked, back.Status)
		require.Greater(t, back.Fence, missed.Fence)
		require.Zero(t, back.Lease.ClaimBy)
	})
	t.Run("away as any waiter", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b")
		c.gone(all[1], 0)
		c.pass(time.Minute)
		all[0].leave(room.Completed)
		require.Nil(t, all[1].stand().Lease)
		c.come(all[1])
		require.Zero(t, all[1].requireHolds().Lease.ClaimBy)
	})
}

func TestPlaceThatIsUnclaimedTwiceIsDropped(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	all[0].leave(room.Completed)
	one := all[1].requireHolds()
	c.pass(claimWithin)
	all[1].claimed(0)
	all[2].leave(room.Completed)
	two := all[1].requireHolds()
	c.pass(claimWithin)
	over := all[1].stand()
	require.Equal(t, []any{room.Ended, room.Dropped, one.Ticket},
		[]any{over.Status, over.Outcome, over.Ticket})
	_, err := all[1].claims(0)
	require.ErrorIs(t, err, room.ErrNoPlace)
	_, err = all[1].claims(two.Fence)
	require.ErrorIs(t, err, room.ErrNoPlace)
	var ends [][]any
	for _, r := range c.records("ended") {
		if r.Ticket == one.Ticket {
			ends = append(ends, []any{r.Outcome, r.Fence})
		}
	}
	require.Equal(t, [][]any{{room.Unclaimed, one.Fence}, {room.Unclaimed, two.Fence},
		{room.Dropped, two.Fence}}, ends)
	require.Equal(t, one.Ticket+2, all[1].join().Ticket, "the next place is another one")
}

func TestClaimedTurnInBetweenIsNotAskedForAnyMore(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b")
	all[0].leave(room.Completed)
	c.pass(claimWithin)
	all[1].claimed(0)
	all[1].leave(room.Completed)
	c.asker("z")
	all[1].join()
	c.come(all[1])
	c.pass(2 * time.Minute)
	c.pass(0)
	all[1].requireHolds()
	c.pass(claimWithin)
	all[1].requireUnclaimed(1) // the first unclaimed lease of this place
}

func TestUnclaimedWaiterIsDroppedWhenAwayForTooLong(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	all[0].leave(room.Completed)
	c.pass(claimWithin)
	all[2].claimed(all[2].requireHolds().Fence)
	away := c.now
	c.pass(claimDrop)
	require.Equal(t, away.Add(claimDrop), c.now)
	all[1].requireUnclaimed(1)
	found, err := c.engine.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.LessOrEqual(t, found.NextAt, c.now.UnixMilli()+1)
	c.pass(time.Millisecond)
	require.Equal(t, room.Dropped, all[1].stand().Outcome, "though its browser is connected")
	_, err = all[1].claims(0)
	require.ErrorIs(t, err, room.ErrNoPlace)
}

func TestWaiterThatIsBackWithoutItsBrowserBecomesAway(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c", "d")
	all[0].leave(room.Completed)
	c.gone(all[1], 0)
	c.pass(claimWithin)
	all[2].claimed(all[2].requireHolds().Fence)
	require.Equal(t, 1, all[1].claimed(0).Position)
	c.pass(c.engine.Config().AwayAfter + time.Millisecond)
	require.False(t, all[1].stand().Unclaimed)
	all[2].leave(room.Completed)
	all[3].requireHolds()
	c.come(all[1])
	all[3].leave(room.Completed)
	all[1].requireHolds()
}

func TestSupportMayActOnAnUnclaimedWaiter(t *testing.T) {
	start := func(t *testing.T) (*court, []seller) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b", "c", "d", "e")
		all[0].leave(room.Completed)
		c.pass(claimWithin)
		all[2].claimed(all[2].requireHolds().Fence)
		all[1].requireUnclaimed(1)
		return c, all
	}
	t.Run("remove", func(t *testing.T) {
		c, all := start(t)
		_, err := c.engine.Remove(t.Context(), integration, "", all[1].stand().Ticket, byKim)
		require.NoError(t, err)
		require.Equal(t, room.Removed, all[1].stand().Outcome)
	})
	t.Run("move", func(t *testing.T) {
		c, all := start(t)
		_, err := c.engine.Move(t.Context(), integration, "", all[1].stand().Ticket, 3, byKim)
		require.NoError(t, err)
		all[1].requireUnclaimed(3)
		require.Equal(t, 3, all[1].claimed(0).Position)
	})
	t.Run("extend its lease, which is to be claimed still", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b", "c")
		all[0].leave(room.Completed)
		turn := all[1].requireHolds()
		_, err := c.engine.Extend(t.Context(), integration, "", turn.Fence, time.Minute, byKim)
		require.NoError(t, err)
		require.Equal(t, turn.Lease.ClaimBy, all[1].requireHolds().Lease.ClaimBy)
		c.pass(claimWithin)
		all[2].requireHolds()
	})
	t.Run("release it", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b", "c")
		all[0].leave(room.Completed)
		_, err := c.engine.Release(t.Context(), integration, "", all[1].requireHolds().Fence, byKim)
		require.NoError(t, err)
		require.Equal(t, room.Forced, all[1].stand().Outcome)
	})
	t.Run("pause, and the next is granted on resuming", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b", "c")
		all[0].leave(room.Completed)
		_, err := c.engine.Pause(t.Context(), integration, "", true, byKim)
		require.NoError(t, err)
		c.pass(claimWithin)
		require.Nil(t, all[1].requireUnclaimed(1).Lease)
		require.Equal(t, room.Waiting, all[1].claimed(0).Status, "no waiter is granted")
		_, err = c.engine.Pause(t.Context(), integration, "", false, byKim)
		require.NoError(t, err)
		require.NotZero(t, all[1].requireHolds().Lease.ClaimBy)
	})
	t.Run("delete the key", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		all := c.line("a", "b", "c")
		all[0].leave(room.Completed)
		require.NoError(t, c.rdb.Del(t.Context(), room.LockKey(integration)).Err())
		require.Equal(t, room.Forced, all[1].stand().Outcome)
	})
}

func TestUnclaimedWaiterKeepsItsRankWhateverSupportMoves(t *testing.T) {
	for _, moves := range []int{1, 30} { // 30 moves use up the ranks: the line is renumbered
		c := newCourt(t, room.Config{})
		all := c.line("a", "b", "c", "d", "e")
		all[0].leave(room.Completed)
		turn := all[1].requireHolds()
		for range moves {
			for _, who := range []seller{all[4], all[3]} {
				_, err := c.engine.Move(t.Context(), integration, "", who.stand().Ticket, 1, byKim)
				require.NoError(t, err)
			}
		}
		c.pass(claimWithin)
		all[3].claimed(all[3].requireHolds().Fence)
		all[1].requireUnclaimed(1)
		require.Equal(t, 2, all[4].stand().Position)
		snapshot, err := c.engine.Snapshot(t.Context(), integration)
		require.NoError(t, err)
		require.IsIncreasing(t, snapshot.Ranks)
		require.Equal(t, moves == 1, snapshot.Ranks[0] == 2, "the rank that it had")
		require.Equal(t, turn.Ticket, all[1].claimed(0).Ticket)
		all[3].leave(room.Completed)
		all[1].requireHolds()
	}
}

func TestRosterHasSinceWhenAnUnclaimedWaiterIsAway(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	all[0].leave(room.Completed)
	by := all[1].requireHolds().Lease.ClaimBy
	c.pass(claimWithin)
	roster, err := c.engine.Roster(t.Context(), integration)
	require.NoError(t, err)
	require.Equal(t, by, roster.Line[0].AwaySince)
	all[1].claimed(0)
	roster, err = c.engine.Roster(t.Context(), integration)
	require.NoError(t, err)
	require.Zero(t, roster.Line[0].AwaySince)
}
