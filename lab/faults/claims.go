package faults

import (
	"cmp"
	"fmt"
	"slices"
)

// readMissed finds the periods in which sellers were shown as unclaimed. A lease may have ended a while
// before its seller was notified.
func (r *roomLog) readMissed() {
	bySession := map[string][]statement{}
	for _, s := range r.statements {
		if s.live() {
			bySession[s.Session] = append(bySession[s.Session], s)
		}
	}
	for session, list := range bySession {
		slices.SortStableFunc(list, func(a, b statement) int {
			return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Version, b.Version),
				cmp.Compare(a.Ended.Mono, b.Ended.Mono))
		})
		for i := range list {
			if list[i].Unclaimed && r.people[session] != nil {
				r.people[session].missed = append(r.people[session].missed, r.missedAround(list, i))
			}
		}
	}
}

// missedAround returns the longest period for which such a seller may have been passed over: from its grant
// until it was shown otherwise.
func (r *roomLog) missedAround(list []statement, i int) span {
	s := span{list[i].asOf - (r.rules.Lease + noticed).Milliseconds(), forever}
	for _, later := range list[i+1:] {
		if later.lineage().beyond(list[i].lineage()) && !later.Unclaimed {
			s.to = later.Ended.Wall + noticed.Milliseconds()
			break
		}
	}
	return s
}

// claims requires that no lease ended as unclaimed that was claimed, or was not due yet.
func (r *roomLog) claims() (found []Violation) {
	for _, l := range r.leases {
		if l.outcome != "unclaimed" {
			continue
		}
		if l.granted != 0 && (r.rules.ClaimWithin == 0 ||
			l.missed+clockGrain.Milliseconds() < l.granted+r.rules.ClaimWithin.Milliseconds()) &&
			!r.clockSet(l.first.Began.Mono, l.first.Ended.Mono) {
			found = append(found, r.violation(ClaimIgnored, l.first.Ended,
				fmt.Sprintf("fence %d ended as unclaimed %d ms after it was granted", l.fence, l.missed-l.granted)))
		}
		for _, rec := range r.records {
			if rec.Kind == KindCall && rec.Room == r.name && rec.Session == l.session && rec.Fence == l.fence &&
				rec.HTTP == 200 && (rec.Op == "claim" || rec.Op == "expect" || rec.Op == "join") && !r.rules.Loses {
				found = append(found, r.violation(ClaimIgnored, rec.Ended,
					fmt.Sprintf("ticket %d was answered that it has claimed fence %d, which ended as unclaimed", l.ticket,
						l.fence)))
				break
			}
		}
	}
	return found
}
