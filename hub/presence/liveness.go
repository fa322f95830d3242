package presence

import (
	"sync/atomic"
	"time"
)

// mostVisit is the longest time between two visits to a room's head of the line.
const mostVisit = 700 * time.Millisecond

// Liveness decides when a session is probed by a WebSocket ping, and when it counts as silent. A browser
// answers the ping even while its page is suspended. The hub probes only sessions at the head of the line.
type Liveness struct {
	Visit time.Duration // how often to look for silent sessions

	every, within int64 // ns: between probes, and to answer one
	// when this process last noticed that it had been stopped, ns of the hub's clock
	woke atomic.Int64
}

// SetAwayAfter derives the times from AWAY_AFTER, which has to be longer than every, within and two visits
// together: one visit probes, one notices the silence. Below 650 ms it is not, since answers get 200 ms.
func (a *Liveness) SetAwayAfter(away time.Duration) {
	within := min(max(away/5, 200*time.Millisecond), 3*time.Second)
	a.every, a.within = int64(min(max(away/3, 250*time.Millisecond), 5*time.Second)), int64(within)
	a.Visit = min(within/2, mostVisit)
}

// Due reports whether a session has to be probed: nothing was received from it lately, and no probe is
// pending. The probe then counts as sent. Times are on the hub's clock.
func (a *Liveness) Due(s *Session, heard, now int64) bool {
	if s.probed > heard || now-heard < a.every {
		return false
	}
	s.probed = now
	return true
}

// Silent reports whether a session, from which something was last received at heard, has not answered a probe
// in time.
func (a *Liveness) Silent(s *Session, heard, now int64) bool {
	return s.probed > heard && now-max(s.probed, a.woke.Load()) > a.within
}

// StoodStill records the time since the last visit. After a long gap the sessions get new time to answer,
// since the process has not read yet what they sent meanwhile.
func (a *Liveness) StoodStill(gap time.Duration, now int64) {
	if int64(gap) > a.within/2 {
		a.woke.Store(now)
	}
}
