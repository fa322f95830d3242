package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// A session that asks in two turns receives two codes, and the first code may answer either ask. No other
// session may ask until a quarantine after the second turn.
func TestSecondCodeOfASessionWithTwoTurnsGoesToNoOtherSession(t *testing.T) {
	for name, rejects := range map[string]bool{"": false, "the first is taken back": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			turns := []int64{a.expect().Fence}
			a.leave(room.Cancelled)
			d.pass(20 * time.Second)
			_, err := d.engine.Join(d.Context(), integration,
				room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
			require.NoError(t, err)
			turns = append(turns, a.expect().Fence)
			next := d.asker("next")
			late := func() {
				_, m := d.sms()
				require.Equal(t, room.Late, m.Result)
				require.Contains(t, turns, m.Fence)
			}
			d.pass(5 * time.Second)
			ended := d.now
			first, m := d.sms()
			require.Equal(t, room.Matched, m.Result)
			require.Equal(t, room.Completed, a.stand().Outcome)
			if rejects { // then the codes of both asks are still to come
				require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, first))
				late()
			}
			d.pass(6 * time.Second) // the quarantine of the first turn is over
			require.Equal(t, ended.Add(30*time.Second).UnixMilli(), next.busy())
			late()
			require.Empty(t, messages(t, d.engine, next.session))
			next.expect()
		})
	}
}

func TestClaimThatIsRefusedLeavesALeaseThatDoesNotAsk(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.plain("a"), d.asker("b")
	q := a.request()
	q.MessageID = "nope"
	_, err := d.engine.Expect(d.Context(), integration, q)
	require.ErrorIs(t, err, room.ErrNoMessage)
	a.leave(room.Cancelled)
	require.Positive(t, b.busy(), "a may have asked")
}

// only makes the seller ask for the codes of one sender.
func (s seller) only(sender string) {
	s.t.Helper()
	q := s.request()
	q.Filter.From = []string{sender}
	_, err := s.engine.Expect(s.t.Context(), integration, q)
	require.NoError(s.t, err)
}

const shop, other = "15881234", "15770000"

// at sets the clock to a number of seconds after the start.
func (d *desk) at(start time.Time, seconds int) {
	d.pass(start.Add(time.Duration(seconds) * time.Second).Sub(d.now))
}

// A session asks for the shop's codes in two turns, at second 0 and at 20. When one arrives, the shop's next
// code may answer the ask at 20. Whatever else arrives, no other session may ask until a quarantine after the
// second turn.
func TestNothingButTheSecondCodeEndsTheWaitForIt(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []string // senders whose codes it asks for, in each turn
		then          string   // sender of the code after the shop's
		ends          int      // second at which the second turn ends
	}{
		"another sender's code for the later turn":   {[]string{shop}, []string{shop, other}, other, 26},
		"another sender's code for the earlier turn": {[]string{shop, other}, []string{shop}, other, 25},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			start, a := d.now, d.asker("a")
			for _, sender := range c.first {
				a.only(sender)
			}
			a.leave(room.Cancelled)
			a.again(d, "a")
			d.at(start, 20)
			for _, sender := range c.second {
				a.only(sender)
			}
			next := d.asker("next")
			d.at(start, 25)
			_, m := d.sms(from(shop))
			require.Equal(t, room.Matched, m.Result)
			d.at(start, 26)
			d.sms(from(c.then))
			require.Equal(t, start.Add(time.Duration(c.ends+30)*time.Second).UnixMilli(), next.busy())
			d.at(start, 35)
			_, m = d.sms(from(shop))
			require.Equal(t, room.Late, m.Result)
			next.expect()
		})
	}
}

// The second of three asks accepts codes of both senders, and is answered. The other sender's code may have
// answered it, so the shop's code may answer another ask.
func TestWaitGoesOnThroughAnAskThatTakesEitherCode(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	a.only(other)
	a.leave(room.Cancelled)
	a.again(d, "a")
	d.at(start, 10)
	a.expect()
	d.at(start, 12)
	_, m := d.sms(from(other))
	require.Equal(t, room.Matched, m.Result)
	a.again(d, "a")
	d.at(start, 20)
	a.only(shop)
	next := d.asker("next")
	d.at(start, 22)
	_, m = d.sms(from(shop))
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, start.Add(52*time.Second).UnixMilli(), next.busy())
}

func TestCodeMayBeTheAnswerToAnAskThatCanNotBeRead(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	a.only(shop)
	a.leave(room.Cancelled)
	a.again(d, "a")
	d.at(start, 20)
	a.expect()
	next := d.asker("next")
	d.at(start, 25)
	stranger := room.New(d.rdb, room.Config{Recovery: -1}) // its secret opens no filter
	require.Equal(t, room.Matched,
		match(t, stranger, sms("m", d.now.UnixMilli(), d.now.UnixMilli()+1)).Result)
	require.Equal(t, start.Add(55*time.Second).UnixMilli(), next.busy())
}

// A code arrives late, after its turn. Asks that were made after it was sent do not prolong the wait of other
// sessions.
func TestCodeDoesNotCountForLaterAsks(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	a.expect()
	for _, at := range []int{5, 20} {
		a.leave(room.Cancelled)
		a.again(d, "a")
		d.at(start, at)
		a.expect()
	}
	next := d.asker("next")
	d.at(start, 22)
	_, m := d.sms(ago(12 * time.Second))
	require.Equal(t, room.Late, m.Result)
	d.at(start, 36)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
	next.expect()
}

// The last ask of the later turn was for another sender's codes, and has its answer.
func TestWaitIsForAnAskThatTheCodeFits(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	a.only(shop)
	a.leave(room.Cancelled)
	a.again(d, "a")
	d.at(start, 10)
	a.only(shop)
	d.at(start, 20)
	a.only(other)
	next := d.asker("next")
	for _, sender := range []string{other, shop} {
		_, m := d.sms(from(sender))
		require.Equal(t, room.Matched, m.Result)
	}
	require.Equal(t, start.Add(50*time.Second).UnixMilli(), next.busy())
}

// If all asks were made in one turn, it is known which are open. Other sessions wait for those.
func TestOneTurnWhoseAnswersWereTakenBackIsWaitedForByItsOpenAsks(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	var ids []string
	for _, at := range []int{0, 5, 10} {
		d.at(start, at)
		a.expect()
	}
	fence := a.stand().Fence
	next := d.asker("next")
	for range 3 {
		id, m := d.sms()
		require.Equal(t, room.Matched, m.Result)
		ids = append(ids, id)
	}
	for _, id := range ids[:2] {
		require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, fence, id))
	}
	_, m := d.sms()
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, start.Add(40*time.Second).UnixMilli(), next.busy())
}

func TestHolderGetsFromWhenItMayAskThoughAnothersSecondCodeIsToCome(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	a.expect()
	a.leave(room.Cancelled)
	a.again(d, "a")
	d.at(start, 20)
	a.expect()
	a.leave(room.Cancelled)
	next := d.asker("next")
	d.at(start, 25)
	d.sms()
	require.Equal(t, start.Add(50*time.Second).UnixMilli(), next.stand().Lease.AskAfter)
	require.Equal(t, start.Add(50*time.Second).UnixMilli(), next.busy())
	d.at(start, 26)
	d.sms()
	require.Zero(t, next.stand().Lease.AskAfter)
	next.expect()
}

// That a later ask is answered does not show that the earlier one is. Other sessions may ask a quarantine
// after the turn of the earlier ask.
func TestCodeThatOnlyTheLaterAskFitsKeepsTheNumberNoLonger(t *testing.T) {
	for name, turns := range map[string]int{"of one turn": 1, "of two turns": 2} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			a.only(shop)
			ended := d.now
			if turns == 2 {
				a.leave(room.Cancelled)
				a.again(d, "a")
			}
			d.pass(20 * time.Second)
			a.only(other)
			next := d.asker("next")
			_, m := d.sms(from(other))
			require.Equal(t, room.Matched, m.Result)
			if turns == 1 {
				a.leave(room.Cancelled)
				ended = d.now
			}
			require.Equal(t, ended.Add(30*time.Second).UnixMilli(), next.busy())
			d.pass(ended.Add(30 * time.Second).Sub(d.now))
			next.expect()
			_, m = d.sms(from(shop), ago(6*time.Second))
			require.Equal(t, room.Late, m.Result)
			require.Empty(t, messages(t, d.engine, next.session))
		})
	}
}

// The first code may answer the first turn's ask, and the second code the second's. Then a third code is
// still to come, though the quarantine of the first ask is long over.
func TestThirdCodeOfASessionWithThreeTurnsGoesToNoOtherSession(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	again := func() {
		_, err := d.engine.Join(d.Context(), integration,
			room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
		require.NoError(t, err)
		a.expect()
	}
	a.expect()
	a.leave(room.Cancelled)
	d.pass(20 * time.Second)
	again()
	d.pass(5 * time.Second)
	_, m := d.sms()
	require.Equal(t, room.Matched, m.Result)
	d.pass(time.Second)
	again()
	next := d.asker("next")
	d.pass(5 * time.Second)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), next.busy())
	_, m = d.sms()
	require.Equal(t, room.Late, m.Result)
	next.expect()
}

// Rules 2 and 3 of docs/matching.md: a lease that never asks, and whose code was rejected, counts as one that
// asked at its end. For a quarantine after that, a code may be its own.
func TestLeaseThatDoesNotAskAndWhoseCodeWasTakenBackIsInQuarantine(t *testing.T) {
	for name, refused := range map[string]bool{"rejected": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.plain("a"), d.asker("b")
			d.pass(time.Second)
			q := sms("stray", d.now.UnixMilli(), d.now.UnixMilli()+1)
			m := match(t, d.engine, q)
			require.True(t, m.Completes)
			d.settle("stray", true)
			d.pass(time.Second)
			b.expect()
			d.pass(time.Second)
			if refused {
				d.settle("stray", false)
			} else {
				require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, m.Fence, "stray"))
			}
			d.pass(time.Second)
			_, own := d.sms()
			requireNone(t, room.Ambiguous, own, "a's, that is still to come, or b's")
		})
	}
}

// An ask is open for at most 10 minutes. Seller a's lease has no younger open ask, so a's page does not show
// a new code.
func TestLeaseWhoseOnlyOpenAskIsOverTenMinutesOldGetsNothing(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	a.only(other)
	d.at(start, 100)
	a.only(shop)
	d.at(start, 101)
	_, m := d.sms(from(shop))
	require.Equal(t, room.Matched, m.Result)
	a.leave(room.Cancelled)
	d.at(start, 610)
	b := d.asker("b")
	d.at(start, 612)
	id, m := d.sms(from(shop))
	requireNone(t, room.NotExpected, m,
		"a's ask for the shop is answered, its other one is over 10 minutes old")
	require.Equal(t, id, offers(t, d.engine, b.session)[0].MessageID)
	require.Len(t, messages(t, d.engine, a.session), 1, "its own alone")
}
