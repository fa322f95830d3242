// Package hub tells browsers how their room stands: one WebSocket per browser, one mirror per room.
//
// A room's mirror follows the engine's events. A socket that has something to be told is put into a
// queue once; a small pool of writers makes its frame from the mirror at the moment of writing, so
// the latest state wins and a slow reader costs one frame of memory. A socket has one goroutine, its
// reader. Nothing here decides anything: when the mirror and the engine differ, the engine is right
// and the mirror takes a snapshot.
package hub

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// What ServeSocket refuses, all before anything is written to the response.
var (
	ErrOrigin     = errors.New("origin is not allowed")           // 403 cross_site
	ErrNotUpgrade = errors.New("request is no WebSocket upgrade") // 400, or 426 where Upgrade is missing
	ErrDraining   = errors.New("server is draining, try another") // 503
	errStale      = errors.New("subscription is not alive")       // wrapped with room.ErrStore: 503
)

// Config says what a hub needs. Zero durations and sizes get the defaults.
type Config struct {
	Engine     *room.Engine
	Redis      redis.UniversalClient // for the subscription; stays the caller's to close
	Log        *slog.Logger
	Origins    []string              // allowed beside the server's own host: "https://shop.example" or "shop.example"
	Registerer prometheus.Registerer // nil = metrics are kept and shown to nobody
	Unnotified bool                  // the store has no keyspace notifications: do not ask for them

	PingEvery    time.Duration // an application ping per socket; default 25 s; silent for 2.4 of them is closed
	Beat         time.Duration // how often presence is told and mirrors are checked; default 700 ms
	Probe        time.Duration // how often the subscription is tested; default 1 s
	Coalesce     time.Duration // the back of the line hears of changes no more often; default 250 ms
	WriteTimeout time.Duration // a socket that takes nothing for as long is slow; default 5 s
	CloseGrace   time.Duration // how long a peer has to answer a close; default 1 s
	DrainSpread  time.Duration // over how long a drain's closes are spread; default 2 s
	Linger       time.Duration // how long a room without sockets is still followed; default 30 s
	WriteBuffer  int           // a socket's kernel write buffer, bytes; default 8 KiB
	Writers      int           // size of the writer pool; default 2 per processor
}

func (c Config) withDefaults() Config {
	setDefault(&c.PingEvery, 25*time.Second)
	setDefault(&c.Beat, 700*time.Millisecond)
	setDefault(&c.Probe, time.Second)
	setDefault(&c.Coalesce, 250*time.Millisecond)
	setDefault(&c.WriteTimeout, 5*time.Second)
	setDefault(&c.CloseGrace, time.Second)
	setDefault(&c.DrainSpread, 2*time.Second)
	setDefault(&c.Linger, 30*time.Second)
	setDefault(&c.WriteBuffer, 8<<10)
	setDefault(&c.Writers, 2*runtime.GOMAXPROCS(0))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return c
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// Hub holds the sockets of one replica. Its methods may be called from any goroutine.
type Hub struct {
	cfg     Config
	engine  *room.Engine
	lease   time.Duration
	log     *slog.Logger
	metrics *metrics
	clock   *clock
	queue   *queue
	wheel   *wheel
	sub     *subscription
	keys    *keyspace

	// life ends when Run does. What runs in the background lives by it, not by any caller's context.
	life context.Context
	end  context.CancelFunc

	draining atomic.Bool

	mu    sync.RWMutex
	halls map[room.ID]*hall

	tasksMu sync.Mutex
	ended   bool
	tasks   sync.WaitGroup
}

// New makes a hub; Run brings it to life.
func New(cfg Config) *Hub {
	cfg = cfg.withDefaults()
	h := &Hub{cfg: cfg, engine: cfg.Engine, lease: cfg.Engine.Config().Lease, log: cfg.Log, metrics: newMetrics(cfg.Registerer),
		clock: newClock(), queue: newQueue(), halls: make(map[room.ID]*hall)}
	h.life, h.end = context.WithCancel(context.Background())
	h.wheel = newWheel(h)
	h.sub = newSubscription(h)
	h.keys = newKeyspace(h)
	return h
}

// Run follows the rooms and serves the sockets until ctx ends, then closes every socket that is
// still open, at once, and returns ctx's error when nothing runs any more. A polite end is Drain first.
func (h *Hub) Run(ctx context.Context) error {
	for range h.cfg.Writers {
		h.spawn(h.writer)
	}
	h.spawn(h.sub.receive)
	h.spawn(h.sub.probe)
	h.spawn(h.sub.subscribe)
	h.spawn(h.keys.run)
	h.spawn(h.keys.subscribe)
	h.spawn(h.wheel.run)
	h.spawn(h.presence)
	h.spawn(h.janitor)
	<-ctx.Done()
	h.stop()
	return ctx.Err()
}

func (h *Hub) stop() {
	h.draining.Store(true)
	h.tasksMu.Lock()
	h.ended = true
	h.tasksMu.Unlock()
	h.end()
	h.queue.close()
	for _, c := range h.conns() {
		c.kill()
	}
	h.sub.close()
	h.keys.close()
	h.eachHall(func(l *hall) { l.stopTimers() })
	h.tasks.Wait()
}

// spawn runs f in the background; false when the hub has ended.
func (h *Hub) spawn(f func(context.Context)) bool {
	h.tasksMu.Lock()
	defer h.tasksMu.Unlock()
	if h.ended {
		return false
	}
	h.tasks.Go(func() { f(h.life) })
	return true
}

// failed counts a call that the store did not answer; all of them are made again. The log is quiet
// about it: with many rooms, a store that is away would fill it.
func (h *Hub) failed(ctx context.Context, what string, id room.ID, err error) {
	if ctx.Err() == nil {
		h.metrics.failures.Inc()
		h.log.DebugContext(ctx, what, "room", id, "error", err)
	}
}

// Fresh reports whether the subscription is alive: its own probe came back lately.
func (h *Hub) Fresh() bool { return h.sub.fresh() }

// conns lists every open socket.
func (h *Hub) conns() []*conn {
	var all []*conn
	h.eachHall(func(l *hall) {
		l.mu.RLock()
		all = append(all, l.conns...)
		l.mu.RUnlock()
	})
	return all
}

func (h *Hub) eachHall(f func(*hall)) {
	h.mu.RLock()
	list := make([]*hall, 0, len(h.halls))
	for _, l := range h.halls {
		list = append(list, l)
	}
	h.mu.RUnlock()
	for _, l := range list {
		f(l)
	}
}

// hall finds a room that has sockets here, or had some lately.
func (h *Hub) hall(id room.ID) *hall {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.halls[id]
}

// open finds a room, or starts to follow it.
func (h *Hub) open(id room.ID) *hall {
	if l := h.hall(id); l != nil {
		return l
	}
	h.mu.Lock()
	l := h.halls[id]
	if l == nil {
		l = newHall(h, id)
		h.halls[l.id] = l
		h.sub.add(l.id)
		h.keys.add(l.id)
		h.metrics.rooms.Inc()
	}
	h.mu.Unlock()
	return l
}

// janitor lets go of rooms that nobody looks at any more.
func (h *Hub) janitor(ctx context.Context) {
	tick := time.NewTicker(h.cfg.Linger / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.eachHall(func(l *hall) {
			if l.retire(h.cfg.Linger) {
				h.forget(l)
			}
		})
	}
}

func (h *Hub) forget(l *hall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.halls, l.id)
	h.sub.remove(l.id)
	h.keys.remove(l.id)
	h.metrics.rooms.Dec()
}
