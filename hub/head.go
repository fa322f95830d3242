package hub

// The sessions at the head of the line get every change at once, and are probed by pings. A session that does
// not answer in time counts as gone since its last answer. Each replica probes only the foremost of its own
// sessions, so the cost does not grow with the line. A session that comes to the head is probed at once.
const (
	headLength = 10  // sessions
	probedFrom = 256 // how far from the head of the line the foremost are looked for
)

// markHead marks the sockets at the head of the line, and probes the sessions that have just got there.
func (l *localRoom) markHead() {
	now := l.h.now()
	for s := range l.foremost(headLength) {
		s.Here.mark(dueState)
		l.h.probe(s, now)
	}
}

// probeHead probes the foremost sessions of this replica, and reports those as gone that have not answered.
// The room's lock guards it.
func (l *localRoom) probeHead(now int64) {
	probed := 0
	for s := range l.foremost(probedFrom) {
		l.h.probe(s, now)
		if heard := s.Here.heard(); l.h.liveness.Silent(&s.Here.Session, heard, now) {
			l.presence.Silenced(s.ID, &s.Here.Session, heard)
		} else {
			probed++
		}
		if probed == headLength {
			return
		}
	}
}

// foremost returns this replica's sessions among the first n of the line.
func (l *localRoom) foremost(n int) func(yield func(*session) bool) {
	return func(yield func(*session) bool) {
		for _, rank := range l.m.Line.Front(n) {
			if s := l.m.AtRank(rank); s != nil && !yield(s) {
				return
			}
		}
	}
}

// visit probes the head of the line, and reports silent sessions that have answered as present. It also drops
// messages that may not be shown any more.
func (l *localRoom) visit() {
	now, ms := l.h.now(), l.h.clock.MS()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.presence.Answered(func(id string) bool {
		s := l.m.Session(id)
		return l.h.liveness.Silent(&s.Here.Session, s.Here.heard(), now)
	})
	l.probeHead(now)
	l.m.Forget(ms)
}

// probe probes a session, unless it answered lately or a probe is pending. The room's lock guards it.
func (h *Hub) probe(s *session, now int64) {
	if h.liveness.Due(&s.Here.Session, s.Here.heard(), now) {
		for _, c := range s.Here.conns {
			c.Probe()
		}
	}
}

// heard returns when one of the session's sockets, open or closed, last received something. The room's lock
// guards it.
func (v *visitor) heard() int64 {
	latest := v.left
	for _, c := range v.conns {
		latest = max(latest, c.Heard())
	}
	return latest
}

// wasThere reports whether a socket that leaves was present until now: it was closed, and not just silent. A
// session that has not answered is not present, even if a proxy closes its socket.
func (h *Hub) wasThere(c *conn, s *session) bool {
	return !c.Lost() && !h.liveness.Silent(&s.Here.Session, s.Here.heard(), h.now())
}
