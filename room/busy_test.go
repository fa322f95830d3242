package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// Rule 3 of docs/matching.md: the time for which the holder may not ask is added to its lease, once.
func TestBusyNumberPutsTheLeaseOffOnce(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 40 * time.Second})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	before := b.stand()
	require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), before.Lease.AskAfter, "known at the grant")
	d.pass(10 * time.Second)
	b.busy()
	require.Equal(t, before.Lease.ExpiresAt+20_000, b.stand().Lease.ExpiresAt, "by what it has to wait")
	d.pass(5 * time.Second)
	b.busy()
	require.Equal(t, before.Lease.ExpiresAt+20_000, b.stand().Lease.ExpiresAt)
	require.Len(t, d.records("extended"), 1)
	d.pass(15*time.Second - time.Millisecond)
	b.busy()
	d.pass(time.Millisecond)
	x := b.expect()
	require.Equal(t, 1, x.Asked)
	require.Equal(t, 1, x.Open)
	require.Equal(t, before.Lease.ExpiresAt+20_000, x.ExpiresAt)
}

// Redis's clock was set back, so the times of earlier asks are in its future.
func TestBusyNumberPutsTheLeaseOffByTheQuarantineAtMostThoughTheClockWentBack(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 40 * time.Second})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(-time.Minute)
	left := b.stand().Lease.ExpiresAt - b.stand().Now
	b.busy()
	st := b.stand()
	require.Equal(t, left+30_000, st.Lease.ExpiresAt-st.Now)
}

func TestBusyNumberMakesNoLeaseLongerThanTenMinutes(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 10 * time.Minute, Quarantine: 5 * time.Minute})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	granted := b.stand().Lease.GrantedAt
	b.busy()
	require.Equal(t, granted+600_000, b.stand().Lease.ExpiresAt)
}

func TestNumberIsNotBusyWhereNoOtherCodeMayCome(t *testing.T) {
	t.Run("all were answered", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a, b := d.asker("a"), d.asker("b")
		a.expect()
		d.sms()
		require.Equal(t, room.Completed, a.stand().Outcome)
		b.expect()
	})
	t.Run("it is the same session's", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a := d.asker("a")
		a.expect()
		a.leave(room.Cancelled)
		a.join()
		a.expect()
	})
	t.Run("its session asked once more, and one was answered", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		a, b := d.asker("a"), d.asker("b")
		a.expect()
		d.pass(10 * time.Second)
		a.expect()
		_, m := d.sms()
		require.Equal(t, room.Matched, m.Result)
		require.False(t, m.Completes, "an ask is open")
		require.Equal(t, room.Locked, a.stand().Status)
		a.leave(room.Completed)
		require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), b.busy(), "the later ask is open")
	})
	t.Run("its own is open, and the other's was answered late", func(t *testing.T) {
		d := newDesk(t, room.Config{})
		x, a := d.asker("x"), d.asker("a")
		x.expect()
		x.leave(room.Cancelled)
		d.pass(5 * time.Second)
		d.sms()
		a.expect()
		a.leave(room.Cancelled)
		d.pass(2 * time.Second)
		a.join()
		a.expect()
	})
	t.Run("without a quarantine", func(t *testing.T) {
		d := newDesk(t, room.Config{Quarantine: -1})
		a, b := d.asker("a"), d.asker("b")
		a.expect()
		a.leave(room.Cancelled)
		b.expect()
	})
}

// A session that announces no asks may have asked for a code at any time until its lease ended.
func TestLeaseThatIsNotAskingAndGotNoCodeKeepsTheNumberBusy(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.plain("a"), d.asker("b")
	d.pass(10 * time.Second)
	a.leave(room.Completed)
	ended := d.now
	require.Equal(t, ended.Add(30*time.Second).UnixMilli(), b.busy())
	d.pass(40 * time.Second)
	_, m := d.sms(ago(5 * time.Second))
	requireNone(t, room.Ambiguous, m, "it may be the answer to what a asked for")
	x := b.expect()
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result, "b asked last")
	require.Equal(t, x.Fence, m.Fence)
}

func TestNumberIsBusyWithAnothersCodeAlsoWhereOnesOwnIsTheLatest(t *testing.T) {
	d := newDesk(t, room.Config{})
	x, y := d.asker("x"), d.plain("y")
	x.expect()
	asked := d.now
	x.leave(room.Cancelled)
	d.pass(time.Second)
	y.leave(room.Cancelled) // y announces no asks, so it may have asked as well
	_, err := d.engine.Join(d.Context(), integration,
		room.JoinRequest{Session: y.session, Seller: "y", Asks: true})
	require.NoError(t, err)
	require.Equal(t, asked.Add(30*time.Second).UnixMilli(), y.busy())
}

// again joins once more from the same session, for the same or another seller.
func (s seller) again(d *desk, name string) seller {
	d.Helper()
	s.name = name
	_, err := d.engine.Join(d.Context(), integration,
		room.JoinRequest{Session: s.session, Seller: name, Asks: true})
	require.NoError(d, err)
	return s
}

// If sellers need not sign in (SELLER_AUTH=open), a session that joins as another seller counts as another
// session.
func TestSessionMayAskAgainAtOnceAsTheSameSellerOnly(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	a.leave(room.Cancelled)
	a.again(d, "a").expect()
	asked := d.now
	a.leave(room.Cancelled)
	require.Equal(t, asked.Add(30*time.Second).UnixMilli(), a.again(d, "b").busy())
}

// The session's earlier ask was for another sender.
func TestCodeIsOfferedThoughTheHoldersEarlierAskIsOpen(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	q := a.request()
	q.Filter = room.Filter{From: []string{"15881234"}}
	_, err := d.engine.Expect(t.Context(), integration, q)
	require.NoError(t, err)
	d.pass(time.Second)
	a.leave(room.Cancelled)
	a.again(d, "a")
	d.pass(time.Second)
	_, m := d.sms(from("15770000"))
	requireNone(t, room.NotExpected, m, "it is not what was asked for")
	require.Len(t, offers(t, d.engine, a.session), 1)
}
