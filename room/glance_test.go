package room_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

func (d *desk) glance() room.Glance {
	d.Helper()
	g, err := d.engine.Glance(d.Context(), integration)
	require.NoError(d, err)
	return g
}

func TestGlanceSummarisesARoom(t *testing.T) {
	d := newDesk(t, room.Config{})
	require.Equal(t, room.Glance{View: room.View{Now: d.now.UnixMilli(), Room: wire.Room{Hold: 2 * time.Minute}}}, d.glance(),
		"it was never used")

	begin := d.now.UnixMilli()
	a := d.asker("a")
	require.Equal(t, []int64{begin}, d.glance().Grants)
	d.pass(time.Second)
	b := d.asker("-")
	d.pass(time.Second)
	c := d.asker("c")
	g := d.glance()
	require.Equal(t, a.name, g.Holder)
	require.Equal(t, 2, g.Waiting)
	require.Equal(t, begin+1000, g.Oldest)
	_, err := d.engine.Move(t.Context(), integration, "", c.stand().Ticket, 1, byKim)
	require.NoError(t, err)
	require.Equal(t, begin+1000, d.glance().Oldest, "the earliest, not the first")

	b.gone()
	d.pass(15*time.Second + time.Millisecond)
	require.Equal(t, 1, d.glance().Away)
	d.pass(6*time.Second - time.Millisecond)
	c.leave(room.Cancelled)
	require.Zero(t, d.glance().Leases, "a waiter's end is no lease's")
	b.here(time.Hour)
	d.pass(2*time.Minute - 23*time.Second)
	g = d.glance()
	require.Equal(t, "-", g.Holder)
	require.Equal(t, []int64{begin, begin + 120_000}, g.Grants)
	require.Equal(t, [2]int{1, 1}, [2]int{g.Leases, g.Expired})
	require.Zero(t, g.Oldest)
	d.pass(time.Second)
	b.leave(room.Completed)
	g = d.glance()
	require.Equal(t, [2]int{2, 1}, [2]int{g.Leases, g.Expired})
	require.Nil(t, g.Lease)
	require.Empty(t, g.Holder)

	d.pass(3 * time.Minute)
	require.Equal(t, []int64{begin + 120_000}, d.glance().Grants, "of the last five minutes")
	d.pass(12*time.Minute - time.Second + time.Millisecond)
	require.Equal(t, 1, d.glance().Leases, "of the last quarter of an hour")
	d.pass(time.Second)
	require.Zero(t, d.glance().Leases)
}

func TestGlanceCountsUnmatchedCodes(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	d.pass(time.Second)
	d.stray(without)
	require.Zero(t, d.glance().Nobodys, "there is no code in it")
	id := d.stray()
	d.stray(foreign)
	require.Equal(t, 2, d.glance().Nobodys)
	_, err := a.claim(id)
	require.NoError(t, err)
	require.Equal(t, 1, d.glance().Nobodys)
	d.pass(10 * time.Minute)
	require.Zero(t, d.glance().Nobodys)
}

func TestGlanceLooksAtTheLastTenEnds(t *testing.T) { glanceAfter(t, 24, 24) }

// glanceAfter ends leases of which every second one expires, also the last.
func glanceAfter(t *testing.T, leases, grants int) {
	d := newDesk(t, room.Config{})
	for i := range leases {
		s := newSeller(t, d.engine, fmt.Sprint("s", i))
		_, err := d.engine.Join(t.Context(), integration,
			room.JoinRequest{Session: s.session, Seller: s.name, Lease: 100 * time.Millisecond})
		require.NoError(t, err)
		d.pass(50 * time.Millisecond)
		if i%2 == 0 {
			s.leave(room.Completed)
		}
		d.pass(50 * time.Millisecond)
	}
	g := d.glance()
	require.Len(t, g.Grants, grants)
	require.Equal(t, d.now.UnixMilli()-100, g.Grants[grants-1])
	require.Equal(t, [2]int{10, 5}, [2]int{g.Leases, g.Expired})
}

func TestGlanceReturnsWhenTheStoreLostTheData(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		st := newSeller(t, e, "a").join()
		require.NoError(t, rdb.FlushDB(t.Context()).Err())
		g, err := e.Glance(t.Context(), integration)
		require.NoError(t, err)
		require.GreaterOrEqual(t, g.LostAt, st.Now)
		require.LessOrEqual(t, g.LostAt, g.Now)
	})
}

func TestActiveListsTheRoomsInUse(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		none, err := e.Active(t.Context())
		require.NoError(t, err)
		require.Empty(t, none)
		newSeller(t, e, "a").join()
		want, due := []room.ID{integration}, []redis.Z{}
		for i := range 2500 { // more than Redis returns at once
			id := fmt.Sprintf("room:%04d", i)
			want, due = append(want, room.ID(id)), append(due, redis.Z{Member: id})
		}
		require.NoError(t, rdb.ZAdd(t.Context(), "{waitroom}:due", due...).Err())
		list, err := e.Active(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, list)
	})
}
