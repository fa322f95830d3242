package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// after returns seller a, which asked and left, and seller b, which asks when `wait` has passed since.
func (d *desk) after(wait time.Duration) (a, b seller) {
	d.Helper()
	a, b = d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(wait)
	b.expect()
	return a, b
}

// Rule 2 of docs/matching.md: by a slow carrier clock, b's code seems to be older than b's ask, and so to be
// a's.
func TestClockThatIsBehindPutsNoCodeOnAnothersPage(t *testing.T) {
	for _, lag := range []time.Duration{time.Millisecond, time.Second, 3 * time.Second,
		4999 * time.Millisecond} {
		t.Run(lag.String(), func(t *testing.T) {
			d := newDesk(t, room.Config{})
			a, b := d.after(30 * time.Second)
			id, m := d.sms(ago(lag))
			requireNone(t, room.Ambiguous, m, "it may be either's")
			require.Empty(t, messages(t, d.engine, a.session))
			require.Equal(t, "carrier_clock", d.records("incident")[0].Action)
			require.Equal(t, id, offers(t, d.engine, b.session)[0].MessageID)
			require.Len(t, d.couldBe(id), 2, "support may give it to either")
			x, err := b.claim(id)
			require.NoError(t, err)
			require.Zero(t, x.Open, "it answers the ask")
			d.settle(id, true)
			require.Len(t, messages(t, d.engine, b.session), 1)
		})
	}
}

// Rule 1 of docs/matching.md: b's code seems to have been sent during a's lease. That lease never asks and
// has its code, so b could ask at once.
func TestClockThatIsBehindPutsNoCodeOnThePageOfALeaseThatNeverAsked(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.plain("a"), d.asker("b")
	d.pass(5 * time.Second)
	d.sms()
	d.pass(time.Second)
	b.expect()
	d.pass(time.Second)
	id, m := d.sms(ago(3 * time.Second))
	requireNone(t, room.Ambiguous, m, "it may be either's")
	require.Len(t, messages(t, d.engine, a.session), 1, "its own alone")
	require.Equal(t, id, offers(t, d.engine, b.session)[0].MessageID)
}

// A slow code, possibly a's, ended b's turn, so the next message, which seems to be a's, is unmatched. It is
// offered to c all the same.
func TestCodeThatAnotherMayHaveDisplacedIsOfferedToTheSessionThatAskedNext(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b, c := d.asker("a"), d.asker("b"), d.asker("c")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(31 * time.Second)
	b.expect()
	d.pass(2 * time.Second)
	d.sms()
	require.Equal(t, room.Completed, b.stand().Outcome)
	d.pass(time.Second)
	c.expect()
	d.pass(time.Second)
	id, m := d.sms(ago(2 * time.Second))
	requireNone(t, room.Ambiguous, m, "a's, b's own, or c's")
	require.Equal(t, id, offers(t, d.engine, c.session)[0].MessageID)
}

func TestCodeOfALeaseThatIsOverIsItsOwnWhereNoClockCanBeTheCause(t *testing.T) {
	t.Run("the other asked too long after it", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		d.after(31 * time.Second)
		_, m := d.sms(ago(5001 * time.Millisecond))
		require.Equal(t, room.Late, m.Result)
	})
	t.Run("it is the same seller's", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expect()
		a.leave(room.Cancelled)
		d.pass(30 * time.Second)
		a.again(d, "a").expect()
		_, m := d.sms(ago(time.Second))
		require.Equal(t, room.Late, m.Result)
	})
}

// The filter of the other seller's ask does not matter. It may be too narrow, and a part of a long message
// may lack the text that the filter wants.
func TestClockMayBeTheCauseWhateverTheOtherAskedFor(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(30 * time.Second)
	b.only(other)
	_, m := d.sms(ago(time.Second), from(shop))
	requireNone(t, room.Ambiguous, m, "a's late one, or what b's clock made older")
}

// Seller b's turn is over, and the code that answered b's ask may have been a's.
func TestClockMayBeTheCauseThoughTheOthersAskIsAnswered(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.after(30 * time.Second)
	d.sms()
	require.Equal(t, room.Completed, b.stand().Outcome)
	_, m := d.sms(ago(time.Second))
	requireNone(t, room.Ambiguous, m, "a's, or b's own")
	require.Empty(t, messages(t, d.engine, a.session))
}

func TestMessageThatAClockMayBeTheCauseOfIsOfferedOnlyWithACodeAndToTheHolder(t *testing.T) {
	d := newDesk(t, room.Config{})
	_, b := d.after(30 * time.Second)
	_, m := d.sms(ago(time.Second), without)
	requireNone(t, room.Ambiguous, m, "without a code there is nothing to claim")
	require.Empty(t, offers(t, d.engine, b.session))
	b.leave(room.Cancelled)
	id, m := d.sms(ago(time.Second))
	requireNone(t, room.Ambiguous, m, "b holds the lock no more")
	require.Empty(t, offers(t, d.engine, b.session))
	require.Len(t, d.couldBe(id), 2)
}

// Rule 2 of docs/matching.md: a lease without asks ended without a code, and the carrier's clock is slow.
func TestCodeThatMayBeOfALeaseThatNeverAskedIsOfferedWhereTheClockIsBehind(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.plain("a"), d.asker("b")
	d.pass(time.Second)
	a.leave(room.Cancelled)
	d.pass(30 * time.Second)
	b.expect()
	d.pass(time.Second)
	_, m := d.sms(ago(2 * time.Second))
	requireNone(t, room.Ambiguous, m, "it may be either's")
	require.Len(t, offers(t, d.engine, b.session), 1, "b asked a second later")
}
