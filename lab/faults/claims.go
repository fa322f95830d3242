package faults

import (
	"cmp"
	"fmt"
	"slices"
)

// readMissed follows who was told that it did not claim its turn, until it was told otherwise. The turn
// itself may have been over a while before anybody heard of it.
func (r *roomBook) readMissed() {
	bySession := map[string][]statement{}
	for _, s := range r.told {
		if s.live() {
			bySession[s.Session] = append(bySession[s.Session], s)
		}
	}
	for session, told := range bySession {
		slices.SortStableFunc(told, func(a, b statement) int {
			return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Version, b.Version),
				cmp.Compare(a.Ended.Mono, b.Ended.Mono))
		})
		for i := range told {
			if told[i].Unclaimed && r.people[session] != nil {
				r.people[session].missed = append(r.people[session].missed, r.missedAround(told, i))
			}
		}
	}
}

// missedAround is for how long one was passed over at the most that was told so: since it was granted, until
// it was told that it is not any more.
func (r *roomBook) missedAround(told []statement, i int) span {
	s := span{told[i].asOf - (r.rules.Lease + noticed).Milliseconds(), forever}
	for _, later := range told[i+1:] {
		if later.lineage().beyond(told[i].lineage()) && !later.Unclaimed {
			s.to = later.Ended.Wall + noticed.Milliseconds()
			break
		}
	}
	return s
}

// claims holds that no lease ended as unclaimed that was claimed, or that need not be by then.
func (r *roomBook) claims() (found []Violation) {
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
					fmt.Sprintf("ticket %d was told that it has claimed fence %d, which ended as unclaimed", l.ticket,
						l.fence)))
				break
			}
		}
	}
	return found
}
