package room_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// site has several replicas on an embedded Redis. The test sets Redis's clock.
type site struct {
	*testing.T
	store  *miniredis.Miniredis
	rdb    redis.UniversalClient
	engine *room.Engine
	now    time.Time
	calls  int64
}

func (s *site) number() int64 {
	s.calls++
	return s.calls
}

func newSite(t *testing.T) *site {
	s := &site{T: t, store: redistest.StartEmbedded(t), now: time.Now()}
	rdb := redis.NewClient(&redis.Options{Addr: s.store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	s.rdb, s.engine = rdb, room.New(rdb, room.Config{Lease: 10 * time.Minute, Recovery: -1,
		SweepEvery: 5 * time.Millisecond, LookEvery: time.Hour})
	s.store.SetTime(s.now)
	return s
}

func (s *site) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.store.SetTime(s.now)
}

// live moves Redis's clock ahead by d, second by second, while the replicas send heartbeats.
func (s *site) live(d time.Duration, replicas ...room.ReplicaNumber) {
	s.Helper()
	for range int(d / time.Second) {
		s.pass(time.Second)
		s.beats(replicas...)
		s.untilClaimed()
	}
}

// line joins n sellers; the first holds the lock.
func (s *site) line(n int) (all []seller) {
	for i := range n {
		a := newSeller(s.T, s.engine, string(rune('a'+i)))
		a.join()
		all = append(all, a)
	}
	return all
}

// beats sends the replicas' heartbeats.
func (s *site) beats(replicas ...room.ReplicaNumber) {
	s.Helper()
	for _, h := range replicas {
		same, err := s.engine.Heartbeat(s.Context(), h)
		require.NoError(s, err)
		require.Equal(s, h, same)
	}
}

func (s *site) replica() room.ReplicaNumber {
	s.Helper()
	replica, err := s.engine.Heartbeat(s.Context(), 0)
	require.NoError(s, err)
	require.NoError(s, s.engine.Attend(s.Context(), replica, integration))
	return replica
}

func (s *site) come(replica room.ReplicaNumber, who ...seller) {
	s.Helper()
	var ids []string
	for _, w := range who {
		ids = append(ids, w.session)
	}
	_, err := s.engine.Presence(s.Context(), integration, replica, s.number(), ids, nil)
	require.NoError(s, err)
}

func (s *site) gone(replica room.ReplicaNumber, who seller, since time.Duration) {
	s.Helper()
	_, err := s.engine.Presence(s.Context(), integration, replica, s.number(), nil,
		[]room.Gone{{Session: who.session, Replica: replica, For: since}})
	require.NoError(s, err)
}

// goneSince returns since when a waiter has been gone (unix ms); 0 while it is present.
func (s *site) goneSince(who seller) int64 {
	for _, key := range []string{"{integration}:away", "{integration}:seen"} {
		if at, err := s.rdb.ZScore(context.Background(), key, who.session).Result(); err == nil {
			return int64(at)
		}
	}
	return 0
}

// untilClaimed waits until the sweep has claimed due rooms and looked for dead replicas.
func (s *site) untilClaimed() {
	s.Helper()
	testproc.Until(s, time.Minute, func() error {
		if at := s.rdb.Get(context.Background(),
			"{waitroom}:clock").Val(); at != fmt.Sprint(s.now.UnixMilli()) {
			return fmt.Errorf("it looked at %s", at)
		}
		return nil
	})
}

func (s *site) untilGone(who seller) int64 {
	testproc.Until(s, time.Minute, func() error {
		if s.goneSince(who) == 0 {
			return errors.New("it is there")
		}
		return nil
	})
	return s.goneSince(who)
}

func TestPresenceIsRecordedOnceAndLastsHoweverLong(t *testing.T) {
	s := newSite(t)
	replica, all := s.replica(), s.line(3)
	s.come(replica, all[1:]...)
	sweep(t, s.engine, nil)
	for range 100 {
		s.pass(time.Second)
		s.beats(replica)
	}
	s.gone(replica, all[1], 0)
	gone := s.now.UnixMilli()
	require.Equal(t, gone, s.goneSince(all[1]))
	s.pass(s.engine.Config().AwayAfter + time.Millisecond)
	for range 4 { // that pass was a clock jump: for three seconds after it no session counts as gone
		s.untilClaimed()
		s.beats(replica)
		s.pass(900 * time.Millisecond)
	}
	all[0].leave(room.Completed)
	require.Equal(t, room.Locked, all[2].stand().Status, "the second has gone, the third is still there")
}

func TestSessionIsPresentUntilItHasGoneFromItsLastReplica(t *testing.T) {
	s := newSite(t)
	one, two, all := s.replica(), s.replica(), s.line(2)
	b := all[1]
	require.NotEqual(t, one, two)
	s.come(one, b)
	s.come(two, b)
	s.gone(one, b, 0)
	require.Zero(t, s.goneSince(b))
	s.come(one, b)
	s.come(one, b) // sent twice: the first reply was lost
	s.gone(one, b, 0)
	s.gone(one, b, 0)
	require.Zero(t, s.goneSince(b))
	s.pass(time.Second)
	s.gone(two, b, 300*time.Millisecond)
	require.Equal(t, s.now.UnixMilli()-300, s.goneSince(b), "since its last heartbeat")
	s.come(two, b)
	require.Zero(t, s.goneSince(b))
}

func TestADeadReplicasSessionsAreGoneSinceItsLastHeartbeat(t *testing.T) {
	s := newSite(t)
	dies, lives, all := s.replica(), s.replica(), s.line(4)
	s.come(dies, all[1], all[2])
	s.come(lives, all[2], all[3])
	last := s.now.UnixMilli()
	sweep(t, s.engine, nil)
	s.beats(dies, lives)
	for s.now.UnixMilli() <= last+s.engine.DeadAfter().Milliseconds() {
		require.Zero(t, s.goneSince(all[1]), "it may only be slow")
		s.pass(time.Second)
		s.beats(lives)
		s.untilClaimed()
	}
	require.Equal(t, last, s.untilGone(all[1]))
	require.Zero(t, s.goneSince(all[2]), "it is at another replica, too")
	require.Zero(t, s.goneSince(all[3]))

	again, err := s.engine.Heartbeat(t.Context(), dies)
	require.NoError(t, err)
	require.Greater(t, again, dies, "it was only stopped, and finds that it was taken for dead")
	s.come(again, all[1])
	require.Zero(t, s.goneSince(all[1]))
}

// After an outage or the death of all replicas, the first live one gives the others time to send heartbeats.
func TestNoReplicaCountsAsDeadRightAfterAnOutage(t *testing.T) {
	s := newSite(t)
	dead, lives, all := s.replica(), s.replica(), s.line(3)
	s.come(dead, all[1])
	s.come(lives, all[2])
	last := s.now.UnixMilli()
	sweep(t, s.engine, nil)
	s.untilClaimed()
	s.pass(time.Minute)
	s.untilClaimed()
	require.Zero(t, s.goneSince(all[2]))
	s.beats(lives)
	for range 3 {
		require.Zero(t, s.goneSince(all[1]))
		s.pass(time.Second)
		s.beats(lives)
		s.untilClaimed()
	}
	require.Equal(t, last, s.untilGone(all[1]))
	require.Zero(t, s.goneSince(all[2]))
	all[0].leave(room.Completed)
	require.Equal(t, room.Locked, all[2].stand().Status)
}

func TestCallThatWasGivenUpAndArrivesLateDoesNothing(t *testing.T) {
	s := newSite(t)
	replica, all := s.replica(), s.line(2)
	late := s.number()
	s.come(replica, all[1])
	s.gone(replica, all[1], 0)
	gone := s.goneSince(all[1])
	_, err := s.engine.Presence(t.Context(), integration, replica, late, []string{all[1].session}, nil)
	require.NoError(t, err)
	require.Equal(t, gone, s.goneSince(all[1]), "it has gone since the first call")
	s.come(replica, all[1])
	require.Zero(t, s.goneSince(all[1]))
}

// With very many rooms, the sweep looks at a room in which nothing is due only once in minutes.
func TestGoneSessionIsAwayInTimeWithoutAnyOtherLook(t *testing.T) {
	s := newSite(t)
	replica, all := s.replica(), s.line(3)
	s.come(replica, all[1:]...)
	sweep(t, s.engine, nil)
	s.live(2*time.Second, replica)
	s.gone(replica, all[1], 0)
	gone := s.now
	s.live(s.engine.Config().AwayAfter, replica)
	// the clock may jump between a look and the note of when to look next
	testproc.Until(t, time.Minute, func() error {
		s.live(time.Second, replica)
		return s.rdb.ZScore(t.Context(), "{integration}:away", all[1].session).Err()
	})
	require.Less(t, s.now.Sub(gone), s.engine.Config().AwayAfter+time.Minute)
	all[0].leave(room.Completed)
	require.Equal(t, room.Locked, all[2].stand().Status)
}

// The sweep looks at the room late. The sessions were recorded as gone, so they are passed over all the same.
func TestGoneSessionIsPassedOverHoweverLateTheLook(t *testing.T) {
	s := newSite(t)
	replica, all := s.replica(), s.line(4)
	s.come(replica, all[1:]...)
	s.gone(replica, all[1], 0)
	s.pass(20 * time.Second)
	s.gone(replica, all[2], 35*time.Second) // 35 s ago: a replica notices late that a network is dead
	all[0].leave(room.Completed)
	require.Equal(t, room.Locked, all[3].stand().Status)
}

func TestSessionThatWentBeforeItsComingWasRecordedIsGone(t *testing.T) {
	s := newSite(t)
	replica, other, all := s.replica(), s.replica(), s.line(3)
	s.gone(replica, all[1], time.Second)
	require.Equal(t, s.now.UnixMilli()-1000, s.goneSince(all[1]))
	s.come(other, all[2])
	s.gone(replica, all[2], time.Second)
	require.Zero(t, s.goneSince(all[2]), "it is connected elsewhere")
}

// A replica was stopped for so long that it counts as dead. It goes on, and its first call still has its old
// number.
func TestSessionOfAReplicaThatWakesIsPresentSinceThen(t *testing.T) {
	s := newSite(t)
	stopped, lives, all := s.replica(), s.replica(), s.line(2)
	sweep(t, s.engine, nil)
	s.live(10*time.Second, lives)
	s.pass(400 * time.Second)
	s.beats(lives)
	s.come(stopped, all[1])
	s.live(time.Second, lives)
	_, err := s.engine.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.Equal(t, room.Waiting, all[1].stand().Status)
	again, err := s.engine.Heartbeat(t.Context(), stopped)
	require.NoError(t, err)
	s.come(again, all[1])
	s.live(5*time.Second, lives, again)
	require.Equal(t, room.Waiting, all[1].stand().Status)
	require.Zero(t, s.goneSince(all[1]))
}

func TestListOfADeadReplicasRoomsDoesNotStay(t *testing.T) {
	s := newSite(t)
	dies, lives := s.replica(), s.replica()
	s.line(2)
	sweep(t, s.engine, nil)
	s.live(10*time.Second, lives)
	require.NoError(t, s.engine.Attend(t.Context(), dies, integration), "the call comes late")
	s.store.FastForward(61 * time.Minute)
	require.Zero(t, s.rdb.Exists(t.Context(), fmt.Sprintf("{waitroom}:attended:%d", dies)).Val())
}
