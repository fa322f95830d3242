package faults

import (
	"fmt"
	"time"
)

// leasesApart requires that of two leases one was over when the other began, by time and by version, and that
// fences grow.
func (r *roomLog) leasesApart() (found []Violation) {
	for i, l := range r.leases {
		for _, s := range l.locked {
			if s.Ticket != l.ticket || s.Session != l.session {
				found = append(found, r.violation(TwoHolders, s.Ended,
					fmt.Sprintf("fence %d was given to ticket %d of %s and to ticket %d of %s",
						l.fence, l.ticket, l.session, s.Ticket, s.Session)))
				break
			}
		}
		if i > 0 {
			found = append(found, r.apart(r.leases[i-1], l)...)
		}
	}
	return append(found, r.fencesGrow()...)
}

func (r *roomLog) apart(before, next *lease) (found []Violation) {
	// Where Redis's clock was set meanwhile their times are of two clocks; their versions are of one room.
	comparable := before.expires != 0 && !r.clockSet(before.first.Began.Mono, next.first.Ended.Mono)
	if over := before.endedFrom(); comparable && next.grantedBy()+clockGrain.Milliseconds() < over {
		found = append(found, r.violation(TwoHolders, next.first.Ended, fmt.Sprintf(
			"fence %d (ticket %d) was granted to ticket %d while fence %d of ticket %d had %d ms left (ended by "+
				"none before)",
			next.fence, next.ticket, next.ticket, before.fence, before.ticket, over-next.grantedBy())))
	}
	latest, earliest := lineage{}, next.first.lineage()
	var last statement
	for _, s := range before.locked {
		if s.Epoch == next.first.Epoch && s.lineage().beyond(latest) {
			latest, last = s.lineage(), s
		}
	}
	for _, s := range next.locked {
		if s.Epoch == earliest.epoch && s.Version < earliest.version {
			earliest.version = s.Version
		}
	}
	if latest.epoch == earliest.epoch && latest.version >= earliest.version {
		found = append(found, r.violation(TwoHolders, last.Ended, fmt.Sprintf(
			"ticket %d (fence %d) was shown as holding at version %d, ticket %d (fence %d) at version %d of the "+
				"same epoch",
			before.ticket, before.fence, latest.version, next.ticket, next.fence, earliest.version)))
	}
	return found
}

// fencesGrow requires that a lease which began later has a higher fence.
func (r *roomLog) fencesGrow() (found []Violation) {
	var latest *lease
	for _, l := range r.leases {
		if l.granted == 0 {
			continue
		}
		if latest != nil && l.granted+clockGrain.Milliseconds() < latest.granted {
			found = append(found, r.violation(FenceBack, latest.first.Ended, fmt.Sprintf(
				"fence %d was granted %d ms after fence %d", latest.fence, latest.granted-l.granted, l.fence)))
		}
		if latest == nil || l.granted > latest.granted {
			latest = l
		}
	}
	return found
}

// heldTooLong requires that no answer shows a lease as held after its end or after the next grant. A socket
// may be late while a fault explains it.
func (r *roomLog) heldTooLong() (found []Violation) {
	for i, l := range r.leases {
		next, seen := forever, forever
		if i+1 < len(r.leases) {
			next, seen = r.leases[i+1].grantedBy(), r.leases[i+1].first.Ended.Mono
		}
		for _, s := range l.locked {
			if r.clockSetAround(s.Began.Mono, seen) {
				continue // then a lease's end may lie before its observations
			}
			over := min(next, max(s.ExpiresAt, l.expires))
			slack := clockGrain
			if s.Kind == KindFrame {
				slack = grantWithin
				if r.broken(over, s.asOf) {
					continue
				}
			}
			if s.asOf > over+slack.Milliseconds() {
				found = append(found, r.violation(HeldTooLong, s.Ended, fmt.Sprintf(
					"ticket %d was shown by a %s as holding fence %d, %d ms after that was over", s.Ticket, s.Kind,
					l.fence, s.asOf-over)))
				break
			}
		}
	}
	return found
}

// stuck requires that a free lock is granted to a present waiter.
func (r *roomLog) stuck() (found []Violation) {
	for i, l := range r.leases {
		free := l.expires
		if at := r.endSeen(l.ticket); at != 0 {
			free = min(free, at)
		}
		if l.missed != 0 {
			free = min(free, l.missed)
		}
		until := forever
		if i+1 < len(r.leases) {
			until = r.leases[i+1].grantedBy()
		}
		limit := free + grantWithin.Milliseconds()
		for _, f := range r.faults {
			if f.Began.Wall <= limit && f.Ended.Wall+healWithin.Milliseconds() > free {
				limit = max(limit, f.Ended.Wall+(healWithin+grantWithin).Milliseconds())
			}
		}
		if until <= limit {
			continue
		}
		if ticket := r.waitedThrough(free, limit); ticket != 0 {
			found = append(found, Violation{Stuck, r.name, l.first.Ended.Mono, fmt.Sprintf(
				"fence %d was over and ticket %d was there and waited for over %s", l.fence, ticket,
				time.Duration(limit-free)*time.Millisecond)})
		}
	}
	return found
}

// endSeen returns when the end of a ticket was first observed (unix ms).
func (r *roomLog) endSeen(ticket int64) (at int64) {
	for _, s := range r.statements {
		if s.Ticket == ticket && s.Status == "ended" && (at == 0 || s.Ended.Wall < at) {
			at = s.Ended.Wall
		}
	}
	return at
}

// waitedThrough returns a ticket that waited, with its seller connected, during a whole period; 0 = none.
func (r *roomLog) waitedThrough(from, to int64) int64 {
	type place struct {
		session string
		ticket  int64
	}
	waits := map[place]span{}
	for _, s := range r.statements {
		if s.Status != "waiting" || s.Kind != KindCall {
			continue
		}
		key := place{s.Session, s.Ticket}
		w, ok := waits[key]
		if !ok {
			w.from = s.Ended.Wall
		}
		waits[key] = span{w.from, s.Began.Wall}
	}
	for p, w := range waits {
		there := w.from <= from && w.to >= to
		for at := from; at <= to && there; at += 250 {
			there = !r.people[p.session].mayBeAway(at, r.rules.AwayAfter)
		}
		if there {
			return p.ticket
		}
	}
	return 0
}
