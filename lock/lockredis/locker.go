package lockredis

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/room"
)

// Locker is the lock.Locker on Redis. It is safe for many goroutines.
type Locker struct {
	rdb         redis.UniversalClient
	interrupter *interrupter // nil: calls do not end with their contexts
	engine      *room.Engine
	heartbeat   time.Duration
	log         *slog.Logger
	watch       *watch
	channel     string // where Redis publishes this locker's grants

	stop     context.CancelFunc
	done     chan struct{} // closed by Close
	attempts chan *attempt // the first subscription, asked for
	lookNow  chan struct{} // pushes may have been lost
	work     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	first    *attempt
	hangUp   func()
	lines    map[room.ID]*line
	unpushed map[string]time.Time // session whose grant an answer showed before a push -> since
}

var _ lock.Locker = (*Locker)(nil)

// roomPrefix keeps locks apart from the waiting rooms of the same Redis: the lock of stock:item:456 is the
// key {lock:stock:item:456}:lock. No waiting room begins so; a key may have a % and more bytes than a room's
// id, neither of which an engine checks.
const roomPrefix = room.LibraryPrefix

func roomOf(key lock.Key) room.ID { return room.ID(roomPrefix + key.String()) }

// New makes a locker on a client; the caller closes the client, after the locker. It sends nothing before its
// first use. Make one for the process: each has a subscription of its own.
func New(rdb redis.UniversalClient, cfg Config) *Locker {
	cfg = cfg.withDefaults()
	client, interrupter := rdb, (*interrupter)(nil)
	if own, i := interruptible(rdb); own != nil {
		client, interrupter = own, i
	}
	engine := room.New(client, room.Config{
		AwayAfter: awayAfter, DropAfter: dropAfter, Outcomes: -1, Leases: -1, Silent: true, Ephemeral: true,
		KeyPrefix: cfg.Prefix,
	})
	l := &Locker{
		rdb: rdb, interrupter: interrupter, engine: engine, heartbeat: cfg.Heartbeat, log: cfg.Logger,
		watch:   &watch{cfg.Metrics, cfg.Tracer},
		channel: engine.Names().Channel("waitroom-lock:" + room.NewSession()),
		done:    make(chan struct{}), attempts: make(chan *attempt, 1),
		lookNow: make(chan struct{}, 1), lines: make(map[room.ID]*line), unpushed: make(map[string]time.Time),
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	l.work.Go(func() { l.listen(ctx) })
	l.work.Go(func() { l.beat(ctx) })
	return l
}

// Close ends this locker's waits with lock.ErrClosed, and its background work; it returns when all of that is
// over. Leases stay, and Unlock still works. The error is always nil.
func (l *Locker) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
		l.stop()
	}
	l.mu.Unlock()
	l.work.Wait()
	if l.interrupter != nil {
		l.interrupter.close()
	}
	return nil
}
