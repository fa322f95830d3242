package hub

import (
	"slices"
	"sync"
	"time"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/presence"
	"github.com/waitroom/waitroom/room"
)

type (
	// session is a session with sockets on this replica. The room's lock guards it.
	session = mirror.Session[visitor]
	effects = mirror.Effects[visitor]
)

// visitor has the hub's data about a session.
type visitor struct {
	presence.Session
	conns     []*conn
	asked     bool    // waits to be looked up
	linkAsked bool    // waits for the link of its new sockets to be found
	ending    *ending // its turn was ended by a message that it is to be sent first; nil: by none
	ticket    int64   // of the place with which it was reported as present last
	left      int64   // when the latest socket that has left was last heard of, ns of the hub's clock
}

// localRoom is one room on this replica: its mirror and its sockets. No write to a socket and no call is made
// under its lock, which guards all its parts.
type localRoom struct {
	h  *Hub
	id room.ID

	mu     sync.RWMutex
	m      mirror.Mirror[visitor]
	shared shared
	conns  []*conn
	dead   bool      // retired: a new socket needs a new localRoom
	empty  time.Time // since when there is no socket
	turn   int       // index in Hub.rounds, whose lock guards it

	snapshots  snapshots
	seats      seatLookup
	linkLookup linkLookup
	links      linkedSockets
	presence   *presence.Room
	expiry     expiry
	back       coalescer
	listeners  listeners
	desk       *desk.Room // nil while no agent watches here
}

func newLocalRoom(h *Hub, id room.ID) *localRoom {
	l := &localRoom{h: h, id: room.ID([]byte(id)), m: mirror.New[visitor](), empty: time.Now()}
	l.snapshots.l, l.seats.l, l.linkLookup.l, l.links.l, l.expiry.l, l.back.l, l.listeners.l = l, l, l, l, l,
		l, l
	l.presence = h.presence.NewRoom(l.id, &l.mu, sessions{l})
	l.shared.room(l.id)
	return l
}

// sessions are those of a local room, for package presence.
type sessions struct{ l *localRoom }

func (n sessions) Present(id string) (s *presence.Session, waits bool) {
	if found := n.l.m.Session(id); found != nil {
		return &found.Here.Session, found.Seat.Status == room.Waiting
	}
	return nil, false
}

func (n sessions) Observe(v room.View) { n.l.snapshots.observe(v) }

// enter adds a socket; session "" is a spectator. It returns false if the room was retired meanwhile.
func (l *localRoom) enter(c *conn, id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	c.room, c.at = l, int32(len(l.conns))
	l.conns = append(l.conns, c)
	c.pending = id != "" && l.h.cfg.Linked != nil
	if id != "" {
		l.seatConn(c, id)
	}
	if l.m.Live && !c.pending {
		c.Mark(dueState|dueMessages, true)
	}
	return true
}

// seatConn adds a socket to a session. The session is looked up if it is new, if the socket's link is not
// known yet, or if it has messages, since these may have been rejected.
func (l *localRoom) seatConn(c *conn, id string) {
	s := l.m.Session(id)
	if s == nil {
		s = l.m.Enter(id)
		l.presence.Entered(id, &s.Here.Session)
		l.seats.ask(s)
	} else {
		c.pending = c.pending && !(l.m.Current(s) && s.Seat.Live())
		c.looking = s.HasMessages()
		if c.pending || c.looking {
			l.seats.ask(s)
		}
	}
	l.presence.Joined(id, &s.Here.Session, s.Seat.Status == room.Waiting)
	c.session, c.noticed = s, s.Noticed()
	s.Here.conns = append(s.Here.conns, c)
}

// has reports whether a socket is still in the room.
func (l *localRoom) has(c *conn) bool { return int(c.at) < len(l.conns) && l.conns[c.at] == c }

// leave removes a socket. A session's last socket removes the session, too.
func (l *localRoom) leave(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.conns) - 1
	l.conns[c.at] = l.conns[last]
	l.conns[c.at].at = c.at
	l.conns[last] = nil
	l.conns = l.conns[:last]
	if last == 0 {
		l.conns, l.empty = nil, time.Now()
	}
	if c.link != nil {
		l.links.Remove(c)
	}
	if s := c.session; s != nil {
		l.unseatConn(c, s)
	}
}

func (l *localRoom) unseatConn(c *conn, s *session) {
	there := l.h.wasThere(c, s)
	v := &s.Here
	if i := slices.Index(v.conns, c); i >= 0 {
		v.conns = append(v.conns[:i:i], v.conns[i+1:]...)
	}
	v.left = max(v.left, c.Heard())
	if there {
		v.left = l.h.now()
	}
	if len(v.conns) > 0 {
		return
	}
	l.presence.Left(s.ID, &v.Session, v.left)
	v.endSent()
	l.m.Leave(s)
}

// event handles an event from the subscription.
func (l *localRoom) event(e room.Event) {
	l.mu.Lock()
	l.advance(&e)
	l.listeners.send()
	l.mu.Unlock()
	l.back.flush()
}

// advance brings the mirror to an event, and then all that depends on the mirror: which sockets are due a
// frame, the lease's timer, lookups, reports of presence, and support's view. After a gap it only asks for a
// snapshot. The caller holds the room's lock, and flushes the back of the line without it.
func (l *localRoom) advance(e *room.Event) {
	before := l.m.Lease
	f := l.m.Apply(e)
	for _, s := range f.Noticed {
		s.Here.mark(dueState | dueNotices)
	}
	for _, s := range f.Judging {
		l.holdEnd(s)
	}
	l.h.metrics.event(f.Verdict)
	switch {
	case f.Verdict == mirror.Kept || f.Verdict == mirror.Unwanted:
		return
	case f.Snapshot != "":
		l.snapshots.ask(f.Snapshot)
		return
	}
	if f.Anew {
		l.reportAll()
	}
	if f.Verdict == mirror.Applied {
		l.redraw()
	}
	l.markChanged(f)
	l.links.comeBack(l.links.Over(e))
	if f.Expires {
		l.expiry.arm()
		l.h.metrics.expired(e, before)
	}
	l.lookAndReport(f)
	if l.desk != nil {
		l.desk.Event(e, f.Verdict)
	}
}

// markChanged marks the sockets that an event concerns: those whose own place changed, then the head of the
// line, and the back of the line later.
func (l *localRoom) markChanged(f *effects) {
	for _, s := range f.Seats {
		l.placed(s)
		s.Here.mark(dueState)
	}
	if f.All {
		l.markHead()
	}
	for _, s := range f.Caught {
		s.Here.mark(dueState)
	}
	if f.All {
		l.back.behind(time.Now())
	}
}

// lookAndReport looks up the sessions that need it, and reports those as present that the engine has as away.
func (l *localRoom) lookAndReport(f *effects) {
	for _, s := range f.Look {
		l.seats.ask(s)
	}
	for _, s := range f.Judged {
		s.Here.judged()
	}
	for _, ticket := range f.Away { // a replica of an earlier version may have taken it for away
		if s := l.m.Waiter(ticket); s != nil {
			l.reportWaiting(s)
		}
	}
}

// placed reports a session as present after its seat was set, once for each place. Its new sockets show that
// place.
func (l *localRoom) placed(s *session) {
	if s.Seat.Live() {
		l.links.standForItself(s)
	}
	if again := s.Here.ticket != s.Seat.Ticket; again || !s.Here.Reported() {
		s.Here.ticket = s.Seat.Ticket
		l.reportWaiting(s)
	}
}

// reportWaiting reports a waiting session as present.
func (l *localRoom) reportWaiting(s *session) {
	l.presence.Waits(s.ID, &s.Here.Session, s.Seat.Status == room.Waiting)
}

// reportAll reports every session again: Redis lost the reports, or they were made under another number.
func (l *localRoom) reportAll() {
	for s := range l.m.Sessions() {
		l.reportWaiting(s)
	}
	l.presence.Report()
}

func (v *visitor) mark(due uint32) {
	for _, c := range v.conns {
		c.Mark(due, true)
	}
}
