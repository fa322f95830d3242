package main

import (
	"fmt"
	"maps"
	"slices"
)

// history is a room's leases by fence, against which its messages are judged: an account of the rule
// of its own, written from the contract.
type history map[int64]*stay

// histories are the leases of all rooms.
func histories(stays []*stay) map[string]history {
	all := map[string]history{}
	for _, p := range stays {
		if all[p.room] == nil {
			all[p.room] = history{}
		}
		if p.fence != 0 {
			all[p.room][p.fence] = p
		}
	}
	return all
}

// inOrder uses that a lease begins when the one before has ended, or later.
func (h history) inOrder() {
	var before *stay
	for _, fence := range slices.Sorted(maps.Keys(h)) {
		p := h[fence]
		if before != nil {
			before.ended.narrow(0, p.granted.to)
			p.granted.narrow(before.ended.from, lastMoment)
		}
		before = p
	}
}

// boundEnds uses that a match ends its lease in that moment.
func (h history) boundEnds(messages []*message) (wrong []string) {
	by := map[int64]string{}
	for _, m := range messages {
		if m.answer.Result != "matched" {
			continue
		}
		p := h[m.answer.Fence]
		if p == nil {
			wrong = append(wrong, fmt.Sprintf("%s: matched to fence %d, which nobody had", m.id, m.answer.Fence))
			continue
		}
		if by[p.fence] != "" {
			wrong = append(wrong, fmt.Sprintf("%s and %s both completed fence %d", m.id, by[p.fence], p.fence))
		}
		by[p.fence] = m.id
		p.ended.narrow(m.asked, m.told)
		if p.outcome != "completed" || p.ended.from > p.ended.to {
			wrong = append(wrong, fmt.Sprintf("%s: matched to fence %d, which was %s before", m.id, p.fence, p.outcome))
		}
	}
	return wrong
}

// touching are the fences of the leases that a message's time surely and possibly touches, when it is matched.
func (h history) touching(m *message) (surely, possibly []int64) {
	for fence, p := range h {
		s, maybe := p.touchedBy(m)
		if s {
			surely = append(surely, fence)
		}
		if maybe {
			possibly = append(possibly, fence)
		}
	}
	return surely, possibly
}

// touchedBy compares half-open times. A lease that is granted later than the message is answered is not
// there yet. One that lives when the message arrives may end with it, in the same millisecond.
func (p *stay) touchedBy(m *message) (surely, possibly bool) {
	if m.from == 0 { // sent when it arrived, between asked and told
		return p.granted.to < m.asked && p.ended.from > m.told, p.granted.from <= m.told && p.ended.to >= m.asked
	}
	endsWithIt, empty := p.ended.to >= m.asked, p.granted.to >= m.from
	possibly = p.granted.from < m.to && p.granted.from <= m.told &&
		(p.ended.to > m.from || p.ended.to == m.from && (endsWithIt || empty))
	surely = p.granted.to < m.to && p.granted.to < m.asked && p.ended.from > m.from
	return surely, possibly
}

// judge says what is wrong with a message's answer, and whether only this answer was possible.
func (h history) judge(m *message) (wrong string, certain bool) {
	surely, possibly := h.touching(m)
	certain = len(surely) == len(possibly)
	a := m.answer
	fault := func(why string) (string, bool) {
		return fmt.Sprintf("%s in %s is %s, but %s (sent %d–%d, asked %d, told %d, surely %v, possibly %v)",
			m.id, m.room, m.raw, why, m.from, m.to, m.asked, m.told, surely, possibly), certain
	}
	switch {
	case a.Result == "unmatched" && a.Reason == "no_lease" && len(surely) > 0:
		return fault("it was sent in a lease")
	case a.Result == "unmatched" && a.Reason == "ambiguous" && len(possibly) < 2:
		return fault("no two leases are near")
	case a.Result == "unmatched" && a.Reason != "no_lease" && a.Reason != "ambiguous":
		return fault("there is no such reason")
	case a.Result == "unmatched":
		return "", certain
	case a.Result != "matched" && a.Result != "late":
		return fault("there is no such result")
	case !slices.Contains(possibly, a.Fence):
		return fault("it was not sent in that lease")
	case len(surely) > 1 || len(surely) == 1 && surely[0] != a.Fence:
		return fault("it was sent in another lease, too")
	case h[a.Fence].ticket != a.Ticket:
		return fault(fmt.Sprint("that lease is ticket ", h[a.Fence].ticket, "'s"))
	case a.Result == "late" && h[a.Fence].ended.from > m.told:
		return fault("that lease went on")
	case a.Result == "matched" && h[a.Fence].ended.to < m.asked:
		return fault("that lease was over")
	}
	return "", certain
}
