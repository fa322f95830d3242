package presence

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// later is a pool that queues tasks until the test runs them.
type later struct{ tasks []func(context.Context) }

func (l *later) Spawn(f func(context.Context)) bool {
	l.tasks = append(l.tasks, f)
	return true
}

func (*later) Failed(context.Context, string, room.ID, error) {}

// run runs the queued tasks.
func (l *later) run(ctx context.Context) {
	tasks := l.tasks
	l.tasks = nil
	for _, f := range tasks {
		f(ctx)
	}
}

// local is a room whose calls to the engine the test makes itself.
type local struct {
	*testing.T
	*Room
	lock sync.Mutex
	here map[string]*visitor
	work *later
	now  int64
	rdb  *redis.Client
}

type visitor struct {
	Session
	waits bool
}

func newLocal(t *testing.T) *local {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	l := &local{T: t, here: make(map[string]*visitor), work: &later{}, rdb: rdb}
	replica := NewReplica(Config{Engine: room.New(rdb, room.Config{}), Tasks: l.work,
		Every: 700 * time.Millisecond,
		Now:   func() int64 { return l.now }, InUse: func(room.ID) bool { return true }})
	replica.number.Store(7)
	l.Room = replica.NewRoom("integration", &l.lock, l)
	return l
}

func (l *local) Present(id string) (*Session, bool) {
	if v := l.here[id]; v != nil {
		return &v.Session, v.waits
	}
	return nil, false
}

func (*local) Observe(room.View) {}

// enter opens the first socket of a session.
func (l *local) enter(id string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.here[id] = &visitor{}
	l.Entered(id, &l.here[id].Session)
}

// waiting opens the first socket of a session that waits.
func (l *local) waiting(id string) {
	l.enter(id)
	l.lock.Lock()
	defer l.lock.Unlock()
	l.here[id].waits = true
	l.Waits(id, &l.here[id].Session, true)
}

// leave closes the last socket of a session.
func (l *local) leave(id string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.Left(id, &l.here[id].Session, l.now)
	delete(l.here, id)
}

// take returns the next report, as if a call with it was then on its way.
func (l *local) take() report {
	a, _ := l.next()
	l.lock.Lock()
	l.reporting = true
	l.lock.Unlock()
	return a
}

func (l *local) requireGone(id string) {
	l.Helper()
	var gone []string
	for range 3 {
		for _, g := range l.take().gone {
			gone = append(gone, g.Session)
		}
	}
	require.True(l, slices.Contains(gone, id), "its last socket is gone, and the engine never records it")
}

// The call that reported the session as present was executed, but its reply was lost. The session leaves
// before the call is repeated.
func TestSessionThatLeavesAfterALostReplyIsRecordedAsGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	a := l.take()
	require.Equal(t, []string{"a"}, a.came)
	l.restore(a)
	l.leave("a")
	l.requireGone("a")
}

// The browser reloads while the call about its departure is on its way. That call fails, and the browser
// leaves again before it is reported as present.
func TestSessionThatReloadsWhileItsDepartureFailsAndLeavesIsRecordedAsGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	l.take()
	l.leave("a")
	a := l.take()
	require.Len(t, a.gone, 1)
	l.enter("a") // looked up, but the store does not answer
	l.restore(a)
	l.leave("a")
	l.requireGone("a")
}

// Without a heartbeat nothing is reported.
func TestRoomIsBusyUntilEverySocketHasGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	l.take()
	l.leave("a")
	l.now += int64(time.Hour)
	_, ok := l.next()
	require.False(t, ok)
	require.True(t, l.Busy())
	l.replica.beaten.Store(l.now)
	l.requireGone("a")
	_, ok = l.next()
	require.False(t, ok)
	require.False(t, l.Busy())
}

// A new epoch begins, and the session leaves before it is reported again. The key {room}:here, which lists
// the connected sessions, outlives an epoch (room/lua/verb/replay.lua).
func TestSessionThatLeavesRightAfterANewEpochIsRecordedAsGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	l.take()
	l.lock.Lock()
	l.Waits("a", &l.here["a"].Session, true)
	l.lock.Unlock()
	l.leave("a")
	l.requireGone("a")
}

// The session was silent, and the call that reports it as gone fails. Meanwhile it answers, and leaves before
// it is reported as present.
func TestSessionThatAnswersWhileItsSilenceFailsAndLeavesIsRecordedAsGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	l.take()
	l.lock.Lock()
	l.Silenced("a", &l.here["a"].Session, 0)
	l.lock.Unlock()
	a := l.take()
	require.Len(t, a.gone, 1)
	l.lock.Lock()
	l.Answered(func(string) bool { return false })
	l.lock.Unlock()
	l.restore(a)
	l.leave("a")
	l.requireGone("a")
}

// The browser connected and left before that was reported, since Redis was away or the visit was short.
func TestBriefConnectionIsRecordedAsGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	l.leave("a")
	l.requireGone("a")
}
