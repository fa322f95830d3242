package faults

import (
	"cmp"
	"fmt"
	"slices"
)

// tickets requires that a ticket belongs to one session for ever, and that later tickets are higher.
func (r *roomLog) tickets() (found []Violation) {
	owner := map[int64]string{}
	for _, s := range r.statements {
		if s.Ticket == 0 {
			continue
		}
		if other, ok := owner[s.Ticket]; ok && other != s.Session {
			found = append(found, r.violation(TicketReused, s.Ended,
				fmt.Sprintf("ticket %d was given to %s and to %s", s.Ticket, other, s.Session)))
			continue
		}
		owner[s.Ticket] = s.Session
	}
	return append(found, r.ticketsGrow()...)
}

// ticketsGrow requires that a place which began after a ticket was known has a higher one.
func (r *roomLog) ticketsGrow() (found []Violation) {
	joins := slices.Clone(r.statements)
	slices.SortStableFunc(joins, func(a, b statement) int { return cmp.Compare(a.Began.Mono, b.Began.Mono) })
	answered := slices.Clone(r.statements)
	slices.SortStableFunc(answered, func(a, b statement) int { return cmp.Compare(a.Ended.Mono, b.Ended.Mono) })
	known, n := int64(0), 0
	had := map[string]map[int64]bool{}
	for _, s := range joins {
		for ; n < len(answered) && answered[n].Ended.Mono < s.Began.Mono; n++ {
			known = max(known, answered[n].Ticket)
		}
		if s.Ticket == 0 || s.Op != "join" {
			continue
		}
		mine := had[s.Session]
		if mine == nil {
			mine = map[int64]bool{}
			had[s.Session] = mine
		}
		if !mine[s.Ticket] && s.Ticket <= known && !r.mayRepeat(s) {
			found = append(found, r.violation(TicketBack, s.Ended,
				fmt.Sprintf("a new place has ticket %d, and ticket %d was given before", s.Ticket, known)))
		}
		mine[s.Ticket] = true
	}
	return found
}

// mayRepeat reports whether a join may have been answered with an existing place: an earlier call of the
// session had no answer, or had this ticket.
func (r *roomLog) mayRepeat(join statement) bool {
	for _, rec := range r.records {
		if rec.N >= join.N {
			return false
		}
		unknown := rec.Kind == KindCall && rec.Op == "join" && (rec.Error != "" || rec.HTTP >= 500)
		if rec.Session == join.Session && (unknown || rec.Ticket == join.Ticket) {
			return true
		}
	}
	return false
}

// places follows every session: it has one place at a time, one outcome for each, and no place is forgotten.
func (r *roomLog) places() (found []Violation) {
	sessions := map[string][]statement{}
	for _, s := range r.statements {
		sessions[s.Session] = append(sessions[s.Session], s)
	}
	for _, statements := range sessions {
		found = append(found, r.outcomes(statements)...)
		found = append(found, r.known(statements)...)
	}
	return found
}

// outcomes requires that a ticket ends once.
func (r *roomLog) outcomes(statements []statement) (found []Violation) {
	ends := map[int64]statement{}
	for _, s := range statements {
		if s.Status != "ended" {
			continue
		}
		if e, ok := ends[s.Ticket]; ok && e.Outcome != s.Outcome {
			found = append(found, r.violation(TwoOutcomes, s.Ended,
				fmt.Sprintf("ticket %d ended as %s and as %s", s.Ticket, e.Outcome, s.Outcome)))
		} else if !ok || !s.lineage().beyond(e.lineage()) {
			ends[s.Ticket] = s // the earliest version of which it is known
		}
	}
	for _, s := range statements {
		e, ok := ends[s.Ticket]
		if !ok || !s.live() {
			continue
		}
		if s.Epoch == e.Epoch && s.Version > e.Version || s.Epoch != e.Epoch && s.Began.Mono > e.Ended.Mono {
			found = append(found, r.violation(BackFromEnd, s.Ended, fmt.Sprintf(
				"ticket %d ended as %s at version %d and is %s at version %d", s.Ticket, e.Outcome, e.Version, s.Status,
				s.Version)))
			break
		}
	}
	return found
}

// known requires that a session with a live place is never answered that it has none, and gets no second one.
func (r *roomLog) known(statements []statement) (found []Violation) {
	var last statement // the latest version at which it had a place
	for _, s := range statements {
		if s.Ticket != 0 && s.live() && s.lineage().beyond(last.lineage()) {
			if last.Ticket != 0 && last.Ticket != s.Ticket && last.Epoch == s.Epoch && !r.endedBetween(last, s) {
				found = append(found, r.violation(TwoPlaces, s.Ended, fmt.Sprintf(
					"ticket %d was %s at version %d, and nothing ended it before ticket %d", last.Ticket, last.Status,
					last.Version, s.Ticket)))
			}
			last = s
		}
	}
	for _, s := range statements {
		if s.Status != "idle" {
			continue
		}
		for _, had := range statements {
			lost := had.Outcome == "lost" && r.rules.Loses // a replica that did not know of it says idle
			if !lost && had.Ticket != 0 && had.Epoch == s.Epoch && had.Version <= s.Version && had.Version > 0 {
				return append(found, r.violation(Vanished, s.Ended, fmt.Sprintf(
					"ticket %d was %s at version %d, and at version %d its session is idle", had.Ticket, had.Status,
					had.Version, s.Version)))
			}
		}
	}
	return found
}

// endedBetween reports whether a place can have ended before the session's next one began: by a call of the
// session, by the lease's end, or as an answer shows.
func (r *roomLog) endedBetween(first, second statement) bool {
	for _, e := range r.ended {
		if e.session == first.Session && e.began >= first.asOf && e.began <= second.Ended.Wall {
			return true
		}
	}
	for _, s := range r.statements {
		if s.Session == first.Session && s.Ticket == first.Ticket && s.Status == "ended" &&
			!s.lineage().beyond(second.lineage()) {
			return true
		}
	}
	over := first.ExpiresAt
	if first.Status == "waiting" {
		over = first.asOf + r.rules.Lease.Milliseconds()
	}
	if r.rules.ClaimWithin > 0 { // the second time its place ends
		over = min(over, first.asOf)
	}
	return over <= second.Ended.Wall
}

// losses requires that no place is shown as lost and no epoch begins unless Redis lost data.
func (r *roomLog) losses() (found []Violation) {
	if r.rules.Loses {
		return nil
	}
	epoch := int64(0)
	for _, s := range r.statements {
		if s.Outcome == "lost" {
			found = append(found, r.violation(LostUnasked, s.Ended,
				fmt.Sprintf("ticket %d is shown as lost", s.Ticket)))
		}
		if s.Epoch != 0 && epoch != 0 && s.Epoch != epoch {
			found = append(found, r.violation(LostUnasked, s.Ended,
				fmt.Sprintf("epoch %d is followed by %d", epoch, s.Epoch)))
		}
		if s.Epoch != 0 {
			epoch = s.Epoch
		}
	}
	return found
}
