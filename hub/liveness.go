package hub

import (
	"time"

	"github.com/waitroom/waitroom/room"
)

// Those who stand in front are asked more often than all others, by a ping of the protocol: the browser answers it also where its
// page is asleep. Who has not answered in time is not vouched for, and was there until it was last heard of. Each replica asks the
// foremost of its own who are there, so that it costs the same however long the line is; who is moved to the front by an event is
// asked at once.
const (
	inFront   = frontRow // how many are asked
	lookedFor = 256      // how far from the head of the line they are looked for
	tellLost  = 4        // in how many beats it is told that a connection was lost: after two nobody else vouches
)

// liveness says how often who stands in front is asked, and how long it has to answer.
type liveness struct{ every, within int64 } // ns

// livenessOf leaves time within AWAY_AFTER for what comes after: two turns of the beat to ask and to notice, three until what was
// vouched for has lapsed. Below a second of AWAY_AFTER networks are too slow for that.
func livenessOf(away time.Duration) liveness {
	return liveness{
		every:  int64(min(max(away/3, 250*time.Millisecond), 5*time.Second)),
		within: int64(min(max(away/5, 200*time.Millisecond), 3*time.Second)),
	}
}

// heard is when one of the session's sockets, also of those that have left, was last heard of. The hall's lock guards it.
func (s *session) heard() int64 {
	latest := s.left
	for _, c := range s.conns {
		latest = max(latest, c.heard.Load())
	}
	return latest
}

// probe has a session asked, unless it was heard of lately or has to answer still. The hall's lock guards it.
func (a liveness) probe(s *session, now int64) {
	if heard := s.heard(); s.probed <= heard && now-heard >= a.every {
		s.probed = now
		s.mark(dueProbe)
	}
}

// silent reports whether a session that was last heard of then has not answered in time.
func (h *Hub) silent(s *session, heard int64) bool {
	return s.probed > heard && h.now()-max(s.probed, h.woke.Load()) > h.alive.within
}

// stoodStill notes that this process did: what others sent meanwhile is not read yet.
func (h *Hub) stoodStill(gap time.Duration) {
	if int64(gap) > h.alive.within/2 {
		h.woke.Store(h.now())
	}
}

// askFront asks the foremost of those who are here. The hall's lock guards it.
func (l *hall) askFront(now int64) {
	asked := 0
	for _, rank := range l.m.line.front(lookedFor) {
		s := l.byRank[rank]
		if s == nil {
			continue
		}
		l.h.alive.probe(s, now)
		if !l.h.silent(s, s.heard()) {
			asked++
		}
		if asked == inFront {
			return
		}
	}
}

// attendance lists who waits here, as far as is known, always in about the same order, so that each is named about once per beat;
// and who was here and answers no more. It also forgets old messages.
func (l *hall) attendance() (here []string, silent []room.Silence) {
	now, ms := l.h.now(), l.h.clock.ms()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.askFront(now)
	here = make([]string, 0, len(l.byRank))
	for _, c := range l.conns {
		s := c.session
		if s == nil || s.conns[0] != c {
			continue
		}
		if s.seat.status == room.Waiting || s.seat.status == "" {
			if heard := s.heard(); l.h.silent(s, heard) {
				silent = append(silent, room.Silence{Session: s.id, For: time.Duration(now - heard)})
			} else {
				here = append(here, s.id)
			}
		}
		s.forget(ms)
	}
	return here, append(silent, l.lostLately(now)...)
}

// wasThere reports whether a socket that leaves was there until now: it was closed, and not just silent. Who has not
// answered is not there for being closed by some proxy between.
func (h *Hub) wasThere(c *conn, s *session) bool {
	return !c.lost.Load() && !h.silent(s, s.heard())
}

// loss is a session whose last socket here ended because nothing came from the other side.
type loss struct {
	heard int64
	told  int
}

// lost has it told in the next beats since when a session is not there.
func (l *hall) lost(s *session) {
	if l.beat.lost == nil {
		l.beat.lost = make(map[string]*loss)
	}
	l.beat.lost[s.id] = &loss{heard: s.left}
}

// lostLately lists who was lost and has not come back.
func (l *hall) lostLately(now int64) (silent []room.Silence) {
	for session, gone := range l.beat.lost {
		silent = append(silent, room.Silence{Session: session, For: time.Duration(now - gone.heard)})
		if gone.told++; gone.told == tellLost {
			delete(l.beat.lost, session)
		}
	}
	if len(l.beat.lost) == 0 {
		l.beat.lost = nil
	}
	return silent
}
