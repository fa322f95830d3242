package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// jumpingDesk returns a desk whose engine sweeps, and so knows Redis's clock. It records clock jumps.
func jumpingDesk(t *testing.T) (*desk, chan time.Duration) {
	steps := make(chan time.Duration, 10)
	d := newDesk(t, room.Config{ClockJumped: func(by time.Duration) {
		if by > 0 { // the desk's clock stands still, so it also seems to go back
			steps <- by
		}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = d.engine.Sweep(ctx, nil, func(error) {})
	}()
	t.Cleanup(func() { cancel(); <-over })
	return d, steps
}

// swept waits for a claim of due rooms by the sweep that began after this call.
func (d *desk) swept() {
	d.Helper()
	require.NoError(d, d.rdb.Del(d.Context(), "{waitroom}:clock").Err())
	for range 2 { // the first claim may have begun before this call
		testproc.Until(d.T, time.Minute, func() error {
			return d.rdb.GetDel(d.Context(), "{waitroom}:clock").Err()
		})
	}
}

// The code of an ask before the jump may still arrive, though the clock shows that its time is over.
func TestNoSessionMayAskWhileTheTimeBetweenTwoCodesIsNotKnown(t *testing.T) {
	for name, known := range map[string]bool{"the sweep found the step": true,
		"the next call finds it": false} {
		t.Run(name, func(t *testing.T) {
			d, steps := jumpingDesk(t)
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			a.leave(room.Completed)
			d.swept()
			// no time has passed, but Redis's clock was set ahead by more than a quarantine
			d.pass(40 * time.Second)
			if known {
				require.InDelta(t, 40, (<-steps).Seconds(), 30)
			}
			require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), b.busy())
			if !known {
				require.InDelta(t, 40, (<-steps).Seconds(), 30)
			}
			_, late := d.sms()
			requireNone(t, room.Ambiguous, late, "it may be a's")
			d.swept()
			require.Empty(t, steps, "it is reported once")
		})
	}
}

func TestMessageAfterAClockJumpIsUnmatched(t *testing.T) {
	d, steps := jumpingDesk(t)
	d.asker("a").expect()
	d.swept()
	d.pass(40 * time.Second)
	<-steps
	_, m := d.sms()
	requireNone(t, room.Ambiguous, m, "its lease depends on the times of asks")
}

// Another process began the room's new epoch. It knows of no loss, nor of the clock jump that came with it.
func TestLossIsNotedForAllSessionsAlsoWithAClockJump(t *testing.T) {
	d, _ := jumpingDesk(t)
	a := d.asker("a")
	a.expect()
	d.swept()
	d.store.FlushAll()
	d.pass(20 * time.Second)
	other := room.New(d.rdb, room.Config{Journal: 10_000, Recovery: -1})
	b := newSeller(t, other, "b")
	_, err := other.Join(t.Context(), integration,
		room.JoinRequest{Session: b.session, Seller: "b", Asks: true})
	require.NoError(t, err)
	require.Equal(t, room.Lost, a.stand().Outcome)
	require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), b.busy(), "a's code may still come")
}

// A browser was between two sockets during the jump. It was not gone for as long as the clock shows.
func TestNoWaiterIsPassedOverForAClockJump(t *testing.T) {
	d, steps := jumpingDesk(t)
	a, b, c := d.plain("a"), d.plain("b"), d.plain("c")
	for _, s := range []seller{b, c} {
		s.here(time.Second)
	}
	b.gone()
	d.swept()
	d.pass(time.Minute)
	<-steps
	a.leave(room.Completed)
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestClockJumpIsNoLoss(t *testing.T) {
	d, steps := jumpingDesk(t)
	d.asker("a")
	d.swept()
	d.pass(40 * time.Second)
	<-steps
	require.Zero(t, d.glance().LostAt)
}

// Sessions whose asks Redis lost may still be sent a code, and the holder may not ask yet.
func TestCodeThatMayBeAnothersIsNotOfferedWhileAsksAreNotKnown(t *testing.T) {
	for name, forget := range map[string]func(*desk){
		"the clock jumped ahead": func(d *desk) { d.pass(20 * time.Minute) },
		"the store lost its data": func(d *desk) {
			d.store.FlushAll()
			d.pass(time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := jumpingDesk(t)
			a := d.asker("a")
			a.expect()
			a.leave(room.Cancelled)
			d.swept()
			forget(d)
			b := d.asker("b")
			b.busy()
			id, m := d.sms()
			requireNone(t, room.NotExpected, m, "no session asked, as far as is known")
			q := b.request()
			q.MessageID = id
			_, err := d.engine.Expect(t.Context(), integration, q)
			require.ErrorIs(t, err, room.ErrNoMessage, "it was not offered")
		})
	}
}

// The shards of a cluster have their own clocks, and another process may sweep the room.
func TestClockJumpOfAShardIsFoundByAnyLookAtTheRoom(t *testing.T) {
	d := newDesk(t, room.Config{})
	shard := []redis.ClusterSlot{{End: 16383, Nodes: []redis.ClusterNode{{Addr: d.store.Addr()}}}}
	slots := func(context.Context) ([]redis.ClusterSlot, error) { return shard, nil }
	rdb := redis.NewClusterClient(&redis.ClusterOptions{ClusterSlots: slots})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	d.engine = room.New(rdb, room.Config{Journal: 10_000, Recovery: -1})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Completed)
	d.pass(40 * time.Second)
	require.Equal(t, d.now.Add(30*time.Second).UnixMilli(), b.busy())
}

// Redis's clock was set back. Messages sent from now on have times that earlier leases and asks had too.
func TestNoCodeIsGivenUntilTheClockHasCaughtUp(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	d.pass(40 * time.Second)
	a.expect()
	a.leave(room.Completed)
	peak := d.now
	d.pass(-20 * time.Second)
	require.Equal(t, peak.Add(30*time.Second).UnixMilli(), b.busy())
	_, m := d.sms()
	require.Equal(t, room.Unmatched, m.Result, "it may be a's: its ask lies ahead")
	b.leave(room.Completed)
	c := d.plain("c")
	_, m = d.sms()
	require.Equal(t, room.Unmatched, m.Result, "the times of leases are ambiguous")
	c.leave(room.Completed)

	d.pass(50 * time.Second)
	e := d.asker("e")
	e.expect()
	d.pass(time.Second)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
}

// A repeat of a message is answered before the room is brought up to date.
func TestClockThatWasSetBackIsNoticedAfterARepeatToo(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.plain("a")
	d.pass(10 * time.Second)
	advert := sms("advert", d.now.UnixMilli(), d.now.UnixMilli()+1)
	without(&advert)
	match(t, d.engine, advert)
	d.pass(-30 * time.Second)
	match(t, d.engine, advert)
	st := a.stand()
	require.Equal(t, 110*time.Second, time.Duration(st.Lease.ExpiresAt-st.Now)*time.Millisecond,
		"what it had left")
}

func TestClockThatIsSlewedBackHoldsNoCodesBack(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	d.pass(-900 * time.Millisecond)
	a.expect()
	d.pass(time.Second)
	_, m := d.sms()
	require.Equal(t, room.Matched, m.Result)
}
