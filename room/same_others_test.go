package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

const twin = "인증번호 482913"

// Rule 5 of docs/matching.md: the marketplace may send the same text to two sellers.
func TestSameTextWhileAnotherAsksIsEithers(t *testing.T) {
	for _, owner := range []string{"a", "b"} {
		t.Run("support gives it to "+owner, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			_, first := d.sms(saying(twin))
			d.pass(time.Second)
			b.expect()
			d.pass(time.Second)
			id, m := d.sms(saying(twin))
			requireNone(t, room.Ambiguous, m, "it may be b's own")
			require.Equal(t, room.Locked, b.stand().Status)
			holder := b.stand().Fence
			require.ElementsMatch(t, []int64{first.Fence, holder}, d.couldBe(id))
			given := d.assigned(id, map[string]int64{"a": first.Fence, "b": holder}[owner])
			require.Equal(t, owner == "b", given.Completes)
			d.settle(id, true)
			require.Len(t, messages(t, d.engine, b.session), map[string]int{"a": 0, "b": 1}[owner])
			require.NotEmpty(t, messages(t, d.engine, a.session))
		})
	}
}

func TestSameTextThatDoesNotFitTheOthersAskIsTheFirstOnes(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	_, first := d.sms(saying(twin), from(shop))
	b.only(other)
	d.pass(time.Second)
	_, m := d.sms(saying(twin), from(shop))
	require.True(t, m.Duplicate)
	require.Equal(t, first.Fence, m.Fence)
}

func TestUnmatchedTextGoesOnlyToASessionThatCouldHaveCausedItFirst(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	_, m := d.sms(saying(twin))
	requireNone(t, room.NotExpected, m, "a has not asked")
	d.pass(time.Second)
	a.leave(room.Cancelled)
	d.pass(time.Second)
	b.expect()
	d.pass(time.Second)
	_, m = d.sms(saying(twin))
	requireNone(t, room.Ambiguous, m, "b did not hold the lock when it came first")
	require.Empty(t, messages(t, d.engine, b.session))
}

func TestTextThatASessionRejectedDoesNotComeBackToIt(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	id, m := d.sms(saying(twin))
	require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, m.Fence, id))
	for range 2 {
		d.pass(time.Second)
		_, m = d.sms(saying(twin))
		requireNone(t, room.Ambiguous, m, "a rejected it")
	}
	require.Empty(t, messages(t, d.engine, a.session))
}

func TestOfferIsTakenBackOnceTheSameTextIsAnothers(t *testing.T) {
	for who, comes := range map[string]func(d *desk, a seller) seller{
		"another session": func(d *desk, _ seller) seller { return d.asker("b") },
		"another seller":  func(d *desk, a seller) seller { return a.again(d, "b") }, // in a's session
	} {
		t.Run(who, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			a.expect()
			wrong, m := d.sms()
			b := comes(d, a)
			d.pass(time.Second)
			offered, _ := d.sms(saying(twin))
			require.Len(t, offers(t, d.engine, b.session), 1)
			require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, m.Fence, wrong))
			d.pass(time.Second)
			_, m = d.sms(saying(twin))
			require.Equal(t, room.Late, m.Result, "a's ask is open again")
			require.Empty(t, offers(t, d.engine, b.session))
			_, err := b.claim(offered)
			require.ErrorIs(t, err, room.ErrNoMessage)
		})
	}
}

// Two parts that each have a code may be parts of two long messages with the same reference.
func TestPartWithASecondCodeIsUnmatchedOnceAnotherHasAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*room.MatchRequest)
		want   room.Result
	}{
		"with a code":    {func(*room.MatchRequest) {}, room.Unmatched},
		"without a code": {without, room.Late},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			_, m := d.sms(part("r", 1))
			require.Equal(t, room.Matched, m.Result)
			d.pass(time.Second)
			b.expect()
			d.pass(time.Second)
			_, m = d.sms(part("r", 2), tt.change)
			require.Equal(t, tt.want, m.Result)
			require.Equal(t, room.Locked, b.stand().Status)
		})
	}
}

// A carrier used the reference again for another seller's message, of which the part with the code came first.
// The other part of the first message was lost.
func TestPartWithTheCodeThatWasSentAfterAnotherAskedIsAmbiguous(t *testing.T) {
	for name, tt := range map[string]struct {
		age  time.Duration // since it was sent
		want room.Result
	}{
		"sent with the first part": {41 * time.Second, room.Late},
		"sent after the other ask": {0, room.Unmatched},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			_, m := d.sms(part("r", 1), without)
			require.Equal(t, room.Matched, m.Result)
			a.leave(room.Cancelled)
			d.pass(40 * time.Second)
			b.expect()
			d.pass(time.Second)
			_, m = d.sms(part("r", 2), ago(tt.age))
			require.Equal(t, tt.want, m.Result)
			require.Equal(t, room.Locked, b.stand().Status)
		})
	}
}

// If sellers need not sign in (SELLER_AUTH=open), one session may join as another seller. Its lease then
// counts as another session's.
func TestSessionThatIsAnotherSellerByNowCountsAsAnother(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	_, first := d.sms(saying(twin))
	require.Equal(t, room.Matched, first.Result)
	b := a.again(d, "b")
	d.pass(time.Second)
	b.expect()
	d.pass(time.Second)
	_, m := d.sms(saying(twin))
	requireNone(t, room.Ambiguous, m, "a's, or b's own")
	require.Equal(t, room.Locked, b.stand().Status)
}

// Rule 1 of docs/matching.md: the message may be the second code of a session that asked in two turns.
func TestLeaseThatDoesNotAskHasNoMessageWhileASecondCodeIsToCome(t *testing.T) {
	d := newDesk(t, room.Config{})
	start, a := d.now, d.asker("a")
	a.expect()
	a.leave(room.Cancelled)
	a.again(d, "a")
	d.at(start, 20)
	a.expect()
	next := d.plain("next")
	d.at(start, 25)
	d.sms()
	d.at(start, 35) // past the quarantine of a's first turn
	_, m := d.sms()
	requireNone(t, room.Ambiguous, m, "a's second code is to come")
	d.at(start, 55)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
	require.Len(t, messages(t, d.engine, next.session), 1)
}

// Rule 5 of docs/matching.md: the parts of a long message answer one ask at most, also if the first part was
// claimed or assigned.
func TestPartsAnswerOneAskThoughTheFirstWasClaimed(t *testing.T) {
	for _, how := range []string{"claimed", "assigned"} {
		t.Run(how, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			id, m := d.sms(part("r", 1))
			requireNone(t, room.NotExpected, m, "a has not asked")
			d.pass(time.Second)
			a.expect()
			d.pass(time.Second)
			a.expect()
			if how == "claimed" {
				x, err := a.claim(id)
				require.NoError(t, err)
				require.Equal(t, 1, x.Open)
			} else {
				d.assigned(id, a.stand().Fence)
			}
			d.settle(id, true)
			require.Equal(t, 1, a.stand().Lease.Open)
			d.pass(time.Second)
			_, m = d.sms(part("r", 2))
			require.Equal(t, room.Matched, m.Result)
			require.Equal(t, room.Locked, a.stand().Status, "its second code is still to come")
			require.NotEqual(t, room.Locked, b.stand().Status)
		})
	}
}

// Rule 2 of docs/matching.md: if the carrier's clock is slow, the part with the code is offered, whatever
// part came first.
func TestPartWithTheCodeIsOfferedWhereTheClockIsBehind(t *testing.T) {
	d := newDesk(t, room.Config{})
	_, b := d.after(30 * time.Second)
	_, m := d.sms(ago(time.Second), part("r", 1), without)
	requireNone(t, room.Ambiguous, m, "it may be either's")
	id, m := d.sms(ago(time.Second), part("r", 2))
	requireNone(t, room.Ambiguous, m, "it may be either's")
	require.Len(t, d.couldBe(id), 2)
	require.Len(t, offers(t, d.engine, b.session), 1, "it is offered to b")
}

// By a slow carrier clock, the message seems to have been sent before b was granted the lock. Support may
// still assign its part with the code to b.
func TestPartWithTheCodeMayBeAssignedWhereTheClockIsBehind(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(30 * time.Second)
	b := d.asker("b")
	x := b.expect()
	d.pass(time.Second)
	_, m := d.sms(ago(3*time.Second), part("r", 1), without)
	requireNone(t, room.Ambiguous, m, "it may be either's")
	id, m := d.sms(ago(3*time.Second), part("r", 2))
	requireNone(t, room.Ambiguous, m, "it may be either's")
	_, err := d.assign(id, x.Fence)
	require.NoError(t, err)
}

// Long messages to two sellers begin alike, and the code is in the second part.
func TestLongMessagesOfTwoSellersMayBeginAlike(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	const alike = "[쿠팡] 남에게 알려 주지 마세요."
	a.expect()
	d.sms(part("r", 1), saying(alike), without)
	_, m := d.sms(part("r", 2))
	require.True(t, m.Completes)
	d.pass(5 * time.Second)
	x := b.expect()
	d.pass(time.Second)
	d.sms(part("q", 1), saying(alike), without)
	_, m = d.sms(part("q", 2))
	require.Equal(t, room.Matched, m.Result, "b's code: no other ask is open")
	require.Equal(t, x.Fence, m.Fence)
}

// The filter of a's ask accepts only the first part of a long message, and the code is in the second.
func TestPartWithTheCodeAnswersTheAskWhosePieceIsInAnotherPart(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	q := a.request()
	q.Filter.Contains = "쿠팡"
	_, err := d.engine.Expect(t.Context(), integration, q)
	require.NoError(t, err)
	_, m := d.sms(part("r", 1), saying("[쿠팡] 알려 주지 마세요"), without)
	require.Equal(t, room.Matched, m.Result)
	_, m = d.sms(part("r", 2), saying("인증번호 482913"))
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, a.stand().Outcome, "one with a code answers one open ask")
}

// Rule 5: the same code, also in a spelling in which the finder reads another one or none.
func TestAnothersCodeInASpellingThatTheFinderReadsOtherwiseIsAmbiguous(t *testing.T) {
	for _, c := range []struct {
		code, text, found string // of A's message, and of the later one; found "" = none
		want              room.Result
	}{
		{"482913", "Your Google code is G482913", "G482913", room.Unmatched},
		{"G482913", "G-482913 is your code", "482913", room.Unmatched},
		{"AB482913", "[AB-482913]", "482913", room.Unmatched},
		{"482913", "https://x.example/v?c=482913", "", room.Unmatched},
		{"482913", "인증번호 4.8.2.9.1.3", "", room.Unmatched},
		{"482913", "코드 482,913", "", room.Unmatched},
		{"AB12CD", "code de vérification : ab12cd", "", room.Unmatched},
		{"482913", "인증번호 ４８２９１３", "482913", room.Unmatched},
		{"482913", "인증번호 482914, 주문 7482913", "482914", room.Matched},
		{"4829", "인증번호 482-9", "", room.Matched},
	} {
		d := newDesk(t, room.Config{})
		a, b := d.asker("a"), d.asker("b")
		a.expect()
		sent := func(text, code string) room.Match {
			_, m := d.sms(saying(text), func(q *room.MatchRequest) {
				if q.Shown.Code = nil; code != "" {
					q.Shown.Code = &code
				}
			})
			return m
		}
		require.Equal(t, room.Matched, sent("코드는 "+c.code, c.code).Result)
		d.pass(time.Second)
		b.expect()
		d.pass(time.Second)
		require.Equal(t, c.want, sent(c.text, c.found).Result, c.text)
		require.Empty(t, offers(t, d.engine, b.session))
	}
}
