package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestAskIsAtMostTenMinutesOld(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 10 * time.Minute})
	a := d.asker("a")
	a.expect()
	asked := a.stand().Fence
	d.pass(5 * time.Minute)
	a.leave(room.Cancelled)
	d.pass(5 * time.Minute)
	_, m := d.sms(without)
	require.Equal(t, asked, m.Fence, "and it is open still")
	d.pass(time.Millisecond)
	_, m = d.sms()
	requireNone(t, room.NoLease, m, "and the lock is free")
}

func TestWhereAsksAreRequiredEveryLeaseIsAsking(t *testing.T) {
	d := newDesk(t, room.Config{Required: true})
	a := d.plain("a")
	_, m := d.sms()
	requireNone(t, room.NotExpected, m, "it has not asked")
	require.Len(t, offers(t, d.engine, a.session), 1)
	a.expect()
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
}

func TestLeaseMayAskTenTimes(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	for n := range 10 {
		require.Equal(t, n+1, a.expect().Open)
		d.pass(time.Second)
	}
	_, err := d.engine.Expect(d.Context(), integration, a.request())
	require.ErrorIs(t, err, room.ErrTooManyAsks)
	require.Equal(t, 10, a.stand().Lease.Asked)
}

func TestOnlyTheHolderAsks(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	fence := a.stand().Fence
	for want, q := range map[error]room.ExpectRequest{
		room.ErrStaleFence: {Session: b.session, Fence: fence},
		room.ErrNoPlace:    {Session: room.NewSession(), Fence: fence},
	} {
		_, err := d.engine.Expect(d.Context(), integration, q)
		require.ErrorIs(t, err, want)
	}
	_, err := d.engine.Expect(d.Context(), integration,
		room.ExpectRequest{Session: a.session, Fence: fence - 1})
	require.ErrorIs(t, err, room.ErrStaleFence)
	require.Empty(t, d.records("asked"))
	require.Zero(t, a.stand().Lease.Asked)
}

func TestRepeatedAskIsTheSameAsk(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	q := a.request()
	q.Key = "press 1"
	first, err := d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	d.pass(5 * time.Minute / 4)
	again, err := d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, 1, a.stand().Lease.Asked)
	q.Key = "press 2"
	other, err := d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	require.Equal(t, 2, other.Asked)
}

func TestRefusedAskIsNotKept(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	q := b.request()
	q.Key = "press"
	_, err := d.engine.Expect(d.Context(), integration, q)
	require.ErrorIs(t, err, room.ErrNumberBusy)
	d.pass(30 * time.Second)
	x, err := d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	require.Equal(t, 1, x.Asked)
}

func TestLostReplyOfAnAskIsOneAsk(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	e := room.New(proxy.Client(), room.Config{Journal: 100})
	a := newSeller(t, e, "a")
	fence := a.join().Fence
	lost := proxy.DropNextReply(mentions("request:"))
	x, err := e.Expect(t.Context(), integration, room.ExpectRequest{Session: a.session, Fence: fence})
	<-lost
	require.NoError(t, err)
	require.Equal(t, 1, x.Asked)
	require.Equal(t, 1, a.stand().Lease.Asked)
	require.Equal(t, 1, journalled(t, e, "asked"))
}

func TestFilterOfAnAskThatTheStoreLostIsNotTheNextOnes(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, lost := d.asker("a"), d.remember()
	a.only(shop)
	_, m := d.sms(from("15889999"))
	requireNone(t, room.NotExpected, m, "the engine knows by now what a wants")
	lost()
	d.pass(40 * time.Second)
	elsewhere := a
	elsewhere.engine = room.New(d.rdb, d.engine.Config())
	elsewhere.only(other)
	d.pass(time.Second)
	_, m = d.sms(from(other))
	require.Equal(t, room.Matched, m.Result)
}
