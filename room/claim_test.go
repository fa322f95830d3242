package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func offers(t require.TestingT, e *room.Engine, session string) []room.Offer {
	_, seats, err := e.Look(context.Background(), integration, session)
	require.NoError(t, err)
	return seats[0].Offers
}

// claim claims a message for the seller's session, as a code that it had asked for.
func (s seller) claim(messageID string) (room.Expectation, error) {
	q := s.request()
	q.MessageID = messageID
	return s.engine.Expect(s.t.Context(), integration, q)
}

func TestHolderThatAnnouncedNoAskMayClaimItsCode(t *testing.T) {
	t.Run("as if it had asked before", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a, b := d.asker("a"), d.asker("b")
		d.pass(10 * time.Second)
		id, m := d.sms()
		requireNone(t, room.NotExpected, m, "it had not asked")
		require.Equal(t, id, offers(t, d.engine, a.session)[0].MessageID)
		require.Empty(t, messages(t, d.engine, a.session), "neither text nor code before the answer")
		require.Empty(t, offers(t, d.engine, b.session))
		d.pass(time.Second)
		x, err := a.claim(id)
		require.NoError(t, err)
		require.Equal(t, 1, x.Asked)
		require.Zero(t, x.Open)
		require.True(t, x.Claim.Completes)
		require.Empty(t, messages(t, d.engine, a.session), "the ledger has not agreed")
		require.NoError(t, d.engine.SettleMatch(d.Context(), integration, id, 0, true))
		require.Equal(t, id, messages(t, d.engine, a.session)[0].MessageID)
		require.Equal(t, room.Completed, a.stand().Outcome)
		require.Equal(t, room.Locked, b.stand().Status)
		require.Equal(t, m, match(t, d.engine, sms(id, 0, 0)),
			"a repeat by the carrier still gets the first answer")
		require.Equal(t, id, d.records("claimed")[0].MessageID)
		b.expect()
	})
	t.Run("the later ask counts as that one", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		d.pass(10 * time.Second)
		id, _ := d.sms()
		d.pass(time.Second)
		a.expect()
		x, err := a.claim(id)
		require.NoError(t, err)
		require.Equal(t, 1, x.Asked)
		require.Zero(t, x.Open)
	})
	t.Run("it goes on where codes end nothing", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		id, _ := d.sms()
		q := a.request()
		q.MessageID, q.Keep = id, true
		_, err := d.engine.Expect(d.Context(), integration, q)
		require.NoError(t, err)
		require.Equal(t, room.Locked, a.stand().Status)
	})
	t.Run("what the ledger refuses is not shown, and its first answer stays", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		id, m := d.sms()
		_, err := a.claim(id)
		require.NoError(t, err)
		require.NoError(t, d.engine.SettleMatch(d.Context(), integration, id, 0, false))
		require.Empty(t, messages(t, d.engine, a.session))
		require.Equal(t, m, match(t, d.engine, sms(id, 0, 0)))
	})
}

// A session that claims a message which was not offered to it tries to get another session's code.
func TestNoSessionClaimsAnothersCode(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	d.pass(time.Second)
	offered, _ := d.sms()
	_, err := b.claim(offered)
	require.ErrorIs(t, err, room.ErrStaleFence, "it does not hold")
	_, err = a.claim("no such message")
	require.ErrorIs(t, err, room.ErrNoMessage)
	a.expect()
	own, _ := d.sms()
	_, err = a.claim(own)
	require.ErrorIs(t, err, room.ErrNoPlace, "that code ended its lease")
	for _, id := range []string{offered, own} {
		_, err = b.claim(id)
		require.ErrorIs(t, err, room.ErrNoMessage, "it was offered to a, or is a's")
	}

	b.expect()
	b.leave(room.Cancelled)
	c := d.asker("c")
	d.pass(time.Second)
	id, m := d.sms(from("02-000-0000"))
	require.Equal(t, room.Late, m.Result, "b asked last")
	_, err = c.claim(id)
	require.ErrorIs(t, err, room.ErrNoMessage)
}

func TestNothingIsOfferedOrClaimedWhileAnotherAskIsOpen(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	q := a.request()
	q.Filter.Contains = "쿠팡"
	_, err := d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	a.leave(room.Cancelled)
	_, m := d.sms(saying("옥션 482913"))
	requireNone(t, room.NotExpected, m, "a asked for another")
	require.Empty(t, offers(t, d.engine, b.session), "a's code may still come")
	d.pass(10 * time.Minute)

	c := d.asker("c")
	require.Equal(t, room.Locked, c.stand().Status)
	id, _ := d.sms()
	require.Len(t, offers(t, d.engine, c.session), 1)
	d.pass(time.Second)
	c.leave(room.Cancelled)
	require.Empty(t, offers(t, d.engine, c.session), "its lease is over")
	e := d.asker("e")
	_, err = e.claim(id)
	require.ErrorIs(t, err, room.ErrNoMessage, "it was offered to c")
}

func TestOfferThatAnothersReopenedAskMayExplainIsNotClaimed(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	theirs, m := d.sms()
	d.pass(31 * time.Second)
	id, _ := d.sms()
	require.Len(t, offers(t, d.engine, b.session), 1)
	require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, theirs))
	x, err := b.claim(id)
	require.ErrorIs(t, err, room.ErrNumberBusy)
	require.Equal(t, d.now.Add(-31*time.Second+10*time.Minute).UnixMilli(), x.AskAfter,
		"as long as a's ask is open")
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestRejectedMessageIsUnmatchedAndItsAskIsOpenAgain(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	d.pass(6 * time.Second)
	ended := d.now
	id, m := d.sms()
	require.Equal(t, room.Completed, a.stand().Outcome)
	b.expect()
	d.pass(time.Second)

	require.ErrorIs(t, d.engine.Reject(d.Context(), integration, b.session, m.Fence, id), room.ErrNoMessage,
		"another's message")
	require.ErrorIs(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence+1, id),
		room.ErrStaleFence)
	require.ErrorIs(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, "none"),
		room.ErrNoMessage)
	require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, id))
	require.ErrorIs(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, id), room.ErrNoMessage,
		"once a message")

	require.Empty(t, messages(t, d.engine, a.session))
	require.Equal(t, room.Completed, a.stand().Outcome, "its outcome stays")
	again := match(t, d.engine, sms(id, 0, 0))
	require.Equal(t, room.Matched, again.Result, "a repeat by the carrier still gets the first answer")
	require.Equal(t, ended.Add(30*time.Second).UnixMilli(), b.stand().Lease.AskAfter)
	require.Equal(t, ended.Add(30*time.Second).UnixMilli(), b.busy())
	require.Equal(t, id, d.records("rejected")[0].MessageID)
	_, m = d.sms(ago(7 * time.Second))
	require.Equal(t, "a", d.records("message")[1].Seller,
		"what was sent before b asked is a's: its ask is open")
	require.Equal(t, room.Late, m.Result)
}

func TestLeaseMayRejectThreeMessages(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	d.asker("b")
	a.expect()
	for range 3 {
		id, m := d.sms(ago(0))
		require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, id))
	}
	id, m := d.sms(ago(0))
	require.Equal(t, room.Late, m.Result)
	require.ErrorIs(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, id),
		room.ErrTooManyRejects)
	require.Len(t, messages(t, d.engine, a.session), 1)
	d.pass(10*time.Minute + time.Second)
	require.ErrorIs(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, id), room.ErrNoMessage,
		"it is forgotten")
}
