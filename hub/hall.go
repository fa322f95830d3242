package hub

import (
	"sync"
	"time"

	"github.com/waitroom/waitroom/room"
)

// frontRow is how many at the head of the line always hear at once.
const frontRow = 10

// hall is one room on this replica: its mirror, its sessions and their sockets. Nothing is written
// to a socket under its lock, and no call goes out under it.
type hall struct {
	h  *Hub
	id room.ID

	mu       sync.RWMutex
	m        mirror
	live     bool   // a snapshot was taken: there is something to tell
	base     int64  // version of the latest snapshot: what is known as of before may have missed an event
	rev      uint32 // grows when a snapshot replaced the mirror
	shared   shared
	sessions map[string]*session
	byRank   map[float64]*session
	conns    []*conn
	dead     bool                  // let go of: a new socket needs a new hall
	empty    time.Time             // since when there is no socket
	turn     int                   // its place in the rounds
	shown    map[*session]struct{} // those who are shown messages

	sync   resync
	look   lookup
	who    presence
	expiry deadline
	back   coalescer
	desk   *deskRoom // nil while nobody of support watches here
}

func newHall(h *Hub, id room.ID) *hall {
	l := &hall{h: h, id: room.ID([]byte(id)), sessions: make(map[string]*session), byRank: make(map[float64]*session), empty: time.Now()}
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
	c.hall, c.at = l, len(l.conns)
	l.conns = append(l.conns, c)
	if id != "" {
		l.seatConn(c, id)
	}
	if l.live {
		c.mark(dueState|dueMessages, true)
	}
	return true
}

func (l *hall) seatConn(c *conn, id string) {
	s := l.sessions[id]
	if s == nil {
		s = &session{id: string([]byte(id)), epoch: -1}
		l.sessions[s.id] = s
		l.returned(s)
		l.ask(s)
	} else if l.who.silent[id] != nil { // it answers on another socket
		delete(l.who.silent, id)
		l.presentAgain(s)
	}
	c.session, c.noticed = s, s.noticed
	s.conns = append(s.conns, c)
}

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
	if s := c.session; s != nil {
		l.unseatConn(c, s)
	}
}

func (l *hall) unseatConn(c *conn, s *session) {
	there := l.h.wasThere(c, s)
	for i := range s.conns {
		if s.conns[i] == c {
			s.conns = append(s.conns[:i:i], s.conns[i+1:]...)
			break
		}
	}
	s.left = max(s.left, c.heard.Load())
	if there {
		s.left = l.h.now()
	}
	if len(s.conns) > 0 {
		return
	}
	l.absent(s, s.left)
	l.setSeat(s, seat{}, s.epoch, s.asOf)
	delete(l.sessions, s.id)
	delete(l.who.silent, s.id)
	delete(l.shown, s)
}

// setSeat changes a seat and keeps byRank in step.
func (l *hall) setSeat(s *session, to seat, epoch, version int64) bool {
	if s.seat.status == room.Waiting && l.byRank[s.seat.rank] == s {
		delete(l.byRank, s.seat.rank)
	}
	if to.status == room.Waiting {
		l.byRank[to.rank] = s
	}
	again := s.seat.ticket != to.ticket
	changed := s.take(to, epoch, version)
	if again {
		l.presentAgain(s)
	} else {
		l.present(s)
	}
	return changed
}

// current reports whether a seat is as the mirror is: told at a version that the mirror has reached,
// and no event since then was missed.
func (l *hall) current(s *session) bool {
	return s.seat.status != "" && s.epoch == l.m.epoch && s.asOf >= l.base && s.asOf <= l.m.version
}

// event takes an event from the subscription.
func (l *hall) event(e room.Event) {
	l.mu.Lock()
	switch {
	case l.sync.running:
		l.keep(e)
	case l.live:
		l.apply(&e)
	}
	l.mu.Unlock()
	l.tellBack()
}

// apply brings mirror and seats to the event and tells those whom it concerns most.
func (l *hall) apply(e *room.Event) {
	l.notify(e)
	before, paused, gapped := l.m.lease, l.m.paused, l.m.epoch
	v := l.m.apply(e)
	l.h.metrics.event(v)
	switch v {
	case gap:
		l.live = false // nothing is told until the snapshot has come
		switch {
		case e.Epoch != gapped:
			l.resync(reasonEpoch)
		case e.Lineage != l.m.lineage:
			l.resync(reasonHistory)
		default:
			l.resync(reasonGap)
		}
		return
	case applied:
		if e.Epoch != gapped {
			l.base = 0
			l.adoptEpoch()
			l.tellAnew()
		}
		l.shared.state(&l.m)
		if paused == e.Paused && codesOnly(e, before) { // nobody but the holder is shown anything else
			if s := l.sessions[e.Lease.Session]; s != nil {
				s.mark(dueState)
			}
			l.tellAhead()
			break
		}
		l.seats(e)
		l.tellFront()
		l.tellAhead()
		l.back.due = true
		l.armExpiry()
		l.h.metrics.expired(e, before)
	}
	for i := range e.Notes {
		if s := l.sessions[e.Notes[i].Message]; s != nil {
			l.ask(s)
		}
		if away := e.Notes[i].Away; away != nil && *away {
			l.heldForAway(e.Notes[i].Ticket)
		}
	}
	if l.desk != nil {
		l.desk.event(e, v)
	}
}

// codesOnly reports whether an event changed nothing but what the holder asked for.
func codesOnly(e *room.Event, before room.Lease) bool {
	return len(e.Joined)+len(e.Ended)+len(e.Moved) == 0 && e.Lease != nil && e.Lease.Fence == before.Fence && e.Lease.ExpiresAt == before.ExpiresAt
}

// adoptEpoch moves the seats of those who had no place into an epoch that just began.
func (l *hall) adoptEpoch() {
	for _, s := range l.sessions {
		if s.seat.status != "" && !s.seat.live() {
			s.epoch, s.asOf = l.m.epoch, 0
		}
	}
}

// seats applies an event to the sessions that are here.
func (l *hall) seats(e *room.Event) {
	if e.Lease != nil {
		l.reseat(e, e.Lease.Session, seat{status: room.Locked, ticket: e.Lease.Ticket, fence: e.Lease.Fence})
	}
	for i := range e.Moved {
		j := &e.Moved[i]
		l.reseat(e, j.Session, seat{status: room.Waiting, ticket: j.Ticket, rank: j.Rank})
	}
	for i := range e.Joined {
		j := &e.Joined[i]
		l.reseat(e, j.Session, seat{status: room.Waiting, ticket: j.Ticket, rank: j.Rank})
	}
	for i := range e.Ended {
		f := &e.Ended[i]
		l.reseat(e, f.Session, seat{status: room.Ended, outcome: f.Outcome, ticket: f.Ticket})
	}
}

// reseat returns the session when it is here and the event told it something new.
func (l *hall) reseat(e *room.Event, id string, to seat) *session {
	s := l.sessions[id]
	if s == nil || s.epoch == e.Epoch && s.asOf >= e.Version {
		return nil // a look was answered after the event
	}
	if s.seat == to && l.current(s) {
		return nil
	}
	l.setSeat(s, to, e.Epoch, e.Version)
	s.mark(dueState)
	return s
}

func (s *session) mark(what uint32) {
	for _, c := range s.conns {
		c.mark(what, true)
	}
}

// tellFront tells the head of the line, before everybody behind it, and asks who has come there whether it is still there.
func (l *hall) tellFront() {
	now := l.h.now()
	for _, rank := range l.m.line.front(frontRow) {
		if s := l.byRank[rank]; s != nil {
			s.mark(dueState)
			l.h.liveness.probe(s, now)
		}
	}
}
