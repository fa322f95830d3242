package faults

import "fmt"

// order requires that grants follow the tickets of the present waiters, and that no two waiters have one
// position.
func (r *roomLog) order() (found []Violation) {
	for _, l := range r.leases {
		at := l.first
		for _, s := range l.locked { // the earliest version at which it is known to hold
			if s.Epoch == at.Epoch && s.Version < at.Version {
				at = s
			}
		}
		if s, ok := r.passedOver(l, at); ok {
			found = append(found, r.violation(Overtaken, at.Ended, fmt.Sprintf(
				"ticket %d was granted at version %d, and ticket %d of %s, which was there, waited at version %d",
				l.ticket, at.Version, s.Ticket, s.Session, s.Version)))
		}
	}
	return append(found, r.positions()...)
}

// passedOver finds a waiter with a lower ticket that was present at the grant and still waited afterwards. A
// place waits only once, so it waited at the time of the grant too.
func (r *roomLog) passedOver(l *lease, at statement) (statement, bool) {
	granted := l.grantedBy()
	for _, s := range r.statements {
		if s.Status == "waiting" && s.Ticket < l.ticket && s.Epoch == at.Epoch && s.Version >= at.Version &&
			!r.people[s.Session].mayBeAway(granted, r.rules.AwayAfter) {
			return s, true
		}
	}
	return statement{}, false
}

// positions requires that each position of a version belongs to one ticket and is within the line.
func (r *roomLog) positions() (found []Violation) {
	type spot struct{ epoch, version, position int64 }
	taken := map[spot]int64{}
	for _, s := range r.statements {
		if s.Status != "waiting" {
			continue
		}
		at := spot{s.Epoch, s.Version, s.Position}
		other, ok := taken[at]
		switch {
		case ok && other != s.Ticket:
			found = append(found, r.violation(SamePosition, s.Ended, fmt.Sprintf(
				"tickets %d and %d are both shown position %d at version %d", other, s.Ticket, s.Position, s.Version)))
		case s.Position < 1 || s.Position > s.Length:
			found = append(found, r.violation(SamePosition, s.Ended, fmt.Sprintf(
				"ticket %d is shown position %d in a line of %d at version %d", s.Ticket, s.Position, s.Length,
				s.Version)))
		}
		taken[at] = s.Ticket
	}
	return found
}
