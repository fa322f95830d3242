// Package hub sends browsers the state of their room: one WebSocket per browser, one mirror per room.
//
// It combines packages that do not import it: hub/mirror is a replica's copy of a room, hub/follow the
// subscription to Redis, hub/socket the connections; hub/presence reports which sessions are here, hub/links
// has the sockets that stand for another session's place, hub/desk serves support. A room's mirror follows
// the engine's events. A socket with a frame due is put into a queue once; a small pool of writers makes its
// frame from the mirror at the moment of writing, so the latest state wins and a slow reader costs one frame
// of memory. A socket has one goroutine, its reader. Nothing here decides anything: when the mirror and the
// engine differ, the engine is right and the mirror takes a snapshot.
package hub

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/hub/presence"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/storeclock"
)

// The refusals of ServeSocket, all before anything is written to the response.
var (
	ErrOrigin     = socket.ErrOrigin                              // 403 cross_site
	ErrNotUpgrade = socket.ErrNotUpgrade                          // 400, or 426 where Upgrade is missing
	ErrDraining   = errors.New("server is draining, try another") // 503
	errStale      = errors.New("subscription is not alive")       // wrapped with room.ErrStore: 503
)

// Hub holds the sockets of one replica. Its methods may be called from any goroutine.
type Hub struct {
	cfg     Config
	engine  *room.Engine
	names   room.Names
	log     *slog.Logger
	metrics *metrics
	clock   *storeclock.Clock // the engine's
	start   time.Time         // from which the hub counts its own time
	pool    *socket.Pool
	sub     *follow.Subscription
	keys    *follow.Keyspace

	desk *desk.Desk

	joinedDevice string // channel: another browser was let into a session's place

	// life is the context of background work, which ends with Run and not with a caller's context.
	life context.Context
	end  context.CancelFunc

	presence *presence.Replica
	liveness presence.Liveness
	rounds   rounds

	draining atomic.Bool
	sockets  atomic.Int64 // of sellers and spectators

	mu    sync.RWMutex
	rooms map[room.ID]*localRoom

	tasksMu sync.Mutex
	ended   bool
	tasks   sync.WaitGroup
}

// New returns a hub; Run has to be started.
func New(cfg Config) *Hub {
	cfg = cfg.withDefaults()
	h := &Hub{cfg: cfg, engine: cfg.Engine, names: cfg.Engine.Names(), log: cfg.Log,
		metrics: newMetrics(cfg.Registerer),
		clock:   cfg.Engine.Clock(), start: time.Now(), rooms: make(map[room.ID]*localRoom)}
	h.joinedDevice = h.names.Channel("{waitroom}:joined-device")
	h.liveness.SetAwayAfter(cfg.Engine.Config().AwayAfter)
	h.life, h.end = context.WithCancel(context.Background())
	h.pool = newPool(h)
	h.presence = presence.NewReplica(presence.Config{Engine: h.engine, Tasks: tasks{h}, Now: h.now,
		Every: cfg.Beat,
		InUse: func(id room.ID) bool { return h.room(id) != nil }})
	heard := follow.Config{Redis: cfg.Redis, Names: h.names, Log: cfg.Log, Clock: h.clock, Probe: cfg.Probe,
		Unnotified: cfg.Unnotified,
		Reconnects: h.metrics.reconnects, Tested: func(ctx context.Context) { h.desk.Announce(ctx) },
		Spawn: h.spawn}
	h.sub, h.keys = follow.NewSubscription(heard, listener{h}), follow.NewKeyspace(heard, listener{h})
	h.sub.Channels.Add(h.joinedDevice)
	h.desk = newDesk(h)
	return h
}

func newPool(h *Hub) *socket.Pool {
	m := h.metrics
	return socket.New(socket.Config{
		PingEvery: h.cfg.PingEvery, WriteTimeout: h.cfg.WriteTimeout, CloseGrace: h.cfg.CloseGrace,
		WriteBuffer: h.cfg.WriteBuffer,
		Start:       h.start, Ping: h.ping,
		Metrics: socket.Metrics{Pings: m.pings, Probes: m.probes, Slow: m.slow, Silent: m.silent,
			Floods: m.floods},
	})
}

// Run follows the rooms and serves the sockets until ctx ends. It then closes every open socket at once, and
// returns ctx's error when nothing runs any more. Call Drain first for a graceful end.
func (h *Hub) Run(ctx context.Context) error {
	for range h.cfg.Writers {
		h.spawn(h.pool.Write)
	}
	h.spawn(h.sub.Receive)
	h.spawn(h.sub.Test)
	h.spawn(h.sub.CarryOut)
	h.spawn(h.keys.Run)
	h.spawn(h.keys.CarryOut)
	h.spawn(h.pool.Ping)
	h.spawn(h.sendFreshness)
	h.spawn(h.heartbeat)
	h.spawn(h.visits)
	h.spawn(h.janitor)
	h.spawn(h.desk.Run)
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
	h.pool.Close()
	for _, c := range h.conns() {
		c.Kill()
	}
	h.sub.Close()
	h.keys.Close()
	h.eachRoom(func(l *localRoom) { l.stopTimers() })
	h.tasks.Wait()
}

// spawn runs f in the background; it returns false if the hub has ended.
func (h *Hub) spawn(f func(context.Context)) bool {
	h.tasksMu.Lock()
	defer h.tasksMu.Unlock()
	if h.ended {
		return false
	}
	h.tasks.Go(func() { f(h.life) })
	return true
}

// failed counts a call that Redis did not answer; the caller retries it. It logs at debug level only: with
// many rooms, an outage of Redis would fill the log.
func (h *Hub) failed(ctx context.Context, what string, id room.ID, err error) {
	if ctx.Err() == nil {
		h.metrics.failures.Inc()
		h.log.DebugContext(ctx, what, "room", id, "error", err)
	}
}

// now returns the time on the hub's own clock, in ns.
func (h *Hub) now() int64 { return int64(time.Since(h.start)) }

// ClockTurned makes the hub ask Redis for its time again after Redis's clock was set. Earlier messages have
// wrong times. With Redis Cluster it does nothing: each shard has a clock, and the hub uses all of them.
func (h *Hub) ClockTurned() {
	if _, cluster := h.cfg.Redis.(*redis.ClusterClient); cluster {
		return
	}
	h.spawn(func(ctx context.Context) {
		var wait follow.Backoff
		for {
			sent := time.Now() // of this attempt: the later, the better it separates earlier messages
			now, err := h.cfg.Redis.Time(ctx).Result()
			if err == nil {
				h.clock.Restart(sent, now.UnixMilli())
				return
			}
			h.failed(ctx, "Redis's clock not read", "", err)
			if !wait.Wait(ctx) {
				return
			}
		}
	})
}

// Fresh reports whether the subscription works: its own probe came back lately.
func (h *Hub) Fresh() bool { return h.sub.Fresh() }

// conns returns every open socket.
func (h *Hub) conns() (all []*socket.Conn) {
	for _, c := range h.desk.Conns() {
		all = append(all, &c.Conn)
	}
	h.eachRoom(func(l *localRoom) {
		l.mu.RLock()
		for _, c := range l.conns {
			all = append(all, &c.Conn)
		}
		l.mu.RUnlock()
	})
	return all
}

func (h *Hub) eachRoom(f func(*localRoom)) {
	h.mu.RLock()
	list := make([]*localRoom, 0, len(h.rooms))
	for _, l := range h.rooms {
		list = append(list, l)
	}
	h.mu.RUnlock()
	for _, l := range list {
		f(l)
	}
}

// room returns a room that has sockets on this replica, or had some lately.
func (h *Hub) room(id room.ID) *localRoom {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.rooms[id]
}

// open returns a room, and starts to follow it if necessary.
func (h *Hub) open(id room.ID) *localRoom {
	if l := h.room(id); l != nil {
		return l
	}
	h.mu.Lock()
	l := h.rooms[id]
	if l == nil {
		l = newLocalRoom(h, id)
		h.rooms[l.id] = l
		h.rounds.add(l)
		h.sub.Channels.Add(h.names.Events(l.id))
		h.keys.Add(l.id)
		h.metrics.rooms.Inc()
	}
	h.mu.Unlock()
	return l
}
