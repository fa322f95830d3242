package lock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

const (
	awayAfter    = time.Millisecond // a waiter is passed over when its process's last word ran out
	dropAfter    = 5 * time.Second  // and loses its place this much later
	idleKept     = 10 * time.Minute // a lock's keys go away by themselves when nobody used it for so long
	lookEvery    = 5 * time.Second  // an active lock is looked at when no waiter does
	idleEvery    = 61 * time.Second // an idle one once more: then it leaves the index
	storeWithin  = 10 * time.Second // bounds what nobody waits for
	beatsPerWord = 3                // how many heartbeats may be lost before a waiter is passed over
)

// Config says how a Redis locker behaves. Zero fields get the defaults.
type Config struct {
	// Heartbeat is how long a waiter keeps its turn while its process says nothing: dead, frozen or cut
	// off. Each third of it, a process vouches for its waiters, one command per key. Default 3 seconds.
	Heartbeat time.Duration
	Logger    *slog.Logger // is told when work in the background fails; default: nobody is
}

// Redis is the Locker on Redis. It may be used by many goroutines.
type Redis struct {
	rdb       redis.UniversalClient
	engine    *room.Engine
	heartbeat time.Duration
	log       *slog.Logger
	channel   string // where Redis tells this locker of grants

	stop     context.CancelFunc
	done     chan struct{} // closed by Close
	used     chan struct{} // closed by the first TryLock
	use      func()
	attempts chan *attempt // the first subscription, asked for
	lookNow  chan struct{} // pushes may have been lost
	work     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	first    *attempt
	hangUp   func()
	lines    map[room.ID]*line
	unpushed map[string]time.Time // session whose grant was found, not told -> since
}

var _ Locker = (*Redis)(nil)

// New makes a locker on a client, which stays the caller's to close, after the locker. It sends
// nothing before it is first used. Make one for the process: each has a subscription of its own.
func New(rdb redis.UniversalClient, cfg Config) *Redis {
	if cfg.Heartbeat <= 0 {
		cfg.Heartbeat = 3 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	engine := room.New(rdb, room.Config{
		AwayAfter: awayAfter, DropAfter: dropAfter, Outcomes: -1, Leases: -1, Retention: idleKept,
		Silent: true, LookEvery: lookEvery, IdleEvery: idleEvery, SweepEvery: lookEvery, Index: "waitroom-lock", Prefix: roomPrefix,
	})
	l := &Redis{
		rdb: rdb, engine: engine, heartbeat: cfg.Heartbeat, log: cfg.Logger,
		channel: "waitroom-lock:" + room.NewSession(),
		done:    make(chan struct{}), used: make(chan struct{}), attempts: make(chan *attempt, 1),
		lookNow: make(chan struct{}, 1), lines: make(map[room.ID]*line), unpushed: make(map[string]time.Time),
	}
	l.use = sync.OnceFunc(func() { close(l.used) })
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	l.work.Go(func() { l.listen(ctx) })
	l.work.Go(func() { l.beat(ctx) })
	l.work.Go(func() { l.sweep(ctx) })
	return l
}

// Close ends the waits of this locker with ErrClosed and what it does in the background; it returns
// when all that is over. Leases stay, and Unlock still works. The error is always nil.
func (l *Redis) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
		l.stop()
	}
	l.mu.Unlock()
	l.work.Wait()
	return nil
}

// TryLock implements Locker. wait bounds the time in line; the requests themselves are bounded by ctx
// and by the client's own time-outs. A grant that arrives as the wait runs out is returned or given
// back. A waiter that lost its place, because Redis lost its data or this process was cut off for
// seconds, gets in line again.
func (l *Redis) TryLock(ctx context.Context, key Key, wait, lease time.Duration) (*Lease, error) {
	if err := check(key, lease); err != nil {
		return nil, err
	}
	if !l.enter() {
		return nil, ErrClosed
	}
	defer l.work.Done()
	l.use()
	if wait <= 0 {
		return l.tryNow(ctx, newWaiter(key, lease))
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	if err := l.subscribed(ctx); err != nil {
		return nil, err
	}
	for {
		held, err := l.waitInLine(ctx, newWaiter(key, lease), over.C)
		if held != nil || err != nil {
			return held, err
		}
		select { // the place or the lease was lost on the way: once more, from the end of the line
		case <-over.C:
			return nil, ErrNotAcquired
		default:
		}
	}
}

// tryNow takes a free lock.
func (l *Redis) tryNow(ctx context.Context, w *waiter) (*Lease, error) {
	st, err := l.join(ctx, w, true)
	if errors.Is(err, room.ErrLockHeld) || errors.Is(err, room.ErrPaused) {
		return nil, ErrNotAcquired
	}
	if err != nil {
		return nil, err
	}
	return l.granted(w, st)
}

// granted is the lease of a join that found the lock free.
func (l *Redis) granted(w *waiter, st room.Standing) (*Lease, error) {
	held := l.holding(w, grant{fence: st.Fence, expires: st.Lease.ExpiresAt})
	if held == nil {
		return nil, fmt.Errorf("%w: Redis took longer to answer than the lease", ErrNotAcquired)
	}
	return held, nil
}

// waitInLine returns neither lease nor error when the place was lost.
func (l *Redis) waitInLine(ctx context.Context, w *waiter, over <-chan time.Time) (*Lease, error) {
	l.list(w)
	st, err := l.join(ctx, w, false)
	if err != nil {
		l.unlist(w)
		return nil, err
	}
	if st.Status == room.Locked {
		l.unlist(w)
		return l.granted(w, st)
	}
	l.placed(w, st)
	var cause error
	select {
	case g := <-w.news:
		return l.holding(w, g), nil
	case <-over:
		cause = ErrNotAcquired
	case <-ctx.Done():
		cause = fmt.Errorf("wait for lock %s: %w", w.key, ctx.Err())
	case <-l.done:
		cause = ErrClosed
	}
	return l.giveUp(ctx, w, cause)
}

// giveUp leaves the line; a lock that was granted meanwhile is used where the wait alone was over,
// else given back by the same step.
func (l *Redis) giveUp(ctx context.Context, w *waiter, cause error) (*Lease, error) {
	l.unlist(w)
	if cause != ErrNotAcquired {
		l.leaveLater(w)
		return nil, cause
	}
	select {
	case g := <-w.news:
		if held := l.holding(w, g); held != nil {
			return held, nil
		}
		return nil, cause
	default:
	}
	_, err := call(ctx, l, func() (room.Standing, error) { return l.leave(w) }, nil)
	if err != nil && !errors.Is(err, room.ErrNoPlace) {
		return nil, fmt.Errorf("%w: %w", ErrNotAcquired, err)
	}
	return nil, cause
}

// Unlock implements Locker. Where ctx ends before Redis answers, the lock is unlocked all the same if
// the request gets there.
func (l *Redis) Unlock(ctx context.Context, lease *Lease) error {
	if lease == nil || lease.session == "" {
		return ErrNotHeld
	}
	id := lease.Key.room()
	st, err := call(ctx, l, func() (room.Standing, error) {
		return l.engine.Leave(ctx, id, room.LeaveRequest{Session: lease.session, Outcome: room.Completed, Fence: lease.Fence})
	}, nil)
	if errors.Is(err, room.ErrNoPlace) || errors.Is(err, room.ErrStaleFence) {
		return ErrNotHeld
	}
	if err == nil {
		l.note(id, st.View)
	}
	return err
}

// IsHeld implements Locker.
func (l *Redis) IsHeld(ctx context.Context, lease *Lease) (bool, error) {
	if lease == nil || lease.session == "" {
		return false, nil
	}
	st, err := call(ctx, l, func() (room.Standing, error) { return l.engine.Stand(ctx, lease.Key.room(), lease.session) }, nil)
	return err == nil && st.Status == room.Locked && st.Fence == lease.Fence, err
}

// IsLocked implements Locker.
func (l *Redis) IsLocked(ctx context.Context, key Key) (bool, error) {
	v, err := l.look(ctx, key)
	return v.Lease != nil, err
}

// Waiting tells how many wait for the lock, in all processes.
func (l *Redis) Waiting(ctx context.Context, key Key) (int, error) {
	v, err := l.look(ctx, key)
	return v.Waiting, err
}

func (l *Redis) look(ctx context.Context, key Key) (room.View, error) {
	if key == (Key{}) {
		return room.View{}, ErrInvalidKey
	}
	return call(ctx, l, func() (room.View, error) {
		v, _, err := l.engine.Look(ctx, key.room())
		return v, err
	}, nil)
}
