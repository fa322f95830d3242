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

// later keeps work for the test to do itself.
type later struct{ tasks []func(context.Context) }

func (l *later) Spawn(f func(context.Context)) bool {
	l.tasks = append(l.tasks, f)
	return true
}

func (*later) Failed(context.Context, string, room.ID, error) {}

// run does the work that there is.
func (l *later) run(ctx context.Context) {
	tasks := l.tasks
	l.tasks = nil
	for _, f := range tasks {
		f(ctx)
	}
}

// local is a room whose calls the test makes itself.
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

// take is the next report, as by a call that is under way from then on.
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

// The call that reported its coming was executed and its reply lost; it leaves while the next attempt is
// waited for.
func TestSessionThatLeavesAfterALostReplyIsRecordedAsGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	a := l.take()
	require.Equal(t, []string{"a"}, a.came)
	l.restore(a)
	l.leave("a")
	l.requireGone("a")
}

// It reloads while its departure is under way, that call fails, and it leaves again before it is reported as
// here.
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

// A new epoch began, and it leaves before it is reported again. (`here` outlives the epoch: renew.lua.)
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

// Silent, reported as gone, the call fails; meanwhile it has answered, and leaves before it is reported as
// here.
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

// Its browser was connected, and it is gone before that was reported (the store was away for a while, or it
// was quick).
func TestBriefConnectionIsRecordedAsGone(t *testing.T) {
	l := newLocal(t)
	l.waiting("a")
	l.leave("a")
	l.requireGone("a")
}
