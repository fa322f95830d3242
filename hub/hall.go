package hub

import (
	"slices"
	"sync"
	"time"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// frontRow is how many at the head of the line always hear at once.
const frontRow = 10

// session is a session that has sockets here. The hall's lock guards it.
type session = mirror.Session[visitor]

// visitor is what the hub keeps of a session.
type visitor struct {
	conns     []*conn
	asked     bool      // waits to be looked up
	coming    bool      // waits to be told to the engine
	linkAsked bool      // waits for it to be asked for whom its new sockets stand
	ending    *ending   // its turn was ended by a message that it is to be told first; nil: by none
	told      room.ReplicaNumber // the number under which the engine was told that it is here; 0 = it was not
	probed    int64     // when its sockets were asked and have not answered as far as was looked, ns of the hub's clock; 0 = not asked
	left      int64     // when the latest socket that has left was last heard of, likewise
}

// hall is one room on this replica: its mirror and the sockets of its sessions. Nothing is written
// to a socket under its lock, and no call goes out under it.
type hall struct {
	h  *Hub
	id room.ID

	mu     sync.RWMutex
	m      mirror.Mirror[visitor]
	shared shared
	conns  []*conn
	linked []*conn   // those of the conns whose session is another browser's
	dead   bool      // let go of: a new socket needs a new hall
	empty  time.Time // since when there is no socket
	turn   int       // its place in the rounds

	behind behind
	look   lookup
	links  linkLookup
	who    presence
	expiry deadline
	back   coalescer
	desk   *deskRoom // nil while nobody of support watches here

	listeners map[chan struct{}]struct{} // see Changes; such a hall is not let go of

	relinking bool // it is being asked what became of the browsers of the linked
}

func newHall(h *Hub, id room.ID) *hall {
	l := &hall{h: h, id: room.ID([]byte(id)), m: mirror.New[visitor](), empty: time.Now()}
	l.shared.room(l.id)
	return l
}

// enter adds a socket; session "" is a spectator. False when the hall was let go of meanwhile.
func (l *hall) enter(c *conn, id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	c.hall, c.at = l, int32(len(l.conns))
	l.conns = append(l.conns, c)
	c.unsure = id != "" && l.h.cfg.Linked != nil
	if id != "" {
		l.seatConn(c, id)
	}
	if l.m.Live && !c.unsure {
		c.Mark(dueState|dueMessages, true)
	}
	return true
}

func (l *hall) seatConn(c *conn, id string) {
	s := l.m.Session(id)
	if s == nil {
		s = l.m.Enter(id)
		l.returned(s)
		l.ask(s)
	} else if c.unsure = c.unsure && !(l.m.Current(s) && s.Seat.Live()); c.unsure {
		l.ask(s)
	}
	if l.who.silent[id] != nil { // it answers on another socket
		delete(l.who.silent, id)
		l.presentAgain(s)
	}
	c.session, c.noticed = s, s.Noticed()
	s.Here.conns = append(s.Here.conns, c)
}

// has reports whether a socket has not left.
func (l *hall) has(c *conn) bool { return int(c.at) < len(l.conns) && l.conns[c.at] == c }

// leave takes a socket out. The last one of a session takes the session with it.
func (l *hall) leave(c *conn) {
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
		l.linked = slices.DeleteFunc(l.linked, func(other *conn) bool { return other == c })
	}
	if s := c.session; s != nil {
		l.unseatConn(c, s)
	}
}

func (l *hall) unseatConn(c *conn, s *session) {
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
	l.absent(s, v.left)
	v.endTold()
	l.m.Leave(s)
	delete(l.who.silent, s.ID)
}

// event takes an event from the subscription.
func (l *hall) event(e room.Event) {
	l.mu.Lock()
	l.apply(&e)
	l.tellListeners()
	l.mu.Unlock()
	l.tellBack()
}

// apply has the mirror take an event, and does what that calls for.
func (l *hall) apply(e *room.Event) {
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
		l.resync(f.Snapshot)
		return
	}
	if f.Anew {
		l.tellAnew()
	}
	if f.State {
		l.shared.state(&l.m.State)
	}
	l.tell(f)
	l.unlink(func(c *conn) bool { return c.replaced() || c.link.joined(e) })
	if f.Expires {
		l.armExpiry()
		l.h.metrics.expired(e, before)
	}
	l.heed(f)
	if l.desk != nil {
		l.desk.event(e, f.Verdict)
	}
}

// tell tells those whom it concerns most, the head of the line before everybody behind it.
func (l *hall) tell(f *mirror.Effects[visitor]) {
	for _, p := range f.Placed {
		l.placed(p)
	}
	for _, s := range f.Seats {
		s.Here.mark(dueState)
	}
	if f.Front {
		l.tellFront()
	}
	for _, s := range f.Caught {
		s.Here.mark(dueState)
	}
	if f.All {
		l.back.behind(time.Now())
	}
}

// heed has looked up what there is to be looked up, and those told to be here whom the engine holds for away.
func (l *hall) heed(f *mirror.Effects[visitor]) {
	for _, s := range f.Look {
		l.ask(s)
	}
	for _, s := range f.Judged {
		s.Here.judged()
	}
	for _, ticket := range f.Away { // a program of before may have judged it
		if s := l.m.Waiter(ticket); s != nil {
			l.presentAgain(s)
		}
	}
}

// placed has it told that a session is here which has a place now, or another one: that one its new sockets show, whatever else they could.
func (l *hall) placed(p mirror.Placed[visitor]) {
	if p.Seat.Live() {
		l.standForItself(p.Session)
	}
	if p.Again || p.Here.told == 0 {
		l.presentAgain(p.Session)
	}
}

func (v *visitor) mark(what uint32) {
	for _, c := range v.conns {
		c.Mark(what, true)
	}
}

// tellFront tells the head of the line, and asks who has come there whether it is still there.
func (l *hall) tellFront() {
	now := l.h.now()
	for _, rank := range l.m.Line.Front(frontRow) {
		if s := l.m.AtRank(rank); s != nil {
			s.Here.mark(dueState)
			l.h.liveness.probe(&s.Here, now)
		}
	}
}
