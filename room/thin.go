package room

import (
	"strconv"
	"strings"
	"time"
)

// A lock without waiters is thin: Redis has its lock key and its highest fence. thin.lua takes a free lock
// and gives a thin one back. Where it can not, the room executes the verb in the same call.

// mayBeThin reports whether rooms of a configuration may be thin: nothing is published, journaled or kept.
func mayBeThin(c Config) bool {
	return c.Ephemeral && c.Silent && c.Journal == 0 && c.Leases < 0 && c.Outcomes < 0 && c.ClaimWithin == 0
}

// thinJoin reports whether a join may take a thin lock.
func (e *Engine) thinJoin(q JoinRequest) bool {
	return e.thin && q.Fresh && q.Seller == "" && q.Ticket == 0 && !q.Asks
}

// joinLease returns the lease of a join's place: 0 = the room's, which thin.lua does not know.
func (e *Engine) joinLease(q JoinRequest) time.Duration {
	if q.Lease <= 0 && e.thinJoin(q) {
		return e.cfg.Lease
	}
	return q.Lease
}

// thinLeave reports whether a leave may give a thin lock back.
func (e *Engine) thinLeave(q LeaveRequest) bool { return e.thin && q.Fence != 0 && q.Ticket == 0 }

// parseThin parses a reply of thin.lua; ok is false for any other reply.
func parseThin(res any) (a answer, ok bool) {
	text, _ := res.(string)
	if now, ok := strings.CutPrefix(text, "released "); ok {
		a.Now, a.Place.Status = number(now), Idle
	} else if f, ok := strings.CutPrefix(text, "taken "); ok {
		fence, times, _ := strings.Cut(f, " ")
		now, expires, _ := strings.Cut(times, " ")
		a.Now, a.Lease = number(now), &Lease{Ticket: 1, Fence: number(fence), GrantedAt: number(now),
			ExpiresAt: number(expires)}
		a.Place = Place{Status: Locked, Ticket: a.Lease.Ticket, Fence: a.Lease.Fence}
	} else {
		return answer{}, false
	}
	return a, true
}

// number parses an integer; 0 if the text is not one.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
