package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// No session could claim its lease while Redis was away, so the holder gets the whole time for that again.
func TestTurnIsNotJudgedForTheTimeInWhichTheStoreWasAway(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	all[0].leave(room.Completed)
	turn := all[1].requireHolds()
	c.pass(time.Second)
	c.store.SetError("LOADING away")
	_, err := c.engine.Stand(t.Context(), integration, all[1].session)
	require.ErrorIs(t, err, room.ErrStore)
	c.pass(time.Minute)
	c.store.SetError("")
	again := all[1].requireHolds()
	require.Equal(t, turn.Fence, again.Fence)
	require.Equal(t, c.now.Add(claimWithin).UnixMilli(), again.Lease.ClaimBy)
	require.Equal(t, again.Lease.ExpiresAt,
		int64(c.rdb.PExpireTime(t.Context(), room.LockKey(integration)).Val()/time.Millisecond))
	c.pass(claimWithin)
	all[2].requireHolds()
}

func TestClockThatGoesBackGivesNoMoreTimeToClaim(t *testing.T) {
	c := newCourt(t, room.Config{})
	all := c.line("a", "b", "c")
	all[0].leave(room.Completed)
	c.pass(5 * time.Second)
	all[1].requireHolds()
	c.pass(-time.Minute)
	left := all[1].requireHolds().Lease
	require.InDelta(t, c.now.Add(15*time.Second).UnixMilli(), left.ClaimBy, 1000)
	c.pass(16 * time.Second)
	all[2].requireHolds()
	all[1].requireUnclaimed(1)
}

// A live lease that is not claimed yet is like any other: messages sent within it are its own, and a code
// ends it.
func TestMessageBelongsToALeaseThatIsNotClaimedYet(t *testing.T) {
	t.Run("at once", func(t *testing.T) {
		c := newCourt(t, room.Config{})
		a, b := c.plain("a"), c.plain("b")
		c.come(b)
		a.leave(room.Completed)
		turn := b.requireHolds()
		c.pass(claimWithin / 2)
		_, m := c.sms()
		require.Equal(t, turn.Fence, m.Fence)
		require.Equal(t, room.Completed, b.stand().Outcome)
	})
	t.Run("also when it comes late", func(t *testing.T) {
		c := newCourt(t, room.Config{Quarantine: -1})
		a, b := c.plain("a"), c.plain("b")
		c.come(b)
		a.leave(room.Completed)
		turn := b.requireHolds()
		c.pass(time.Second)
		sent := c.now.UnixMilli()
		c.pass(claimWithin)
		b.requireUnclaimed(1)
		m := match(t, c.engine, sms("late", sent, sent+1))
		require.Equal(t, []any{room.Late, turn.Fence}, []any{m.Result, m.Fence})
		require.Equal(t, "late", messages(t, c.engine, b.session)[0].MessageID,
			"its holder sees it while it waits")
	})
}

func TestRoomMayHaveAClaimOfItsOwn(t *testing.T) {
	terms := room.Terms{ClaimWithin: 5 * time.Second}
	c := newCourt(t, room.Config{Terms: func(room.ID) room.Terms { return terms }})
	all := c.line("a", "b", "c", "d")
	all[0].leave(room.Completed)
	require.Equal(t, c.now.Add(5*time.Second).UnixMilli(), all[1].requireHolds().Lease.ClaimBy)
	terms.ClaimWithin = -1
	c.pass(5 * time.Second)
	require.Zero(t, all[2].requireHolds().Lease.ClaimBy,
		"what was to be claimed is, what is granted now need not be")
	all[1].requireUnclaimed(1)
	terms.ClaimWithin = 0
	all[2].leave(room.Completed)
	require.Equal(t, c.now.Add(claimWithin).UnixMilli(), all[3].requireHolds().Lease.ClaimBy)
}

// Redis goes back, by a failover, to before a turn that then passed unclaimed. Remaining waiters keep their
// places, and the ledger gets the observed lease.
func TestUnclaimedLeaseThatTheStoreLostIsJournalled(t *testing.T) {
	t.Parallel()
	l := newLosing(t, room.Config{ClaimWithin: 3 * time.Second})
	a, b := l.seller(l.one, "a"), l.seller(l.one, "b")
	a.join()
	b.join()
	b.here(time.Minute)
	goBack := l.remember()
	a.leave(room.Completed)
	turn := b.requireHolds()
	passUntil(t, l.rdb, turn.Lease.ClaimBy)
	b.requireUnclaimed(1)
	goBack()
	st := b.stand()
	require.Equal(t, []any{room.Locked, turn.Ticket}, []any{st.Status, st.Ticket},
		"it waits in what is left, and the lock is free")
	require.Greater(t, st.Epoch, turn.Epoch)
	require.Greater(t, st.Fence, turn.Fence)
	var journalled []room.Record
	for _, r := range l.journalled("told") {
		if r.Outcome == room.Unclaimed {
			journalled = append(journalled, r)
		}
	}
	require.Len(t, journalled, 1)
	require.Equal(t, []any{turn.Fence, turn.Ticket, turn.Epoch, turn.Lease.GrantedAt},
		[]any{journalled[0].Fence, journalled[0].Ticket, journalled[0].Of, journalled[0].GrantedAt})
}
