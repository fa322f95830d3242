package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// A session that asks in two turns is sent two codes, and the first to come may be of either: nobody else asks before the second one's quarantine is over.
func TestSecondCodeOfASessionWithTwoTurnsGoesToNobodyElse(t *testing.T) {
	for name, rejects := range map[string]bool{"": false, "the first is taken back": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			turns := []int64{a.expect().Fence}
			a.leave(room.Cancelled)
			d.pass(20 * time.Second)
			_, err := d.engine.Join(d.Context(), integration, room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
			require.NoError(t, err)
			turns = append(turns, a.expect().Fence)
			asked := d.now
			next := d.asker("next")
			late := func() {
				_, m := d.sms()
				require.Equal(t, room.Late, m.Result)
				require.Contains(t, turns, m.Fence)
			}
			d.pass(5 * time.Second)
			first, m := d.sms()
			require.Equal(t, room.Matched, m.Result)
			require.Equal(t, room.Completed, a.stand().Outcome)
			if rejects { // then two are to come again
				require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, first))
				late()
			}
			d.pass(6 * time.Second) // the quarantine of the first ask is over
			require.Equal(t, asked.Add(30*time.Second).UnixMilli(), next.busy())
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

// What is the answer to a later ask alone says nothing of the earlier one: the number is free a quarantine after that.
func TestCodeThatOnlyTheLaterAskFitsKeepsTheNumberNoLonger(t *testing.T) {
	for name, turns := range map[string]int{"of one turn": 1, "of two turns": 2} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a := d.asker("a")
			expect := func(sender string) {
				q := a.request()
				q.Filter.From = []string{sender}
				_, err := d.engine.Expect(t.Context(), integration, q)
				require.NoError(t, err)
			}
			expect("15881234")
			asked := d.now
			if turns == 2 {
				a.leave(room.Cancelled)
				a.again(d, "a")
			}
			d.pass(20 * time.Second)
			expect("15770000")
			next := d.asker("next")
			_, m := d.sms(from("15770000"))
			require.Equal(t, room.Matched, m.Result)
			if turns == 1 {
				a.leave(room.Cancelled)
			}
			require.Equal(t, asked.Add(30*time.Second).UnixMilli(), next.busy())
			d.pass(10 * time.Second)
			next.expect()
			_, m = d.sms(from("15881234"), ago(time.Second))
			require.Equal(t, room.Late, m.Result)
			require.Empty(t, messages(t, d.engine, next.session))
		})
	}
}

// The first code may be of the first turn, and so the second one of the second: the third is to come, though the first ask is long out of quarantine.
func TestThirdCodeOfASessionWithThreeTurnsGoesToNobodyElse(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	again := func() {
		_, err := d.engine.Join(d.Context(), integration, room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
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
	asked := d.now
	next := d.asker("next")
	d.pass(5 * time.Second)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, asked.Add(30*time.Second).UnixMilli(), next.busy())
	_, m = d.sms()
	require.Equal(t, room.Late, m.Result)
	next.expect()
}
