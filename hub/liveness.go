package hub

import "time"

// Those who stand in front are asked more often than all others, by a ping of the protocol: the browser answers it also where its
// page is asleep. Who has not answered in time is not there, since it was last heard of. Each replica asks the
// foremost of its own who are there, so that it costs the same however long the line is; who is moved to the front by an event is
// asked at once.
const (
	inFront   = frontRow // how many are asked
	lookedFor = 256      // how far from the head of the line they are looked for
	mostVisit = 700 * time.Millisecond
)

// liveness says how often who stands in front is asked, how long it has to answer, and how often that is looked at.
type liveness struct {
	every, within int64 // ns
	visit         time.Duration
}

// livenessOf leaves time within AWAY_AFTER for what comes after: two visits, to ask and to notice. Below a second of AWAY_AFTER networks are too slow for that.
func livenessOf(away time.Duration) liveness {
	within := min(max(away/5, 200*time.Millisecond), 3*time.Second)
	return liveness{every: int64(min(max(away/3, 250*time.Millisecond), 5*time.Second)), within: int64(within), visit: min(within/2, mostVisit)}
}

// heard is when one of the session's sockets, also of those that have left, was last heard of. The room's lock guards it.
func (v *visitor) heard() int64 {
	latest := v.left
	for _, c := range v.conns {
		latest = max(latest, c.Heard())
	}
	return latest
}

// probe has a session asked, unless it was heard of lately or has to answer still. The room's lock guards it.
func (a liveness) probe(v *visitor, now int64) {
	if heard := v.heard(); v.probed <= heard && now-heard >= a.every {
		v.probed = now
		v.probe()
	}
}

func (v *visitor) probe() {
	for _, c := range v.conns {
		c.Probe()
	}
}

// silent reports whether a session that was last heard of then has not answered in time.
func (h *Hub) silent(v *visitor, heard int64) bool {
	return v.probed > heard && h.now()-max(v.probed, h.woke.Load()) > h.liveness.within
}

// stoodStill notes that this process did: what others sent meanwhile is not read yet.
func (h *Hub) stoodStill(gap time.Duration) {
	if int64(gap) > h.liveness.within/2 {
		h.woke.Store(h.now())
	}
}

// askFront asks the foremost of those who are here, and finds out who has not answered. The room's lock guards it.
func (l *localRoom) askFront(now int64) {
	asked := 0
	for _, rank := range l.m.Line.Front(lookedFor) {
		s := l.m.AtRank(rank)
		if s == nil {
			continue
		}
		l.h.liveness.probe(&s.Here, now)
		if heard := s.Here.heard(); l.h.silent(&s.Here, heard) {
			l.silenced(s, heard)
		} else {
			asked++
		}
		if asked == inFront {
			return
		}
	}
}

// wasThere reports whether a socket that leaves was there until now: it was closed, and not just silent. Who has not
// answered is not there for being closed by some proxy between.
func (h *Hub) wasThere(c *conn, s *session) bool {
	return !c.Lost() && !h.silent(&s.Here, s.Here.heard())
}
