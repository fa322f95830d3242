package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// as joins another seller from the same session, such as that of an agency's browser.
func (s seller) as(d *desk, name string) seller {
	d.Helper()
	other := s
	other.name = name
	_, err := d.engine.Join(d.Context(), integration, room.JoinRequest{Session: s.session, Seller: name, Asks: true})
	require.NoError(d, err)
	return other
}

func TestTwoSellersOfOneSessionAskAQuarantineApart(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	asked := d.now
	d.pass(5 * time.Second)
	a.leave(room.Cancelled)
	b := a.as(d, "b")
	until := asked.Add(30 * time.Second).UnixMilli()
	require.Equal(t, until, b.stand().Lease.AskAfter)
	require.Equal(t, until, b.busy())

	d.pass(7 * time.Second)
	_, m := d.sms()
	require.Equal(t, room.Late, m.Result, "it is a's")
	require.Equal(t, a.name, d.records("message")[0].Seller)
	require.Equal(t, room.Locked, b.stand().Status)
	require.Empty(t, messages(t, d.engine, b.session), "in b's turn it would be taken for b's")
	b.expect()
	_, m = d.sms()
	require.Equal(t, b.stand().Ticket, m.Ticket)
	require.Equal(t, room.Matched, m.Result)
}

func TestOneSellerOfOneSessionMayAskAtOnce(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	a.leave(room.Cancelled)
	a.as(d, "a").expect()
}

// The carrier brings a's code once more, as another message.
func TestTextThatCameForOneSellerAnswersNoAskOfAnotherOfTheSession(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	code := saying("인증번호 482913")
	_, first := d.sms(code)
	require.Equal(t, room.Completed, a.stand().Outcome)
	d.pass(time.Second)
	b := a.as(d, "b")
	b.expect()
	d.pass(time.Second)
	_, m := d.sms(code)
	require.True(t, m.Duplicate)
	require.Equal(t, first.Fence, m.Fence)
	require.Equal(t, room.Locked, b.stand().Status)
}

// Support may not give one of them what came for the other.
func TestTextThatCameForOneSellerIsNotGivenToAnotherOfTheSession(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	code := saying("인증번호 482913")
	id, m := d.sms(code, ago(time.Second))
	require.Equal(t, room.Unmatched, m.Result)
	a.expect()
	_, m = d.sms(code)
	require.Equal(t, room.Matched, m.Result)
	b := a.as(d, "b")
	b.expect()
	_, err := d.engine.Assign(t.Context(), integration, room.AssignRequest{MessageID: id, Fence: b.stand().Fence, By: byKim})
	require.ErrorIs(t, err, room.ErrAlreadyMatched)
}

// b, who does not ask, pressed: a's slow code took b's turn; b's own must not go to a.
func TestCodeThatAnothersDisplacedIsNobodysAlsoOfWhoDoesNotAsk(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b, c := d.asker("a"), d.plain("b"), d.asker("c")
	a.expect()
	d.pass(10 * time.Second)
	a.leave(room.Cancelled)
	d.pass(23 * time.Second)
	_, m := d.sms()
	require.Equal(t, b.name, d.records("message")[0].Seller, "it was a's; nobody can tell")
	require.Equal(t, room.Matched, m.Result)
	d.pass(3 * time.Second)
	_, m = d.sms()
	requireNone(t, room.Ambiguous, m, "a's, or b's own")
	require.Equal(t, room.Locked, c.stand().Status)
	d.pass(28 * time.Second)
	_, m = d.sms(without)
	require.Equal(t, room.Late, m.Result, "a quarantine after b's end it is a's alone")
}

// A part of a's message is lost; b's long message has the same reference, and its second part overtakes the first one.
func TestPartThatAnswersAnothersLaterAskIsNotTakenForTheRestOfALostOne(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.pass(5 * time.Second)
	_, m := d.sms(part("r", 1), without)
	require.Equal(t, room.Matched, m.Result)
	d.pass(10 * time.Second)
	a.leave(room.Cancelled)
	b := d.asker("b")
	d.pass(16 * time.Second)
	b.expect()
	d.pass(2 * time.Second)
	_, m = d.sms(part("r", 2))
	requireNone(t, room.Ambiguous, m, "a's, or b's")
	require.Empty(t, messages(t, d.engine, b.session))
	require.Len(t, messages(t, d.engine, a.session), 1, "the first part alone")
}

// The store was away when the message came first, and the carrier's clock is ahead of ours.
func TestMessageThatComesAgainWasNotSentAfterItWasFirstRead(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.pass(10 * time.Second)
	read := d.now.UnixMilli()
	a.leave(room.Cancelled)
	b := d.asker("b")
	d.pass(20 * time.Second)
	b.expect()
	d.pass(10 * time.Second)
	_, m := d.sms(func(q *room.MatchRequest) { q.From, q.To, q.ReadAt, q.Again = read+23_000, read+23_001, read, true })
	requireNone(t, room.Ambiguous, m, "a's, who asked before it was first read; or b's, by the carrier's clock")
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestMessageIsForgottenInTimeThoughTheClockIsSetBack(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.sms()
	require.Len(t, messages(t, d.engine, a.session), 1)
	d.pass(-time.Hour)
	require.Len(t, messages(t, d.engine, a.session), 1)
	left := d.rdb.ZRangeWithScores(t.Context(), "{integration}:inbox", 0, -1).Val()
	require.Len(t, left, 1)
	require.Equal(t, float64(d.now.Add(10*time.Minute).UnixMilli()), left[0].Score)
}

// What a replica reckons of Redis's time may be too early: that takes no message from the one who asked for it.
func TestMessageThatComesFirstIsBelievedWhateverWeReckonWhenItWasRead(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.pass(5 * time.Second)
	a.leave(room.Cancelled)
	b := d.asker("b")
	d.pass(29 * time.Second)
	b.expect()
	d.pass(time.Second)
	_, m := d.sms(ago(200*time.Millisecond), func(q *room.MatchRequest) { q.ReadAt = d.now.UnixMilli() - 2500 })
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, b.stand().Outcome)
}

// Its earlier ask was for another sender.
func TestOneIsOfferedACodeThoughOnesOwnEarlierAskIsOpen(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	q := a.request()
	q.Filter = room.Filter{From: []string{"15881234"}}
	_, err := d.engine.Expect(t.Context(), integration, q)
	require.NoError(t, err)
	d.pass(time.Second)
	a.leave(room.Cancelled)
	a.as(d, "a")
	d.pass(time.Second)
	_, m := d.sms(from("15770000"))
	requireNone(t, room.NotExpected, m, "it is not what was asked for")
	require.Len(t, offers(t, d.engine, a.session), 1)
}
