package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestAssignmentAfterTenMinutesIsARecordOnly(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.plain("b")
	fence := a.stand().Fence
	a.expectOnly("쿠팡")
	asked := d.now
	d.pass(time.Second)
	a.leave(room.Cancelled)
	id, first := d.sms(foreign)
	b.leave(room.Cancelled)
	d.pass(10*time.Minute + time.Second)
	d.sleep()

	m := d.assigned(id, fence)
	require.True(t, m.Forgotten)
	require.Equal(t, room.Late, m.Result)
	require.Contains(t, d.active(), integration, "the room was asleep: its journal has to be drained")
	_, err := d.assign(id, fence)
	require.ErrorIs(t, err, room.ErrAlreadyMatched)
	d.settle(id, true)
	require.Empty(t, messages(t, d.engine, a.session))
	require.Equal(t, first, d.again(id))

	soon := func(q *room.MatchRequest) { // sent right after seller a asked, and received very late
		q.From, q.To, q.Shown.Text = asked.UnixMilli()+10, asked.UnixMilli()+11, "쿠팡"
	}
	_, other := d.sms(soon)
	requireNone(t, room.NotExpected, other, "a's ask has its answer")
	d.settle(id, false)
	require.Equal(t, first, d.again(id))
	asked = asked.Add(time.Millisecond)
	_, other = d.sms(soon)
	require.Equal(t, room.Late, other.Result, "its ask is open again")
	require.Equal(t, fence, other.Fence)
	require.Equal(t, room.Late, d.assigned(id, fence).Result, "and it may be assigned again")
}

func TestAssignmentAsARecordIsPossibleForADay(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.plain("a")
	fence := a.stand().Fence
	id := d.stray(foreign)
	a.leave(room.Cancelled)
	for range 24 {
		d.pass(time.Hour)
		d.sleep()
	}
	require.True(t, d.assigned(id, fence).Forgotten)
	id = d.stray(foreign)
	d.pass(26 * time.Hour)
	_, err := d.assign(id, fence)
	require.ErrorIs(t, err, room.ErrNoMessage)
}

func TestMessageOfAnOlderProgramIsAssignedOnlyWhileItsTextIsThere(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.plain("a")
	fence := a.stand().Fence
	for range 2 {
		d.stray(foreign)
	}
	for _, key := range d.store.Keys() {
		if d.store.Type(key) == "hash" && len(key) > len("{integration}:sms:") &&
			key[:len("{integration}:sms:")] == "{integration}:sms:" {
			for _, field := range []string{"from", "to", "code"} {
				d.store.HDel(key, field)
			}
		}
	}
	d.assigned("m1", fence, keep)
	d.pass(10*time.Minute + time.Second)
	_, err := d.assign("m2", fence)
	require.ErrorIs(t, err, room.ErrNotPossible)
	_, err = d.assign("m2", fence+1)
	require.ErrorIs(t, err, room.ErrStaleFence)
	_, err = d.assign("m1", fence)
	require.ErrorIs(t, err, room.ErrAlreadyMatched)
}

func TestRejectedMessageMayBeAssignedToAnotherLease(t *testing.T) {
	for name, gone := range map[string]time.Duration{"while its text is there": 0,
		"as a record": 10*time.Minute + time.Second} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			id, first := d.sms()
			require.Equal(t, room.Matched, first.Result)
			other := b.stand().Fence
			require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, first.Fence, id))
			d.pass(gone)
			m := d.assigned(id, other)
			require.Equal(t, other, m.Fence)
			require.Equal(t, gone != 0, m.Forgotten)
			for _, agreed := range []bool{true, false, false} {
				d.settle(id, agreed)
				require.Equal(t, first.Fence, d.again(id).Fence, "the carrier still gets the first answer")
				require.Empty(t, messages(t, d.engine, a.session))
			}
			d.assigned(id, other)
		})
	}
}

// A process may die between sending the ledger's verdict on a match and trimming the journal. The verdict is
// then sent again, whatever has changed since.
func TestVerdictOnALeaseThatAMessageBelongsToNoMoreChangesNothing(t *testing.T) {
	for name, gone := range map[string]time.Duration{"while its text is there": 0,
		"as a record": 10*time.Minute + time.Second} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			id, first := d.sms()
			other := b.stand().Fence
			require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, first.Fence, id))
			d.pass(gone)
			d.assigned(id, other)
			verdict := func(fence int64, agreed bool) {
				require.NoError(t, d.engine.SettleMatch(t.Context(), integration, id, fence, agreed))
			}
			verdict(first.Fence, true)
			require.Empty(t, messages(t, d.engine, b.session),
				"the verdict on its own lease is not there yet")
			verdict(first.Fence, false)
			_, err := d.assign(id, other)
			require.ErrorIs(t, err, room.ErrAlreadyMatched, "nor was it taken back")
			verdict(other, true)
			require.Len(t, messages(t, d.engine, b.session), map[bool]int{true: 1}[gone == 0])
			verdict(first.Fence, false)
			require.Len(t, messages(t, d.engine, b.session), map[bool]int{true: 1}[gone == 0])
			verdict(other, false)
			require.Empty(t, messages(t, d.engine, b.session))
			d.assigned(id, other)
		})
	}
}
