package faults

import (
	"fmt"
	"strings"
)

// ledger checks the ledger against the rules and against what clients observed.
func (b *book) ledger(l Ledger) (found []Violation) {
	found = append(found, b.ledgerLeases(l)...)
	found = append(found, b.ledgerPlaces(l)...)
	found = append(found, b.ghostsGranted(l)...)
	for _, r := range b.records {
		if r.Kind == KindMessage && strings.Contains(l.Bodies, r.Code) {
			found = append(found, Violation{CodeLeaked, r.Room, r.Ended.Mono,
				"the ledger holds the code of " + r.Message})
		}
	}
	return found
}

// ledgerLeases requires that leases do not overlap, and that every observed lease is in the ledger.
func (b *book) ledgerLeases(l Ledger) (found []Violation) {
	byFence := map[roomFence]LeaseRow{}
	var last LeaseRow
	for _, row := range l.Leases { // by room and fence
		byFence[roomFence{row.Room, row.Fence}] = row
		if row.Room == last.Room && row.Granted != 0 && last.Ended > row.Granted {
			found = append(found, Violation{LedgerOverlap, row.Room, 0, fmt.Sprintf(
				"fence %d of ticket %d began %d ms before fence %d of ticket %d ended (%s)", row.Fence, row.Ticket,
				last.Ended-row.Granted, last.Fence, last.Ticket, last.Outcome)})
		}
		if row.Outcome == "" {
			found = append(found, Violation{LedgerOutcomes, row.Room, 0,
				fmt.Sprintf("the lease of fence %d is open", row.Fence)})
		}
		last = row
	}
	for _, room := range b.rooms() {
		for _, lease := range b.of[room].leases {
			if row, ok := byFence[roomFence{room, lease.fence}]; !ok || row.Ticket != lease.ticket {
				found = append(found, Violation{LedgerMissing, room, lease.first.Ended.Mono, fmt.Sprintf(
					"fence %d was given to ticket %d, and the ledger has %+v", lease.fence, lease.ticket, row)})
			}
		}
	}
	return found
}

// roomFence identifies a lease: leases of two rooms may have the same fence.
type roomFence struct {
	room  string
	fence int64
}

type placeKey struct {
	room   string
	ticket int64
}

// ledgerPlaces requires that every observed ticket has one outcome in the ledger, the one that was shown, and
// that no ticket is missing unless data was lost.
func (b *book) ledgerPlaces(l Ledger) (found []Violation) {
	outcomes := map[placeKey][]string{}
	highest := map[string]int64{}
	for _, row := range l.Places {
		key := placeKey{row.Room, row.Ticket}
		outcomes[key] = append(outcomes[key], row.Outcome)
		highest[row.Room] = max(highest[row.Room], row.Ticket)
	}
	for key, o := range outcomes {
		if len(o) != 1 || o[0] == "" {
			found = append(found, Violation{LedgerOutcomes, key.room, 0,
				fmt.Sprintf("the outcomes of ticket %d are %q", key.ticket, o)})
		}
	}
	for _, room := range b.rooms() {
		for ticket := int64(1); ticket <= highest[room] && !b.rules.Loses; ticket++ {
			if outcomes[placeKey{room, ticket}] == nil {
				found = append(found, Violation{LedgerGap, room, 0,
					fmt.Sprintf("ticket %d of %d is not in the ledger", ticket, highest[room])})
			}
		}
		found = append(found, b.of[room].ledgerOutcomes(outcomes)...)
	}
	return found
}

func (r *roomLog) ledgerOutcomes(outcomes map[placeKey][]string) (found []Violation) {
	done := map[string]bool{}
	for _, s := range r.statements {
		key := fmt.Sprint(s.Ticket, s.Outcome)
		if s.Ticket == 0 || done[key] {
			continue
		}
		done[key] = true
		o := outcomes[placeKey{r.name, s.Ticket}]
		switch {
		case len(o) == 0:
			found = append(found, r.violation(LedgerMissing, s.Ended,
				fmt.Sprintf("ticket %d was given, and the ledger does not know it", s.Ticket)))
		case s.Outcome != "" && s.Outcome != o[len(o)-1]:
			found = append(found, r.violation(LedgerMissing, s.Ended,
				fmt.Sprintf("ticket %d was shown %s, and the ledger has %q", s.Ticket, s.Outcome, o)))
		}
	}
	return found
}
