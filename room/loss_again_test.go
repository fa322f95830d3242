package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// These tests have several losses in a row, and replicas that observed different parts.

// remember saves the room's state, line and leases, and returns a function that restores them. Redis's clock
// goes on.
func (d *desk) remember() (goBack func()) {
	d.Helper()
	ctx := d.Context()
	hashes, zsets := map[string]map[string]string{}, map[string][]redis.Z{}
	for _, name := range []string{"state", "places", "sellers"} {
		key := "{integration}:" + name
		hashes[key] = d.rdb.HGetAll(ctx, key).Val()
	}
	for _, name := range []string{"queue", "leases", "ended"} {
		key := "{integration}:" + name
		zsets[key] = d.rdb.ZRangeWithScores(ctx, key, 0, -1).Val()
	}
	lock, left := d.rdb.Get(ctx, "{integration}:lock").Val(), d.rdb.PTTL(ctx, "{integration}:lock").Val()
	return func() {
		for key, fields := range hashes {
			d.rdb.Del(ctx, key)
			if len(fields) > 0 {
				require.NoError(d, d.rdb.HSet(ctx, key, fields).Err())
			}
		}
		for key, members := range zsets {
			d.rdb.Del(ctx, key)
			if len(members) > 0 {
				require.NoError(d, d.rdb.ZAdd(ctx, key, members...).Err())
			}
		}
		d.rdb.Del(ctx, "{integration}:lock")
		if lock != "" {
			require.NoError(d, d.rdb.Set(ctx, "{integration}:lock", lock, left).Err())
		}
	}
}

// openAsk makes a seller ask and leave. A code that arrives later is that seller's as long as no later ask is
// known.
func (d *desk) openAsk(name string) {
	d.Helper()
	s := d.asker(name)
	s.expect()
	d.pass(time.Second)
	s.leave(room.Cancelled)
}

// loseAnAsk makes a seller ask for a code, and makes Redis lose that ask.
func (d *desk) loseAnAsk(name string) {
	d.Helper()
	s := d.asker(name)
	d.pass(time.Second)
	s.stand()
	goBack := d.remember()
	d.pass(2 * time.Second)
	s.expect()
	d.pass(time.Second)
	goBack()
	require.Equal(d, room.Lost, s.stand().Outcome)
}

// The carrier took the message before the first loss and delivers it after the second one.
func TestLaterLossDoesNotForgetWhatAnEarlierOneLost(t *testing.T) {
	for name, again := range map[string]func(d *desk){
		"the store goes back again": func(d *desk) {
			b := d.seller("b")
			goBack := d.remember()
			b.join()
			goBack()
			require.Equal(d, room.Lost, b.stand().Outcome)
		},
		"the clock is set back": func(d *desk) { d.pass(-3 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			d.openAsk("z")
			d.pass(45 * time.Second)
			d.loseAnAsk("a")
			sent := d.now.Add(-500 * time.Millisecond)
			d.pass(5 * time.Second)
			again(d)
			_, m := d.sms(ago(d.now.Sub(sent)))
			requireNone(t, room.Ambiguous, m, "it may be the answer to the ask that was lost")
		})
	}
}

func (d *desk) seller(name string) seller { return newSeller(d.T, d.engine, name) }

// Without the loss a code belongs to the last ask, however late it arrives.
func TestSlowCodeOfALostLeaseGoesToNoOtherSession(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 5 * time.Second})
	d.openAsk("z")
	d.pass(45 * time.Second)
	d.loseAnAsk("a")
	d.pass(32 * time.Second) // a quarantine is over
	_, m := d.sms()
	requireNone(t, room.Ambiguous, m, "z was not the last to ask")

	c := d.asker("c")
	id, m := d.sms()
	require.Equal(t, room.Unmatched, m.Result)
	q := c.request()
	q.MessageID = id
	_, err := d.engine.Expect(t.Context(), integration, q)
	require.ErrorIs(t, err, room.ErrNoMessage, "nor is it offered to a session that has not asked")
	d.pass(time.Second)
	c.expect()
	d.pass(time.Second)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result, "the session that has asked since has its code")
}

// clocks has two replicas on a Redis that loses everything, and whose clock is then 20 s behind.
type clocks struct {
	*desk
	one, two *room.Engine
}

func newClocks(t *testing.T) *clocks {
	d := newDesk(t, room.Config{Lease: 5 * time.Second, Quarantine: 10 * time.Second})
	return &clocks{desk: d, one: d.engine, two: room.New(d.rdb, d.engine.Config())}
}

func (c *clocks) lose() {
	c.Helper()
	c.store.FlushAll()
	c.pass(-20 * time.Second)
}

// know has both replicas observe a lease, and only the second one a later lease.
func (c *clocks) know() (early, late seller) {
	c.Helper()
	early, late = newSeller(c.T, c.one, "early"), newSeller(c.T, c.two, "late")
	early.join()
	early.leave(room.Completed)
	c.pass(time.Second)
	late.join()
	c.pass(time.Second)
	late.leave(room.Completed)
	return early, late
}

// After a loss, one replica begins the new epoch. Another replica then replays a later lease, with times of
// the old clock.
func TestHolderThatMayAskAfterALossIsNotAskingBeforeItsLease(t *testing.T) {
	c := newClocks(t)
	early, late := c.know()
	c.lose()
	require.Equal(t, room.Completed, early.stand().Outcome)
	require.Equal(t, room.Completed, late.stand().Outcome)
	b := newSeller(t, c.one, "b").join()
	require.GreaterOrEqual(t, b.Lease.AskAfter, b.Lease.GrantedAt+10_000)
}

// The late replica replays when another session already holds the lock.
func TestLiveLeaseKeepsItsFenceWhateverALateReplicaKnows(t *testing.T) {
	c := newClocks(t)
	early, late := c.know()
	observed := late.stand()
	c.lose()
	early.stand()
	b := newSeller(t, c.one, "b")
	before := b.join()
	require.Less(t, before.Fence, observed.Fence, "the clock is behind")
	require.Equal(t, room.Completed, late.stand().Outcome)
	after := b.stand()
	require.Equal(t, [2]any{room.Locked, before.Fence}, [2]any{after.Status, after.Fence})
	_, err := c.one.Leave(t.Context(), integration,
		room.LeaveRequest{Session: b.session, Outcome: room.Completed, Fence: before.Fence})
	require.NoError(t, err)
	next := newSeller(t, c.two, "next").join()
	require.Greater(t, next.Fence, observed.Fence)
	require.Equal(t, before.Epoch, next.Epoch)
}

func TestTimesOfLeasesAreKnownOverSeveralLosses(t *testing.T) {
	c := newClocks(t)
	a := newSeller(t, c.one, "a")
	a.join()
	c.pass(time.Second)
	over := a.leave(room.Completed).Now
	c.lose()
	require.Equal(t, room.Completed, a.stand().Outcome)
	c.store.FlushAll()
	c.pass(3 * time.Second)
	b := newSeller(t, c.one, "b").join()
	require.Equal(t, room.Locked, b.Status)
	require.GreaterOrEqual(t, b.Lease.GrantedAt, over)
}

// The room went on without a lease that one replica observed, under a clock that was behind. Fences then do
// not show which lease is later.
func TestLeaseOfARoomThatWentOnIsWaitedForWhateverItsFence(t *testing.T) {
	l := newLosing(t, room.Config{Lease: time.Minute})
	a, b, c := l.seller(l.one, "a"), l.seller(l.two, "b"), l.seller(l.one, "c")
	a.join()
	a.leave(room.Completed)
	goBack := l.remember()
	redistest.SetState(t, l.rdb, "integration", "fence", time.Now().Add(20*time.Second).UnixMicro())
	lost := c.join()
	goBack()
	live := b.join()
	require.Equal(t, room.Locked, live.Status)
	require.Less(t, live.Fence, lost.Fence)

	require.Equal(t, room.Lost, c.stand().Outcome)
	d := l.seller(l.one, "d").join()
	require.Equal(t, room.Waiting, d.Status)
	require.GreaterOrEqual(t, d.Lease.ExpiresAt, live.Lease.ExpiresAt)
}

// Redis lost the room. When a newcomer joins, the ledger has the room, but only a replica that has yet to
// replay knows the holder.
func TestRoomOfTheLedgerIsNotBegunBeforeItsReplays(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(l *losing){
		"all is lost": func(l *losing) { require.NoError(l.t, l.rdb.FlushAll(l.t.Context()).Err()) },
		"its shard is lost, the index is not": func(l *losing) {
			keys := l.rdb.Keys(l.t.Context(), "{integration}:*").Val()
			require.NoError(l.t, l.rdb.Del(l.t.Context(), keys...).Err())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := room.Recorded{}
			l := newLosing(t, room.Config{Recovery: 5 * time.Second,
				Recorded: func(context.Context, room.ID) (room.Recorded, error) {
					return recorded, nil
				}})
			a := l.seller(l.one, "a")
			observed := a.join()
			stranger := room.New(l.rdb, l.two.Config())
			for _, e := range []*room.Engine{l.two, stranger} {
				_, err := e.Join(t.Context(), "another", room.JoinRequest{Session: room.NewSession()})
				require.NoError(t, err)
			}
			recorded = room.Recorded{Fence: observed.Fence, Ticket: observed.Ticket}
			lose(l)

			answers := make(chan room.Standing, 2)
			for _, s := range []seller{l.seller(l.two, "b"), l.seller(stranger, "c")} {
				go func() { answers <- s.join() }()
				time.Sleep(150 * time.Millisecond) // enough time for a call that does not wait
			}
			require.Equal(t, room.Lost, a.stand().Outcome) // a's replica replays
			for range 2 {
				st := <-answers
				require.Equal(t, room.Waiting, st.Status)
				require.Greater(t, st.Ticket, observed.Ticket)
			}
		})
	}
}

// The room's first lease was granted right before the loss. Neither the index nor the ledger has the room
// yet.
func TestRoomThatWasBegunInTheLastSecondIsNotBegunAgainAtOnce(t *testing.T) {
	t.Parallel()
	l := newLosing(t, room.Config{Recovery: 5 * time.Second})
	// replica two began the index's generation itself, so it has no reason for a recovery window
	for _, e := range []*room.Engine{l.two, l.one} {
		_, err := e.Join(t.Context(), "another", room.JoinRequest{Session: room.NewSession()})
		require.NoError(t, err)
	}
	goBack := l.remember()
	a := l.seller(l.one, "a")
	observed := a.join()
	goBack()
	answer := make(chan room.Standing, 1)
	go func() { answer <- l.seller(l.two, "b").join() }()
	time.Sleep(150 * time.Millisecond) // enough time for a call that does not wait
	require.Equal(t, room.Lost, a.stand().Outcome)
	st := <-answer
	require.Equal(t, room.Waiting, st.Status)
	require.Greater(t, st.Ticket, observed.Ticket)
}

// Only the ledger, which has closed the lease, knows that the session asked and left.
func TestSessionThatAskedShortlyBeforeATotalLossMayStillGetACode(t *testing.T) {
	for name, c := range map[string]struct {
		ago   time.Duration
		waits bool
	}{"a minute ago": {time.Minute, true}, "an hour ago": {time.Hour, false}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			ended := d.now.Add(-c.ago).UnixMilli()
			d.engine = room.New(d.rdb, room.Config{Journal: 100, Recovery: -1,
				Recorded: func(context.Context, room.ID) (room.Recorded, error) {
					return room.Recorded{Fence: 1, Ticket: 1, Ended: ended}, nil
				}})
			require.Equal(t, c.waits, d.asker("b").stand().Lease.AskAfter != 0)
		})
	}
}

// A replica replays late what it observed. The room has had later leases since, so no more data counts as
// lost.
func TestLateReplicaThatKnowsNothingLaterTakesNoCodeAway(t *testing.T) {
	c := newClocks(t)
	early, late := c.know()
	c.store.FlushAll()
	early.stand()
	c.pass(11 * time.Second)
	x := c.asker("x")
	c.pass(time.Second)
	x.leave(room.Completed)
	c.pass(time.Second)
	y := c.asker("y")
	y.expect()
	lost := c.glance().LostAt
	require.Equal(t, room.Completed, late.stand().Outcome)
	require.Equal(t, lost, c.glance().LostAt)
	c.pass(time.Second)
	_, m := c.sms()
	require.Equal(t, room.Matched, m.Result)
}

// Redis is emptied right after a recovery. Places that no call has used since that recovery are replayed all
// the same.
func TestRoomThatHadAllIsReplayedInFullAfterTheNextLoss(t *testing.T) {
	asked := make(chan struct{}, 10)
	l := newLosing(t, room.Config{Recorded: func(context.Context, room.ID) (room.Recorded, error) {
		asked <- struct{}{}
		return room.Recorded{Fence: 1, Ticket: 1}, nil
	}})
	a, b := l.seller(l.one, "a"), l.seller(l.one, "b")
	a.join()
	b.join()
	clear := func() {
		for len(asked) > 0 {
			<-asked
		}
	}
	clear()
	require.NoError(t, l.rdb.Do(t.Context(), "DEBUG", "CHANGE-REPL-ID").Err())
	b.stand()
	<-asked
	require.NoError(t, l.rdb.FlushAll(t.Context()).Err())
	require.Equal(t, room.Lost, a.stand().Outcome)
}

// The session of a lost lease may press at the marketplace until its end, since it may not know. So its code
// may come until a quarantine after that.
func TestNumberIsBusyForAQuarantineAfterTheEndOfALostLease(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 2 * time.Minute, Quarantine: 30 * time.Second})
	a := d.asker("a")
	a.expect()
	ends := a.stand().Lease.ExpiresAt
	d.store.FlushAll()
	require.Equal(t, room.Lost, a.stand().Outcome)
	b := d.asker("b")
	d.pass(2*time.Minute + time.Second)
	require.Equal(t, room.Locked, b.stand().Status)
	require.InDelta(t, ends+30_000, b.busy(), 8_000, "the process's clock, which is real here, tells the end")
	_, m := d.sms()
	require.Equal(t, room.Unmatched, m.Result, "it may be a's")
	d.pass(31 * time.Second)
	b.expect()
}

// After a loss the lock has no holder for a while, and support's pages show that.
func TestSupportWhileTheLockHasNoHolder(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	observed := a.stand()
	d.store.FlushAll()
	require.Equal(t, room.Lost, a.stand().Outcome)
	b := d.asker("b")
	require.Equal(t, room.Waiting, b.stand().Status)
	_, m := d.sms()
	require.Equal(t, room.Unmatched, m.Result)
	recent, err := d.engine.RecentMessages(t.Context(), integration)
	require.NoError(t, err)
	require.Len(t, recent, 1)
	ends := b.stand().Lease.ExpiresAt
	_, err = d.engine.Extend(t.Context(), integration, "", observed.Fence, time.Minute, byKim)
	require.ErrorIs(t, err, room.ErrStaleFence, "no session has this lease")
	require.Equal(t, ends, b.stand().Lease.ExpiresAt)
}

// The room's keys expired since the room was idle. This process's observations of the room are as old.
func TestExpiredRoomHasLostNothing(t *testing.T) {
	d := newDesk(t, room.Config{})
	lost := false
	d.engine = room.New(d.rdb, room.Config{Journal: 100, Recovery: -1, Retention: 100 * time.Millisecond,
		Lost: func(room.ID, room.View) {
			lost = true
		},
		Recorded: func(context.Context, room.ID) (room.Recorded, error) {
			return room.Recorded{Fence: 1, Ticket: 1}, nil
		}})
	before := d.plain("a")
	before.leave(room.Completed)
	time.Sleep(60 * time.Millisecond) // over half of the retention, by the process's clock
	d.store.FlushAll()
	require.Zero(t, d.asker("b").stand().Lease.AskAfter)
	require.False(t, lost)
}

// Of the session, one replica observed its place in line, the next one a later place, and the last one the
// end of the first place.
func TestSessionWhoseLaterPlaceWasLostDoesNotGetTheEndOfTheEarlierOne(t *testing.T) {
	t.Parallel()
	l := newLosing(t, room.Config{Recovery: 5 * time.Second})
	three := room.New(l.rdb, l.two.Config())
	h, s := l.seller(l.two, "h"), l.seller(l.two, "s")
	h.join()
	s.join()
	goBack := l.remember()
	s.by(l.one).leave(room.Cancelled)
	later := s.by(three).join()
	l.seller(l.two, "x").join() // x's replica is the first to notice that this place is lost
	goBack()
	observed := make(chan room.Standing, 3)
	for _, ask := range []seller{h, s.by(three), s.by(l.one)} {
		go func() { observed <- ask.stand() }()
		time.Sleep(200 * time.Millisecond)
	}
	for range 3 {
		<-observed
	}
	st := s.stand()
	require.Equal(t, []any{room.Ended, room.Lost, later.Ticket}, []any{st.Status, st.Outcome, st.Ticket})
}
