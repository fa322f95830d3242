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
