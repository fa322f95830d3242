package room

import (
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
func (e *Engine) parseThin(id ID, res any) (a answer, ok bool) {
	text, _ := res.(string)
	if now, ok := strings.CutPrefix(text, "released "); ok {
		a.standing = Standing{View: View{Now: number(now)}, Place: Place{Status: Idle}}
	} else if f, ok := strings.CutPrefix(text, "taken "); ok {
		fence, times, _ := strings.Cut(f, " ")
		now, expires, _ := strings.Cut(times, " ")
		lease := &Lease{Ticket: 1, Fence: number(fence), GrantedAt: number(now), ExpiresAt: number(expires)}
		a.standing = Standing{View: View{Now: lease.GrantedAt, Lease: lease},
			Place: Place{Status: Locked, Ticket: lease.Ticket, Fence: lease.Fence}}
	} else {
		return answer{}, false
	}
	a.standing.LeaseLength = e.Terms(id).Lease
	return a, true
}
