package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/waitroom/waitroom/room"
)

// Rule 5 of docs/matching.md: messages with the same sender and text count as one message.
func TestSameTextIsTheSameMessageWhateverItsID(t *testing.T) {
	t.Run("it answers one more ask", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a, b := d.asker("a"), d.asker("b")
		a.expect()
		d.pass(20 * time.Second)
		a.expect()
		d.pass(time.Second)
		_, first := d.sms(saying("인증번호 482913"))
		require.False(t, first.Completes)
		d.pass(time.Second)
		_, m := d.sms(saying("인증번호 482913"))
		require.True(t, m.Duplicate)
		require.Equal(t, first.Fence, m.Fence)
		require.True(t, m.Completes, "nothing is open any more")
		require.Equal(t, room.Completed, a.stand().Outcome)
		require.Len(t, messages(t, d.engine, a.session), 1, "it is shown once")
		b.expect()
	})
	t.Run("the next lease is untouched", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a, b := d.plain("a"), d.plain("b")
		_, first := d.sms(saying("인증번호 482913"))
		d.pass(5 * time.Second)
		require.Equal(t, room.Locked, b.stand().Status)
		id, m := d.sms(saying("인증번호 482913"))
		require.True(t, m.Duplicate)
		require.Equal(t, first.Fence, m.Fence)
		require.Equal(t, room.Matched, m.Result, "as the first answer")
		require.False(t, m.Judge, "and nothing is bound anew")
		require.Equal(t, room.Locked, b.stand().Status)
		require.Equal(t, m, match(t, d.engine, sms(id, 0, 0)), "a repeat gets the same answer")
		require.NotEmpty(t, a.stand().Outcome)
		d.pass(10 * time.Minute)
		d.plain("c")
		_, m = d.sms(saying("인증번호 482913"))
		require.False(t, m.Duplicate, "after ten minutes it is another")
	})
	t.Run("a later lease of the same session that asks has it", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expect()
		_, first := d.sms(saying("인증번호 482913"))
		again := d.asker("x")
		again.leave(room.Cancelled)
		_, err := d.engine.Join(d.Context(), integration,
			room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
		require.NoError(t, err)
		d.pass(time.Minute)
		x := a.expect()
		_, m := d.sms(saying("인증번호 482913"))
		require.True(t, m.Duplicate)
		require.Greater(t, x.Fence, first.Fence)
		require.Equal(t, x.Fence, m.Fence)
		require.Equal(t, room.Completed, a.stand().Outcome)
		require.Len(t, messages(t, d.engine, a.session), 1)
	})
	t.Run("an unmatched text is matched again", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		_, m := d.sms(saying("인증번호 482913"))
		requireNone(t, room.NotExpected, m, "no session asked")
		d.pass(time.Second)
		a.expect()
		_, m = d.sms(saying("인증번호 482913"))
		require.Equal(t, room.Matched, m.Result)
		require.False(t, m.Duplicate)
	})
	t.Run("another sender's is another", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		d.plain("a")
		d.plain("b")
		_, first := d.sms(saying("인증번호 482913"))
		d.pass(time.Second)
		_, m := d.sms(saying("인증번호 482913"), from("02-000-0000"))
		require.False(t, m.Duplicate)
		require.NotEqual(t, first.Fence, m.Fence)
	})
}

func part(ref string, n int) func(*room.MatchRequest) {
	return func(q *room.MatchRequest) { q.Part = room.Part{Ref: ref, Parts: 2, Part: n} }
}

func TestPartsOfOneMessageBelongTogether(t *testing.T) {
	t.Run("the second comes in the next lease", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a, b := d.plain("a"), d.plain("b")
		_, first := d.sms(part("r", 1))
		require.Equal(t, room.Completed, a.stand().Outcome)
		d.pass(59 * time.Second)
		_, m := d.sms(part("r", 2))
		require.Equal(t, room.Late, m.Result)
		require.Equal(t, first.Fence, m.Fence)
		require.Equal(t, room.Locked, b.stand().Status)
		require.Len(t, messages(t, d.engine, a.session), 2)
	})
	t.Run("they answer one ask", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expect()
		d.pass(time.Second)
		a.expect()
		d.sms(part("r", 2))
		require.Equal(t, 1, a.stand().Lease.Open)
		d.sms(part("r", 1))
		require.Equal(t, 1, a.stand().Lease.Open)
		require.Equal(t, room.Locked, a.stand().Status)
	})
	t.Run("the code is in the second", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expect()
		d.sms(part("r", 1), without)
		require.Equal(t, 1, a.stand().Lease.Open)
		d.sms(part("r", 2))
		require.Equal(t, room.Completed, a.stand().Outcome)
	})
	t.Run("the first was unmatched", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		d.sms(part("r", 1))
		d.pass(time.Second)
		a.expect()
		_, m := d.sms(part("r", 2))
		requireNone(t, room.NotExpected, m, "nor does the second")
	})
	t.Run("where they begin alike, the code is not led astray", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		const alike = "남에게 알려 주지 마세요."
		a := d.asker("a")
		a.expect()
		d.sms(part("r", 2), saying(alike), without)
		d.sms(part("r", 1), saying("인증번호 482913"))
		require.Equal(t, room.Completed, a.stand().Outcome)
		_, err := d.engine.Join(d.Context(), integration,
			room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
		require.NoError(t, err)
		again := a.expect()
		a.leave(room.Cancelled)
		d.pass(31 * time.Second)
		b := d.asker("b")
		x := b.expect()
		d.pass(time.Second)
		_, m := d.sms(part("q", 2), saying(alike), without)
		require.Equal(t, again.Fence, m.Fence, "by its text only")
		_, m = d.sms(part("q", 1), saying("인증번호 555555"))
		require.Equal(t, x.Fence, m.Fence)
		require.Equal(t, room.Completed, b.stand().Outcome)
	})
	t.Run("a repeated part leads the code to no other session", func(t *testing.T) {
		for name, others := range map[string]struct {
			asks bool
			want room.Reason
		}{"the first was matched": {true, room.Ambiguous},
			"the first was unmatched": {false, room.NotExpected}} {
			t.Run(name, func(t *testing.T) {
				d := newDesk(t, room.Config{})
				a, b := d.asker("a"), d.asker("b")
				if others.asks {
					a.expect()
				}
				d.pass(time.Second)
				d.sms(part("r", 2), saying("고맙습니다"), without)
				a.leave(room.Cancelled)
				d.pass(31 * time.Second)
				x := b.expect()
				d.pass(time.Second)
				d.sms(part("r", 2), saying("고맙습니다"), without)
				_, m := d.sms(part("r", 1))
				require.NotEqual(t, x.Fence, m.Fence)
				requireNone(t, others.want, m,
					"it may be of the message that came before, and of one that has its ref again")
				require.Equal(t, room.Locked, b.stand().Status)
			})
		}
	})
	t.Run("a part that comes again in the same lease does not part them", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		x := a.expect()
		d.sms(part("r", 2), saying("고맙습니다"), without)
		d.sms(part("r", 2), saying("고맙습니다"), without)
		_, m := d.sms(part("r", 1))
		require.Equal(t, x.Fence, m.Fence)
		require.Equal(t, room.Completed, a.stand().Outcome)
	})
	t.Run("what has the ref of a whole one is another", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expect()
		d.sms(part("r", 1))
		d.sms(part("r", 2), saying("고맙습니다"), without)
		b := d.asker("b")
		x := b.expect()
		d.pass(time.Second)
		d.sms(part("r", 2), saying("안녕히 계세요"), without)
		_, m := d.sms(part("r", 1))
		require.Equal(t, x.Fence, m.Fence)
		require.Equal(t, room.Completed, b.stand().Outcome)
	})
	t.Run("a minute later it is another", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		d.plain("a")
		d.plain("b")
		_, first := d.sms(part("r", 1))
		d.pass(time.Minute + time.Millisecond)
		_, m := d.sms(part("r", 2))
		require.Greater(t, m.Fence, first.Fence)
	})
}

func TestPartsThatAreBothClaimedOrAssignedAnswerOneAsk(t *testing.T) {
	ways := map[string]func(d *desk, a seller, id string){
		"claimed":  func(d *desk, a seller, id string) { _, err := a.claim(id); require.NoError(d, err) },
		"assigned": func(d *desk, a seller, id string) { d.assigned(id, a.stand().Fence) },
	}
	for how, give := range ways {
		t.Run(how, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			one, _ := d.sms(part("r", 1))
			two, m := d.sms(part("r", 2))
			requireNone(t, room.NotExpected, m, "it was sent before a asked")
			d.pass(time.Second)
			a.expect()
			a.expect()
			for _, id := range []string{one, two} {
				give(d, a, id)
				d.settle(id, true)
			}
			require.Equal(t, 1, a.stand().Lease.Open, "the second code is still to come")
			require.Len(t, messages(t, d.engine, a.session), 2)
		})
	}
}

// If the carrier's clock is behind, a message that seems to be older than an ask may be its answer, but only
// support and the session may decide that. That the same text comes again during the lease does not show
// whose it is.
func TestATextThatFirstCameBeforeTheLeaseIsNotMatchedWhenItComesAgain(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.plain("a")
	a.leave(room.Cancelled)
	d.pass(31 * time.Second)
	b := d.asker("b")
	b.expect()
	sent := d.now.Add(-2 * time.Second).UnixMilli()
	first := sms("first", sent, sent+1)
	requireNone(t, room.Ambiguous, match(t, d.engine, first), "it may be a's")
	again := sms("again", d.now.UnixMilli(), d.now.UnixMilli()+1)
	again.Shown.Text = first.Shown.Text
	requireNone(t, room.Ambiguous, match(t, d.engine, again), "so may this one")
	claim := b.request()
	claim.MessageID = "first"
	_, err := d.engine.Expect(d.Context(), integration, claim)
	require.NoError(t, err, "the session may still say that it is its own")
	require.Equal(t, room.Completed, b.stand().Outcome)
}

// Two phones or providers that report one SMS write it in different ways.
func TestSameTextIsTheSameHoweverItIsWritten(t *testing.T) {
	const text = "[Web발신]\n[쿠팡] 인증번호 482913"
	for name, other := range map[string]string{
		"without the mark": "[쿠팡] 인증번호 482913", "another mark": "[국제발신] [쿠팡] 인증번호 482913",
		"line ends": "[Web발신]\r\n[쿠팡] 인증번호 482913\r\n", "blanks": " [Web발신]\n[쿠팡]\u00a0인증번호  482913",
		"decomposed": norm.NFD.String(text), "invisible": text + "\u200b", "full width": "[Web발신]\n[쿠팡] 인증번호 ４８２９１３",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			d.sms(saying(text))
			d.pass(time.Second)
			b.expect()
			d.pass(time.Second)
			_, m := d.sms(saying(other))
			requireNone(t, room.Ambiguous, m, "the text that a got, or b's own")
			require.Empty(t, messages(t, d.engine, b.session))
		})
	}
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.sms(saying(text))
	_, m := d.sms(saying("[Web발신]\n[쿠팡] 인증번호 4829131"))
	require.False(t, m.Duplicate, "another code")
}

func TestAskFindsItsPieceHoweverItIsWritten(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expectOnly("쿠팡 인증번호")
	_, m := d.sms(saying("쿠\u200b팡\u00a0인증번호 482913"))
	require.Equal(t, room.Matched, m.Result)
	for _, blank := range []string{" ", "\u200b"} {
		require.ErrorIs(t, room.Filter{Contains: blank}.Valid(), room.ErrInvalidExpect, "it would be in every text")
	}
}
