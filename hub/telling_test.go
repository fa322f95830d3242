package hub

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// teller is a hall whose calls the test makes itself.
type teller struct {
	*testing.T
	*localRoom
}

func newTeller(t *testing.T) teller {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	h := New(Config{Engine: room.New(rdb, room.Config{}), Redis: rdb})
	h.hosted.Store(7)
	l := newLocalRoom(h, "integration")
	l.who.telling = true
	return teller{t, l}
}

// waits opens a socket of a session that waits.
func (l teller) waits(id string) *conn {
	c := &conn{h: l.h}
	require.True(l, l.enter(c, id))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.placed(l.m.Place(c.session, mirror.Seat{Status: room.Waiting, Ticket: 2, Rank: 2}, mirror.Revision{Epoch: 1, Version: 1}))
	return c
}

func (l teller) next() attendance {
	a, _ := l.nextAttendance()
	l.mu.Lock()
	l.who.telling = true
	l.mu.Unlock()
	return a
}

func (l teller) requireGone(id string) {
	l.Helper()
	var gone []string
	for range 3 {
		for _, g := range l.next().gone {
			gone = append(gone, g.Session)
		}
	}
	require.True(l, slices.Contains(gone, id), "its last socket is gone, and the engine is never told so")
}

// The call that told that it came was executed and its reply lost; it leaves while the next attempt is waited for.
func TestWhoLeavesAfterALostReplyIsToldToBeGone(t *testing.T) {
	l := newTeller(t)
	c := l.waits("a")
	a := l.next()
	require.Equal(t, []string{"a"}, a.came)
	l.untold(a)
	l.leave(c)
	l.requireGone("a")
}

// It reloads while its departure is under way, that call fails, and it leaves again before it is told to be here.
func TestWhoReloadsWhileItsDepartureFailsAndLeavesIsToldToBeGone(t *testing.T) {
	l := newTeller(t)
	c := l.waits("a")
	l.next()
	l.leave(c)
	a := l.next()
	require.Len(t, a.gone, 1)
	again := &conn{h: l.h}
	require.True(t, l.enter(again, "a")) // looked up, but the store does not answer
	l.untold(a)
	l.leave(again)
	l.requireGone("a")
}

// The store is away for longer than rooms without sockets are followed.
func TestRoomIsFollowedUntilItIsToldThatEverybodyHasGone(t *testing.T) {
	l := newTeller(t)
	c := l.waits("a")
	l.next()
	l.leave(c)
	l.mu.Lock()
	l.who.telling, l.empty = false, time.Time{} // no heartbeat: nothing is told now
	l.mu.Unlock()
	require.False(t, l.retire(time.Minute))
	l.requireGone("a")
	l.mu.Lock()
	l.who.telling = false
	l.mu.Unlock()
	require.True(t, l.retire(time.Minute))
}

// A new epoch began, and it leaves before it is told again. (`here` outlives the epoch: renew.lua.)
func TestWhoLeavesRightAfterANewEpochIsToldToBeGone(t *testing.T) {
	l := newTeller(t)
	c := l.waits("a")
	l.next()
	l.mu.Lock()
	l.tellAnew()
	l.mu.Unlock()
	l.leave(c)
	l.requireGone("a")
}

// Silent, told to be gone, the call fails; meanwhile it has answered, and leaves before it is told to be here.
func TestWhoAnswersWhileItsSilenceFailsAndLeavesIsToldToBeGone(t *testing.T) {
	l := newTeller(t)
	c := l.waits("a")
	l.next()
	l.mu.Lock()
	l.silenced(c.session, 0)
	l.mu.Unlock()
	a := l.next()
	require.Len(t, a.gone, 1)
	l.mu.Lock()
	l.answered()
	l.mu.Unlock()
	l.untold(a)
	l.leave(c)
	l.requireGone("a")
}

// Its browser was connected, and it is gone before that was told (the store was away for a while, or it was quick).
func TestWhoseBrowserWasConnectedForAMomentIsToldToBeGone(t *testing.T) {
	l := newTeller(t)
	c := l.waits("a")
	l.leave(c)
	l.requireGone("a")
}
