package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// Rule 3 of docs/matching.md. Seller a pressed at the marketplace long after it had asked, right before its
// lease ended.
func TestNumberIsBusyUntilAQuarantineAfterTheLeaseEnded(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	d.pass(25 * time.Second)
	fence := a.expect().Fence
	d.pass(95 * time.Second)
	require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), b.busy())
	d.pass(29 * time.Second)
	_, m := d.sms()
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, fence, m.Fence)
	b.expect()
}

// Rule 2: a session takes the lock for a second, asks and leaves, to be shown the codes of those behind.
func TestPlantedAskHarvestsNoCode(t *testing.T) {
	d := newDesk(t, room.Config{})
	m, v := d.asker("m"), d.asker("v")
	for range 3 {
		m.expect()
	}
	d.pass(time.Second)
	m.leave(room.Cancelled)
	d.pass(30 * time.Second)
	id, got := d.sms() // v pressed at the marketplace before it asked
	requireNone(t, room.Ambiguous, got, "m has no right to it any more")
	require.Empty(t, messages(t, d.engine, m.session))
	require.Empty(t, d.records("incident"), "the clock is right")
	require.Equal(t, id, offers(t, d.engine, v.session)[0].MessageID)
	x, err := v.claim(id)
	require.NoError(t, err)
	require.Zero(t, x.Open)
	d.settle(id, true)
	require.Len(t, messages(t, d.engine, v.session), 1)
}

// Rule 2: an ask of a lease that was extended is as good as another as long as the lease has its right.
func TestAskOfALongLeaseCountsAsLongAsItsRight(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 10 * time.Minute})
	a, b := d.asker("a"), d.asker("b")
	fence := a.expect().Fence
	d.pass(10 * time.Minute)
	b.busy()
	d.pass(29 * time.Second)
	_, m := d.sms()
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, fence, m.Fence)
	require.Empty(t, offers(t, d.engine, b.session))
}

// Rule 2: by a clock that is behind, b's first code seems to be older than both of its asks. Its second code
// came first and answered the first ask.
func TestClockRuleCountsAnAskThatAnotherCodeHasAnswered(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(30 * time.Second)
	b.expect()
	d.pass(20 * time.Second)
	b.expect()
	d.sms()
	_, m := d.sms(ago(21 * time.Second))
	requireNone(t, room.Ambiguous, m, "a's, or b's own")
	require.Empty(t, messages(t, d.engine, a.session))
}

// Rule 2: while no other session's lease is live, a lease that is over keeps its right to a late code.
func TestCodeLongAfterALeaseIsItsOwnWhileTheLockIsFree(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	fence := a.expect().Fence
	a.leave(room.Cancelled)
	d.pass(5 * time.Minute)
	_, m := d.sms()
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, fence, m.Fence)
}

// Rule 2: the session before pressed at the marketplace without asking, and left.
func TestCodeOfASessionThatLeftWithoutOneIsOfferedToNoOther(t *testing.T) {
	d := newDesk(t, room.Config{})
	v, m := d.asker("v"), d.asker("m")
	d.pass(20 * time.Second)
	v.leave(room.Cancelled)
	d.pass(29 * time.Second)
	_, got := d.sms()
	requireNone(t, room.NotExpected, got, "no session asked")
	require.Empty(t, offers(t, d.engine, m.session), "it may be v's")
	d.pass(time.Second)
	id, _ := d.sms()
	require.Equal(t, id, offers(t, d.engine, m.session)[0].MessageID, "v's quarantine is over")
}

// Rule 5: one SMS is reported twice, under two ids. The seller asked twice, so its second code is to come.
func TestCopyOfAMessageAnswersNoAsk(t *testing.T) {
	for name, twice := range map[string]func(*room.MatchRequest){
		"as it was":                   func(*room.MatchRequest) {},
		"by another phone":            func(q *room.MatchRequest) { q.Shown.Text = "[Web발신]\n인증번호 482913" },
		"in whole seconds, as it was": func(q *room.MatchRequest) { q.To = q.From + 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			fence := a.expect().Fence
			sent := saying("인증번호 482913")
			_, m := d.sms(sent)
			require.Equal(t, room.Matched, m.Result)
			d.pass(time.Second)
			id, again := d.sms(sent, ago(time.Second), twice)
			require.True(t, again.Duplicate)
			require.Equal(t, room.Matched, again.Result)
			require.Equal(t, fence, again.Fence)
			require.False(t, again.Completes)
			require.Equal(t, again, d.again(id))
			require.Equal(t, room.Locked, a.stand().Status, "its second ask is open")
			require.Len(t, messages(t, d.engine, a.session), 1)
			a.leave(room.Cancelled)
			b.busy()
		})
	}
}

// Rule 5: a copy gets the first answer, also if the first belongs to no lease.
func TestCopyOfAMessageThatBelongsToNoLeaseStaysSo(t *testing.T) {
	d := newDesk(t, room.Config{})
	_, m := d.sms(saying("인증번호 482913"))
	requireNone(t, room.NoLease, m, "no session held the lock")
	d.pass(time.Second)
	a := d.asker("a")
	a.expect()
	_, m = d.sms(saying("인증번호 482913"), ago(time.Second))
	requireNone(t, room.NoLease, m, "as the first")
	require.True(t, m.Duplicate)
	require.Len(t, d.records("message"), 2)
}

// Rule 5: seller a was sent a code. Another report of it, in other clothes, reaches no other seller.
func TestSameCodeInOtherClothesReachesNoOtherSession(t *testing.T) {
	for name, other := range map[string]func(*room.MatchRequest){
		"no sender":       from(""),
		"country code":    from("8215881234"),
		"contact's name":  from("쿠팡"),
		"another wording": saying("[쿠팡] 인증번호 482913 14:35까지"),
		"without time":    func(q *room.MatchRequest) { q.From, q.To, q.Sender = 0, 0, "1577-0000" },
		"a part": func(q *room.MatchRequest) {
			q.Part, q.Sender = room.Part{Ref: "r", Parts: 2, Part: 1}, ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			code := func(q *room.MatchRequest) { q.Shown.Text, q.Shown.Code = "인증번호 482913", new("482913") }
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			first, m := d.sms(code)
			require.Equal(t, room.Matched, m.Result)
			fence := m.Fence
			d.pass(time.Second)
			d.sms(code, other)
			require.Empty(t, offers(t, d.engine, b.session))
			b.expect()
			d.pass(time.Second)
			copied, m := d.sms(code, other)
			requireNone(t, room.Ambiguous, m, "a was sent that code")
			require.Empty(t, messages(t, d.engine, b.session))
			require.Equal(t, room.Locked, b.stand().Status)
			require.Contains(t, d.couldBe(copied), b.stand().Fence, "support may give it to b")

			require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, fence, first))
			d.pass(31 * time.Second)
			_, m = d.sms(code, from("1577-9999"))
			requireNone(t, room.Ambiguous, m, "a may have rejected its own")
			_, m = d.sms(code)
			require.Equal(t, room.Matched, m.Result, "the text that a rejected, when a has no right any more")
		})
	}
}

// Rule 5: a seller that asked twice is sent one code in two wordings, as by alimtalk and SMS.
func TestCodeInOtherWordsAnswersNoSecondAskOfItsOwnSession(t *testing.T) {
	code := func(text string) func(*room.MatchRequest) {
		return func(q *room.MatchRequest) { q.Shown.Text, q.Shown.Code = text, new("482913") }
	}
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.expect()
	_, m := d.sms(code("인증번호 482913"))
	require.Equal(t, room.Matched, m.Result)
	_, m = d.sms(code("[쿠팡] 482913을 입력하세요"))
	require.Equal(t, room.Matched, m.Result)
	require.False(t, m.Completes, "its second code is still to come")
	require.Len(t, messages(t, d.engine, a.session), 2)
	_, m = d.sms()
	require.True(t, m.Completes)
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestOfferOfACodeThatAnotherSessionWasSentMeanwhileIsNotClaimed(t *testing.T) {
	code := func(q *room.MatchRequest) { q.Shown.Text, q.Shown.Code = "인증번호 482913", new("482913") }
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	fence := a.stand().Fence
	_, m := d.sms()
	require.True(t, m.Completes)
	d.pass(31 * time.Second)
	b := d.asker("b")
	d.pass(time.Second)
	id, _ := d.sms(code)
	require.Len(t, offers(t, d.engine, b.session), 1)
	given, _ := d.sms(code, from("02-555-0000"), ago(31*time.Second))
	d.assigned(given, fence)
	d.settle(given, true)
	_, err := b.claim(id)
	require.ErrorIs(t, err, room.ErrNoMessage)
}

func TestTwoSellersMayBeSentTheSameFourDigits(t *testing.T) {
	d := newDesk(t, room.Config{})
	code := func(text string) func(*room.MatchRequest) {
		return func(q *room.MatchRequest) { q.Shown.Text, q.Shown.Code = text, new("4829") }
	}
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	d.sms(code("쿠팡 인증번호 4829"))
	b.expect()
	d.pass(time.Second)
	_, m := d.sms(code("옥션 인증번호 4829"))
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, b.stand().Outcome)
}

// Rule 7: the page shows the number, so anybody can write to it.
func TestPersonalNumberEndsNoTurn(t *testing.T) {
	personal := func(q *room.MatchRequest) { q.Sender, q.Personal = "010-1234-5678", true }
	for name, joins := range map[string]func(*desk, string) seller{
		"asks": (*desk).asker, "does not ask": (*desk).plain,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := joins(d, "a"), d.asker("b")
			if name == "asks" {
				a.expect()
			}
			d.pass(time.Second)
			id, m := d.sms(personal)
			require.Equal(t, room.Matched, m.Result)
			require.False(t, m.Completes)
			require.Equal(t, room.Locked, a.stand().Status)
			require.Equal(t, id, messages(t, d.engine, a.session)[0].MessageID, "it is shown")
			require.False(t, d.records("message")[0].Code)
			_, m = d.sms()
			require.True(t, m.Completes, "its own code")
			require.Empty(t, messages(t, d.engine, b.session))
		})
	}
}

func TestPersonalNumberIsOfferedToNoSession(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	d.pass(time.Second)
	d.sms(func(q *room.MatchRequest) { q.Personal = true })
	require.Empty(t, offers(t, d.engine, a.session))
	d.sms()
	require.Len(t, offers(t, d.engine, a.session), 1)
}

func TestPersonalNumberThatAnAskNamesAnswersIt(t *testing.T) {
	personal := func(q *room.MatchRequest) { q.Sender, q.Personal = "+82 10-1234-5678", true }
	for name, c := range map[string]struct {
		filter room.Filter
		ends   bool
	}{
		"names it":             {room.Filter{From: []string{"01012345678"}}, true},
		"names a piece":        {room.Filter{Contains: "text"}, false},
		"names it and a piece": {room.Filter{From: []string{"01012345678"}, Contains: "TEXT of"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			q := a.request()
			q.Filter = c.filter
			_, err := d.engine.Expect(t.Context(), integration, q)
			require.NoError(t, err)
			_, m := d.sms(personal)
			require.Equal(t, room.Matched, m.Result)
			require.Equal(t, c.ends, m.Completes)
		})
	}
}

// Rule 6: a piece is compared without case, width and blanks.
func TestPieceIsFoundWhateverItsCaseWidthAndBlanks(t *testing.T) {
	for piece, text := range map[string]string{
		"Coupang": "[COUPANG] 482913", "쿠팡 윙": "[쿠팡윙] 482913", "ＷＩＮＧ": "wing 482913", "ｱｶｳﾝﾄ": "アカウント 482913",
	} {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expectOnly(piece)
		_, m := d.sms(saying(text))
		require.Equal(t, room.Matched, m.Result, piece)
	}
}

// Rule 2: what only the holder's own filter refused is offered to it, and answers its ask.
func TestMessageThatOnlyItsOwnFilterRefusedIsOfferedToTheHolder(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expectOnly("쿠팡")
	d.pass(time.Second)
	id, m := d.sms(saying("옥션 482913"))
	requireNone(t, room.NotExpected, m, "a expected another")
	require.Equal(t, id, offers(t, d.engine, a.session)[0].MessageID)
	x, err := a.claim(id)
	require.NoError(t, err)
	require.Equal(t, 1, x.Asked)
	require.Zero(t, x.Open)
	require.Equal(t, room.Completed, a.stand().Outcome)
	require.Equal(t, room.Locked, b.stand().Status)

	d.sms(saying("옥션 482914"), foreign)
	require.Empty(t, offers(t, d.engine, b.session), "the room takes none of this sender")
}

func TestClaimOfARefusedMessageAnswersTheEarliestLaterAskFirst(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expectOnly("쿠팡")
	d.pass(time.Second)
	id, _ := d.sms(saying("옥션 482913"))
	d.pass(time.Second)
	a.expectOnly("옥션")
	x, err := a.claim(id)
	require.NoError(t, err)
	require.Equal(t, 1, x.Open)
	d.settle(id, true)
	_, m := d.sms(saying("옥션 582913"))
	require.Equal(t, room.Matched, m.Result)
	require.False(t, m.Completes, "its later ask has its answer")
}
