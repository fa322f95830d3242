package room_test

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// losing is a Redis that a test can put back to an earlier moment, as a failover does, with two replicas.
type losing struct {
	t        *testing.T
	server   *redistest.Server
	rdb      *redis.Client
	one, two *room.Engine
	token    string // absence token of the room, as Redis had it
}

func newLosing(t *testing.T, config room.Config) *losing {
	server := redistest.StartWith(t, redistest.Config{Args: []string{"--enable-debug-command", "yes"}})
	config.Journal, config.Recovery = 1000, cmp.Or(config.Recovery, 100*time.Millisecond)
	l := &losing{t: t, server: server, rdb: server.Client()}
	l.one, l.two = room.New(l.rdb, config), room.New(l.rdb, config)
	return l
}

// remember saves all keys, and returns a function that restores them in Redis, under another replication
// history.
func (l *losing) remember() (goBack func()) {
	ctx, saved := l.t.Context(), map[string]string{}
	keys, err := l.rdb.Keys(ctx, "*").Result()
	require.NoError(l.t, err)
	for _, key := range keys {
		saved[key] = l.rdb.Dump(ctx, key).Val()
	}
	ends := map[string]time.Time{}
	for _, key := range keys {
		if left := l.rdb.PTTL(ctx, key).Val(); left > 0 {
			ends[key] = time.Now().Add(left)
		}
	}
	return func() {
		require.NoError(l.t, l.rdb.FlushAll(ctx).Err())
		for key, value := range saved {
			var left time.Duration
			if end, ok := ends[key]; ok {
				left = max(time.Until(end), time.Millisecond)
			}
			require.NoError(l.t, l.rdb.Restore(ctx, key, left, value).Err())
		}
		require.NoError(l.t, l.rdb.Do(ctx, "DEBUG", "CHANGE-REPL-ID").Err())
	}
}

func (l *losing) seller(e *room.Engine, name string) seller { return newSeller(l.t, e, name) }

// by returns the same seller, whose calls go to another replica from now on.
func (s seller) by(e *room.Engine) seller {
	s.engine = e
	return s
}

func (l *losing) journalled(kind string) (list []room.Record) {
	entries, err := l.one.ReadJournal(l.t.Context(), integration, 1000)
	require.NoError(l.t, err)
	for _, entry := range entries {
		for _, r := range entry.Records {
			if r.Type == kind {
				list = append(list, r)
			}
		}
	}
	return list
}

// Redis lost writes and then got as many, so its version is as before. Only its replication history differs.
func TestLossIsNoticedThoughAsManyWritesHaveComeSince(t *testing.T) {
	l := newLosing(t, room.Config{})
	a, b := l.seller(l.one, "a"), l.seller(l.one, "b")
	a.join()
	b.by(l.two).join()
	goBack := l.remember()
	a.leave(room.Completed) // and b is granted the lock
	observed := b.stand()
	require.Equal(t, room.Locked, observed.Status)
	goBack()
	a.by(l.two).leave(room.Completed) // by a replica that observed nothing of what was lost
	c := l.seller(l.two, "c").join()
	require.GreaterOrEqual(t, c.Version, observed.Version)
	require.Equal(t, observed.Epoch, c.Epoch)

	after := b.stand()
	require.Greater(t, after.Epoch, observed.Epoch)
	require.Equal(t, [2]any{room.Ended, room.Lost}, [2]any{after.Status, after.Outcome})
	require.Greater(t, b.join().Ticket, c.Ticket)
}

func TestRoomThatLostNothingGoesOnInAnotherHistory(t *testing.T) {
	l := newLosing(t, room.Config{})
	a, b := l.seller(l.one, "a"), l.seller(l.two, "b")
	before := a.join()
	b.join()
	for range 12 { // more than a lineage keeps histories
		require.NoError(t, l.rdb.Do(t.Context(), "DEBUG", "CHANGE-REPL-ID").Err())
		require.Equal(t, room.Locked, a.stand().Status)
		after := b.stand()
		require.Equal(t, []any{before.Epoch, before.Version + 1, room.Waiting},
			[]any{after.Epoch, after.Version, after.Status})
	}
	a.leave(room.Completed)
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestNoCallIsAnsweredBeforeTheReplays(t *testing.T) {
	t.Parallel()
	l := newLosing(t, room.Config{Recovery: 5 * time.Second})
	a := l.seller(l.one, "a")
	a.join()
	goBack := l.remember()
	b := l.seller(l.one, "b")
	ticket := b.join().Ticket
	goBack()
	answered := make(chan room.Standing, 1)
	go func() { answered <- l.seller(l.two, "c").join() }()
	require.Eventually(t, func() bool {
		return redistest.State(t, l.rdb, "integration", "recovers") != ""
	}, time.Minute, 5*time.Millisecond)
	require.Equal(t, room.Lost, b.stand().Outcome) // b's replica replays
	c := <-answered
	require.Equal(t, ticket+1, c.Ticket, "an observed ticket is not given out again")
}

func TestRemainingWaitersKeepPlaceOrderAndTicket(t *testing.T) {
	l := newLosing(t, room.Config{})
	holder := l.seller(l.one, "holder")
	granted := holder.join()
	var line []seller
	for i := range 4 {
		s := l.seller(l.two, fmt.Sprint("waiter-", i))
		s.join()
		line = append(line, s)
	}
	_, err := l.one.Move(t.Context(), integration, "", 5, 1, byKim)
	require.NoError(t, err)
	goBack := l.remember()
	late := l.seller(l.one, "late")
	late.join()
	line[0].by(l.one).leave(room.Cancelled)
	goBack()

	require.Equal(t, room.Lost, late.stand().Outcome)
	require.Equal(t, room.Lost, holder.by(l.two).stand().Outcome, "also the holder")
	require.Equal(t, room.Cancelled, line[0].stand().Outcome, "an observed end stays")
	var places [][2]int64
	for _, s := range []seller{line[3], line[1], line[2]} {
		st := s.stand()
		places = append(places, [2]int64{st.Ticket, int64(st.Position)})
	}
	require.Equal(t, [][2]int64{{5, 1}, {3, 2}, {4, 3}}, places)
	st := line[3].stand()
	require.Equal(t, granted.Fence, st.Lease.Fence)
	require.LessOrEqual(t, st.Lease.ExpiresAt, granted.Lease.ExpiresAt+1000,
		"but for what calls took on their way")

	kept := l.journalled("epoch")[1].Kept
	require.ElementsMatch(t, []room.Kept{{Ticket: 5, Seller: "waiter-3"}, {Ticket: 3, Seller: "waiter-1"},
		{Ticket: 4, Seller: "waiter-2"}}, kept)
	outcomes := map[int64]room.Outcome{}
	for _, r := range l.journalled("told") {
		outcomes[r.Ticket] = r.Outcome
	}
	require.Equal(t, map[int64]room.Outcome{1: room.Lost, 2: room.Cancelled, 6: room.Lost}, outcomes,
		"the observations are in the journal")
}

// The last lease that a live replica observed ends at its time, not before. Then the first in line is
// granted.
func TestNoSessionIsGrantedBeforeTheLastObservedLeaseWouldHaveEnded(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, l *losing, goBack func()){
		"failover": func(_ *testing.T, _ *losing, goBack func()) { goBack() },
		"emptied": func(t *testing.T, l *losing, _ func()) {
			require.NoError(t, l.rdb.FlushAll(t.Context()).Err())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLosing(t, room.Config{Lease: 6 * time.Second})
			a, b, c := l.seller(l.one, "a"), l.seller(l.one, "b"), l.seller(l.two, "c")
			a.join()
			b.join()
			goBack := l.remember()
			a.leave(room.Completed)
			observed := b.stand()
			require.Equal(t, room.Locked, observed.Status)
			lose(t, l, goBack)

			require.Equal(t, room.Lost, b.stand().Outcome)
			require.Equal(t, room.Completed, a.stand().Outcome)
			waiting := c.join()
			require.Equal(t, room.Waiting, waiting.Status)
			require.Greater(t, waiting.Ticket, observed.Ticket)
			_, err := l.two.Join(t.Context(), integration,
				room.JoinRequest{Session: room.NewSession(), NoWait: true})
			require.ErrorIs(t, err, room.ErrLockHeld)
			passUntil(t, l.rdb, waiting.Lease.ExpiresAt)
			granted := c.stand()
			require.Equal(t, room.Locked, granted.Status)
			require.GreaterOrEqual(t, granted.Lease.GrantedAt, observed.Lease.ExpiresAt)
			require.Greater(t, granted.Fence, observed.Fence)
			for _, r := range l.journalled("ended") {
				require.NotZero(t, r.Ticket, "the lease without a holder has no place")
			}
		})
	}
}

// A replica that observed nothing must not give the lock to a newcomer before a replica that observed a lease
// has replayed it.
func TestEmptiedStoreIsNotUsedBeforeItsReplays(t *testing.T) {
	t.Parallel()
	l := newLosing(t, room.Config{Recovery: 5 * time.Second})
	a := l.seller(l.one, "a")
	observed := a.join()
	l.seller(l.two, "z").by(l.two).stand()
	_, err := l.two.Join(t.Context(), "another", room.JoinRequest{Session: room.NewSession()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = l.one.Sweep(ctx, nil, func(error) {}) }()
	require.Eventually(t, func() bool {
		return l.rdb.Exists(t.Context(), "{waitroom}:whole").Val() == 1
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, l.rdb.FlushAll(t.Context()).Err())
	stranger := room.New(l.rdb, room.Config{Journal: 1000})
	_, err = stranger.Join(t.Context(), "warm", room.JoinRequest{Session: room.NewSession()})
	require.NoError(t, err)
	b := l.seller(l.two, "b")
	st := b.join()
	require.Equal(t, room.Waiting, st.Status)
	require.Greater(t, st.Ticket, observed.Ticket)
	require.Equal(t, room.Lost, a.by(l.two).stand().Outcome, "from a replica that did not observe it")
}

func TestFencesAndTicketsGoOnAboveThoseOfTheRecord(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		ahead := time.Now().Add(time.Hour).UnixMicro()
		e := room.New(rdb, room.Config{Recorded: func(context.Context, room.ID) (room.Recorded, error) {
			return room.Recorded{Fence: ahead, Ticket: 57, Open: true}, nil
		}})
		st := newSeller(t, e, "a").join()
		require.Equal(t, room.Locked, st.Status)
		require.Equal(t, [2]int64{58, ahead + 1}, [2]int64{st.Ticket, st.Fence})
		require.NotZero(t, st.Lease.AskAfter, "the asks before the loss are not known")
	})
}

// Redis fails over to a node whose clock is behind.
func TestFenceGrowsOverALossThoughTheClockIsBehind(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	start := time.Now()
	embedded.SetTime(start)
	e := room.New(rdb, room.Config{Lease: time.Millisecond, Recovery: -1})
	a := newSeller(t, e, "a")
	before := a.join()
	require.NoError(t, rdb.FlushAll(t.Context()).Err())
	embedded.SetTime(start.Add(-20 * time.Second))
	a.stand()
	embedded.SetTime(start.Add(-10 * time.Second))
	after := newSeller(t, e, "b").join()
	require.Equal(t, room.Locked, after.Status)
	require.Greater(t, after.Fence, before.Fence)
	require.Greater(t, after.Epoch, before.Epoch)
	require.Greater(t, after.Ticket, before.Ticket)
}

// By the clocks of two servers, a later lease began before an earlier observed one. An SMS could belong to
// either.
func TestLeasesDoNotOverlapOverALossThoughTheClockIsBehind(t *testing.T) {
	for name, act := range map[string]func(a seller){
		"the last lease is over": func(a seller) { a.leave(room.Completed) },
		"the last lease goes on": func(seller) {},
		"no reply has its end":   func(a seller) { a.leave(room.Cancelled); a.join() },
	} {
		t.Run(name, func(t *testing.T) {
			embedded := redistest.StartEmbedded(t)
			rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
			t.Cleanup(func() { require.NoError(t, rdb.Close()) })
			start := time.Now()
			embedded.SetTime(start)
			e := room.New(rdb,
				room.Config{Lease: 50 * time.Millisecond, Quarantine: time.Second, Recovery: -1})
			a := newSeller(t, e, "a")
			a.join()
			embedded.SetTime(start.Add(10 * time.Millisecond))
			act(a)
			observed := a.stand()
			require.NoError(t, rdb.FlushAll(t.Context()).Err())
			embedded.SetTime(start.Add(-20 * time.Second))
			require.Equal(t, room.Ended, a.stand().Status)
			embedded.SetTime(start.Add(-10 * time.Second))
			after := newSeller(t, e, "b").join()
			require.Equal(t, room.Locked, after.Status)
			require.GreaterOrEqual(t, after.Lease.GrantedAt, start.UnixMilli())
			if observed.Status == room.Ended {
				require.GreaterOrEqual(t, after.Lease.GrantedAt, observed.Now)
			}
			require.GreaterOrEqual(t, after.Lease.AskAfter, after.Lease.GrantedAt+time.Second.Milliseconds(),
				"an ask lies in its lease")
		})
	}
}

// Redis has the places of the room but not its state: the first look begins a new epoch, and the line goes
// on.
func TestLostStateIsNoticedByAnyLook(t *testing.T) {
	for name, look := range map[string]func(t *testing.T, e *room.Engine, s seller){
		"the holder":  func(_ *testing.T, _ *room.Engine, s seller) { s.stand() },
		"a heartbeat": func(_ *testing.T, _ *room.Engine, s seller) { s.here(time.Second) },
		"the sweep": func(t *testing.T, e *room.Engine, _ seller) {
			_, err := e.Expire(t.Context(), integration)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
				first := room.New(rdb, room.Config{Recovery: time.Millisecond})
				a, b := newSeller(t, first, "a"), newSeller(t, first, "b")
				before := a.join()
				b.join()
				require.NoError(t, rdb.Del(t.Context(), "{integration}:state").Err())
				e := room.New(rdb, room.Config{Recovery: time.Millisecond}) // it has observed nothing
				look(t, e, a.by(e))
				after := a.by(e).stand()
				require.Equal(t, [2]any{room.Ended, room.Lost}, [2]any{after.Status, after.Outcome})
				require.Greater(t, after.Epoch, before.Epoch)
				st := b.by(e).stand()
				require.Equal(t, []any{room.Waiting, int64(2), 1}, []any{st.Status, st.Ticket, st.Position})
				require.Equal(t, before.Fence, st.Lease.Fence, "its lease has not ended yet")
				require.Equal(t, int64(3), newSeller(t, e, "c").join().Ticket)
			})
		})
	}
}

// The journal of the new epoch must not expire with an idle room's keys.
func TestNewEpochWakesAnIdleRoom(t *testing.T) {
	l := newLosing(t, room.Config{})
	a := l.seller(l.one, "a")
	a.join()
	a.leave(room.Cancelled)
	entries, err := l.one.ReadJournal(t.Context(), integration, 100)
	require.NoError(t, err)
	require.NoError(t, l.one.TrimJournal(t.Context(), integration, entries))
	found, err := l.one.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.True(t, found.Asleep)
	goBack := l.remember()
	a.join()
	goBack()
	require.Equal(t, room.Lost, a.stand().Outcome)
	for _, key := range []string{"{integration}:state", room.Names{}.Journal(integration)} {
		require.Equal(t, time.Duration(-1), l.rdb.PTTL(t.Context(), key).Val(), key)
	}
}

// The holder of a lost lease acts by its last reply. Nothing happens, and the lock stays without a holder.
func TestHolderThatWasLostCanDoNothing(t *testing.T) {
	l := newLosing(t, room.Config{})
	a := l.seller(l.one, "a")
	observed := a.join()
	require.NoError(t, l.rdb.FlushAll(t.Context()).Err())
	_, err := l.one.Leave(t.Context(), integration,
		room.LeaveRequest{Session: a.session, Outcome: room.Completed, Fence: observed.Fence})
	require.ErrorIs(t, err, room.ErrNoPlace)
	_, err = l.one.Expect(t.Context(), integration,
		room.ExpectRequest{Session: a.session, Fence: observed.Fence})
	require.ErrorIs(t, err, room.ErrNoPlace)
	require.Equal(t, room.Waiting, l.seller(l.two, "b").join().Status)
	now := storeTime(t, l.one, integration)
	m, err := l.two.Match(t.Context(), integration, sms("m", now, now+1))
	require.NoError(t, err)
	require.Equal(t, room.Unmatched, m.Result)
	_, err = l.one.Release(t.Context(), integration, "", observed.Fence, byKim)
	require.NoError(t, err, "support may end it")
	require.Zero(t, l.journalled("granted")[0].Of)
}
