package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// couldBe returns the fences of the leases that support may assign a message to.
func (d *desk) couldBe(messageID string) (fences []int64) {
	for _, l := range d.recent() {
		for _, c := range l.Could {
			if l.MessageID == messageID {
				fences = append(fences, c.Fence)
			}
		}
	}
	return fences
}

// Rule 5 of docs/matching.md: messages with the same sender and text count as one message, and so do the
// parts of a long one. Such messages go to one seller only.
func TestSameMessageIsAssignedToOneSellerOnly(t *testing.T) {
	for name, how := range map[string]struct {
		one, other func(*room.MatchRequest)
		offers     int // of the other message, to the session that cannot have caused the first one
	}{
		"the same text":   {saying("one"), saying("one"), 0},
		"parts of a text": {part("r", 1), part("r", 2), 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			first := a.stand().Fence
			d.pass(time.Second)
			one := d.stray(how.one)
			d.pass(time.Second)
			a.leave(room.Cancelled)
			second := b.stand().Fence
			d.pass(time.Second)
			other := d.stray(how.other)
			require.Len(t, offers(t, d.engine, b.session), how.offers)

			d.assigned(one, first)
			require.Empty(t, offers(t, d.engine, b.session), "it is asked no more")
			for _, settled := range []bool{false, true} {
				_, err := d.assign(other, second)
				require.ErrorIs(t, err, room.ErrAlreadyMatched)
				_, err = b.claim(other)
				require.ErrorIs(t, err, room.ErrNoMessage)
				require.NotContains(t, d.couldBe(other), second)
				if !settled {
					d.settle(one, true)
				}
			}
			require.Empty(t, messages(t, d.engine, b.session))
			require.Len(t, messages(t, d.engine, a.session), 1)

			d.settle(one, false)
			require.Contains(t, d.couldBe(other), second, "it is unmatched again")
			d.assigned(other, second)
		})
	}
}

// Of two messages with the same text, one is assigned to seller a. The other may go to a if it may have been
// sent in a's lease.
func TestSameTextIsAssignedToTheSameSellerAgain(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	first := a.stand().Fence
	d.pass(time.Second)
	one := d.stray(saying("one"))
	d.pass(time.Second)
	a.leave(room.Cancelled)
	d.pass(time.Second)
	other := d.stray(saying("one"), func(q *room.MatchRequest) { q.From -= 1500 })
	require.Len(t, d.couldBe(other), 2)
	d.assigned(one, first)
	require.Equal(t, []int64{first}, d.couldBe(other))
	_, err := d.assign(other, b.stand().Fence)
	require.ErrorIs(t, err, room.ErrAlreadyMatched)
	require.Equal(t, first, d.assigned(other, first).Fence)
}

func TestSameTextThatItsHolderClaimedIsAssignedToNoOtherSeller(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	first := a.stand().Fence
	a.expect()
	d.sms()
	require.Equal(t, room.Completed, a.stand().Outcome)
	d.pass(time.Second)
	one := d.stray(saying("one"))
	d.pass(time.Second)
	other := d.stray(saying("one"))
	_, err := b.claim(other)
	require.NoError(t, err)
	_, err = d.assign(one, first)
	require.ErrorIs(t, err, room.ErrAlreadyMatched)
	require.NotContains(t, d.couldBe(one), first)
	d.settle(other, false)
	d.assigned(one, first)
}

func TestMatchedMessageIsNotAssigned(t *testing.T) {
	for name, belongs := range map[string]func(d *desk, a seller) string{
		"matched": func(d *desk, a seller) string {
			a.expect()
			id, m := d.sms()
			require.Equal(d, room.Matched, m.Result)
			return id
		},
		"waiting for the verdict": func(d *desk, a seller) string {
			a.expect()
			require.True(d, match(d.T, d.engine, sms("m", d.now.UnixMilli(), d.now.UnixMilli()+1)).Judge)
			return "m"
		},
		"claimed": func(d *desk, a seller) string {
			id := d.stray()
			_, err := a.claim(id)
			require.NoError(d, err)
			d.settle(id, true)
			return id
		},
		"claimed, the verdict is out": func(d *desk, a seller) string {
			id := d.stray()
			_, err := a.claim(id)
			require.NoError(d, err)
			return id
		},
		"assigned": func(d *desk, a seller) string {
			id := d.stray()
			d.assigned(id, a.stand().Fence)
			d.settle(id, true)
			return id
		},
		"the same text again": func(d *desk, a seller) string {
			a.expect()
			d.sms(saying("one"))
			id, m := d.sms(saying("one"))
			require.True(d, m.Duplicate)
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			fence := a.stand().Fence
			id := belongs(d, a)
			for _, when := range []string{"while its text is there", "after"} {
				before := len(d.records("action"))
				_, err := d.assign(id, fence)
				require.ErrorIs(t, err, room.ErrAlreadyMatched, when)
				require.Len(t, d.records("action"), before)
				d.pass(10*time.Minute + time.Second)
			}
		})
	}
}

// Many long messages end with the same words, so the text of a last part does not show whose code another
// part has.
func TestPartThatIsKnownByItsTextAloneLeavesTheCodeToItsOwnSeller(t *testing.T) {
	d := newDesk(t, room.Config{})
	const alike = "쿠팡은 묻지 않아요."
	a := d.asker("a")
	a.expect()
	d.sms(saying(alike), without)
	_, m := d.sms(saying("인증번호 482913"))
	require.True(t, m.Completes)
	_, err := d.engine.Join(d.Context(), integration,
		room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
	require.NoError(t, err)
	again := a.expectOnly("쿠팡")
	a.leave(room.Cancelled)
	d.pass(31 * time.Second)
	b := d.asker("b")
	fence := b.stand().Fence
	d.pass(time.Second)
	_, m = d.sms(part("q", 2), saying(alike), without)
	require.Equal(t, again.Fence, m.Fence)
	code := d.stray(part("q", 1), saying("인증번호 555555"))
	require.Contains(t, d.couldBe(code), fence)
	d.assigned(code, fence)
}
