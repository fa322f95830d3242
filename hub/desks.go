package hub

import (
	"context"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

func newDesk(h *Hub) *desk.Desk {
	m := h.metrics
	return desk.New(desk.Config{Settings: h.cfg.Desk, Host: host{tasks{h}}, Engine: h.engine,
		Redis: h.cfg.Redis, Sub: h.sub, Clock: h.clock, Log: h.log, Own: h.cfg.Origins.Own,
		Linger: h.cfg.Linger, Probe: h.cfg.Probe, WriteBuffer: h.cfg.WriteBuffer,
		Metrics: desk.Metrics{Sockets: m.desks, Resyncs: m.deskResyncs, Changes: m.changes,
			ChangeBytes: m.changeBytes}})
}

// ServeDesk turns a request into a socket of support: of one room, or of all rooms if id is "". Errors are
// ServeSocket's. A page of another origin than the server's own is refused, even if Config.Origins trusts it;
// a program is not.
func (h *Hub) ServeDesk(w http.ResponseWriter, r *http.Request, id room.ID, who desk.Watcher) error {
	return h.desk.Serve(w, r, id, who)
}

// SignOut closes all sockets of a sign-in, on every replica, with 4501. The error wraps room.ErrStore: the
// other replicas find out when they are connected again, or check again.
func (h *Hub) SignOut(ctx context.Context, key string) error { return h.desk.SignOut(ctx, key) }

// host is the part of the hub that a desk uses.
type host struct{ tasks }

// Accept takes over a request as a socket of the hub's pool.
func (h host) Accept(w http.ResponseWriter, r *http.Request, allowed func(*http.Request) bool, c *socket.Conn,
	owner socket.Owner) (bool, error) {
	return h.accept(w, r, allowed, c, owner)
}

// Open adds a socket of support to a room.
func (h host) Open(id room.ID, c *desk.Conn) {
	for !h.open(id).watch(c) {
	}
}

// Status returns this replica's state.
func (h host) Status() desk.Status {
	h.mu.RLock()
	rooms := len(h.rooms)
	h.mu.RUnlock()
	return desk.Status{Sockets: int(h.sockets.Load()), Rooms: rooms, Stale: !h.Fresh(),
		Draining: h.draining.Load()}
}

// watch adds a socket of support. It returns false if the room was retired meanwhile.
func (l *localRoom) watch(c *desk.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	if l.desk == nil {
		l.desk = l.h.desk.NewRoom(l.id, &l.mu, line{l}, func() { l.desk, l.empty = nil, time.Now() })
	}
	l.desk.Watch(c)
	return true
}

// line is a local room as the desk reads it.
type line struct{ l *localRoom }

func (n line) At() (at mirror.Revision, live, following bool) {
	m := &n.l.m
	return m.Revision, m.Live, m.Live && !m.Reading()
}

func (n line) OpensAt() int64 { return n.l.shared.opens }

func (n line) Resync(reason mirror.Reason) { n.l.snapshots.ask(reason) }

func (n line) Expect(version mirror.Revision) { n.l.snapshots.expect(version) }

// tasks runs background work for the hub's parts.
type tasks struct{ *Hub }

func (t tasks) Spawn(f func(context.Context)) bool { return t.spawn(f) }

func (t tasks) Failed(ctx context.Context, what string, id room.ID, err error) {
	t.failed(ctx, what, id, err)
}
