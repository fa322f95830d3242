package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// history is a room's leases by fence, as the clients saw them.
type history map[int64]*stay

// histories returns the leases of all rooms.
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

// inOrder narrows the spans: a lease begins when the previous one has ended, or later.
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

// accounts are the leases of all rooms, and our own judgement of each message.
type accounts struct {
	rooms    map[string]*account
	wrong    []string
	certain  int // messages with one possible judgement
	cautious int // of those, the unmatched ones: see account.cautious
	clock    int // messages that a late clock may be the cause of
}

// follow replays the events of each room, in order.
func follow(all map[string]history, events []event, messages []*message) *accounts {
	x := &accounts{rooms: map[string]*account{}}
	byID := map[string]*message{}
	for _, m := range messages {
		byID[m.id] = m
	}
	for i, e := range events {
		a := x.rooms[e.room]
		if a == nil {
			a = newAccount()
			x.rooms[e.room] = a
		}
		var wrong string
		switch p := all[e.room][e.fence]; e.kind {
		case "granted":
			wrong = a.granted(e, p)
		case "extended", "asked":
			wrong = a.asked(e)
		case "ended":
			wrong = a.ended(e)
		case "message":
			wrong = x.judge(a, e, byID[e.message], events[i+1:])
		}
		if wrong != "" {
			x.wrong = append(x.wrong, fmt.Sprintf("%s in %s at %d: %s", e.kind, e.room, e.at, wrong))
		}
	}
	return x
}

// judge compares a message's answer, and whether it ended its lease, with the rules.
func (x *accounts) judge(a *account, e event, m *message, next []event) string {
	if m == nil {
		return "no carrier brought " + e.message
	}
	if e.at < m.asked || e.at > m.answered {
		return fmt.Sprintf("%s was judged then, and posted from %d to %d", m.id, m.asked, m.answered)
	}
	got := verdict{m.answer.Result, m.answer.Reason, m.answer.Fence, m.answer.Duplicate}
	possible := a.possible(m, e.at)
	if len(possible) == 1 {
		x.certain++
	}
	matches := func(j judgement) bool { return j.verdict == got }
	if !slices.ContainsFunc(possible, matches) {
		possible = append(possible, a.cautious(m, e.at)...)
		x.cautious++
	}
	found := slices.IndexFunc(possible, matches)
	if found < 0 {
		a.take(judgement{verdict: got, message: m, lease: a.byFence[got.fence]}, e.at)
		return fmt.Sprintf("%s (sent %d–%d, part %d of %d of %q, code %t) is %s, not %v", m.id, m.from, m.to,
			m.part, m.parts, m.ref, m.code != "", m.raw, possible)
	}
	picked := possible[found]
	picked.unsure = slices.ContainsFunc(possible, func(j judgement) bool {
		return matches(j) && j.clock != picked.clock
	})
	if picked.clock {
		x.clock++
	}
	j := a.take(picked, e.at)
	ended := len(next) > 0 && next[0].entry == e.entry && next[0].room == e.room && next[0].kind == "ended" &&
		next[0].fence == got.fence
	switch {
	case j.lease != nil && j.lease.ticket != m.answer.Ticket:
		return fmt.Sprintf("%s: that lease is ticket %d's", m.id, j.lease.ticket)
	case ended != j.ends:
		return fmt.Sprintf("%s: it ended its lease: %t", m.id, ended)
	}
	return ""
}

// busy returns the asks that were refused as number_busy although no code of another session could come
// before the time in the answer.
func (x *accounts) busy(stays []*stay) (wrong []string) {
	for _, p := range stays {
		for _, r := range p.requests {
			if r.until != 0 && !x.rooms[p.room].keepsBusy(p, r.until-quarantine.Milliseconds()) {
				wrong = append(wrong, fmt.Sprintf("ticket %d in %s: the number is busy until %d", p.ticket, p.room,
					r.until))
			}
		}
	}
	return wrong
}

// keepsBusy reports whether another session's earlier lease keeps the number busy after it ended at a time: it
// asked, or it announces no asks and got no code.
func (a *account) keepsBusy(mine *stay, moment int64) bool {
	return slices.ContainsFunc(a.leases, func(l *lease) bool {
		return l.fence < mine.fence && l.party() != mine.party() &&
			(len(l.asks) > 0 || !l.asking) && l.end == moment
	})
}

// judged returns how a message was judged.
func (x *accounts) judged(m *message) *judgement { return x.rooms[m.room].judged[m.id] }

// astray counts the codes that went to another session than their own, by cause. A code
// without a cause is a fault.
type astray struct {
	inside                    int // codes sent in the quarantine of their ask
	insideRight, insideNobody int
	beyond, beyondWrong       int
	displaced                 map[string]int // by what took their place
	overtaken                 int
	twins                     int // the same text was sent to another session before
	// it seems older than its ask, and its lease had asked less than a quarantine before that
	closer           int
	unasked, adverts int
	wrong            []string
}

func (s astray) String() string {
	return fmt.Sprintf("%d codes sent within their quarantine: %d to their own, %d to nobody, displaced by "+
		"another that took their place: %v, "+
		"%d overtaken by their own lease's next code, %d alike another's, %d by a clock behind while two asks "+
		"were open, %d wrong; %d sent after it: %d wrong; %d of sellers who had not asked wrong; %d codes of "+
		"nobody taken for somebody's", s.inside,
		s.insideRight, s.insideNobody, s.displaced, s.overtaken, s.twins, s.closer, len(
			s.wrong), s.beyond, s.beyondWrong, s.unasked, s.adverts)
}

// truth compares each code's hidden truth with the lease it was attributed to.
func (x *accounts) truth(all map[string]history, messages []*message) (s astray) {
	s.displaced = map[string]int{}
	for _, m := range messages {
		if m.code == "" {
			continue
		}
		own := all[m.room][m.answer.Fence]
		taken := m.answer.attributed() && own != nil
		right := taken && m.cause != nil && own.party() == m.cause.place.party()
		switch {
		case m.cause == nil:
			if taken {
				s.adverts++
			}
		case m.cause.ask == nil:
			if taken && !right {
				s.unasked++
				if fault := x.unasked(m); fault != "" {
					s.wrong = append(s.wrong, fault)
				}
			}
		case !x.within(m):
			s.beyond++
			if taken && !right {
				s.beyondWrong++
			}
		default:
			s.inside++
			by := x.displaced(m)
			switch {
			case right:
				s.insideRight++
			case !taken:
				s.insideNobody++
			case by != "":
				s.displaced[by]++
			case x.overtaken(m):
				s.overtaken++
			case m.answer.Duplicate:
				s.twins++
			case x.closer(m):
				s.closer++
			default:
				s.wrong = append(s.wrong,
					fmt.Sprintf("%s in %s, sent at %d (it says %d–%d), judged at %d, asked for by ticket %d (%s), is %s: "+
						"of %s",
						m.id, m.room, m.sent, m.from, m.to, x.judged(m).at, m.cause.place.ticket,
						x.rooms[m.room].byFence[m.cause.place.fence], m.raw, x.rooms[m.room].byFence[m.answer.Fence]))
			}
		}
	}
	return s
}

// unasked reports a code that another session got although its own seller announces no asks. Such a code may
// only be matched to that seller's lease or stay unmatched. By rule 5, the text of another session's code is
// that code once more.
func (x *accounts) unasked(m *message) string {
	l := x.rooms[m.room].byFence[m.cause.place.fence]
	if l == nil || l.asking || m.resent || x.judged(m).duplicate || m.sent+m.ahead < l.granted ||
		x.sentBy(m)+m.ahead >= l.end {
		return ""
	}
	return fmt.Sprintf("%s in %s, sent at %d in the lease of ticket %d, which is not asking, is %s", m.id,
		m.room, m.sent, l.ticket, m.raw)
}

// sentBy returns the latest time at which a message may have been sent. A message without a time was sent
// before its first delivery.
func (x *accounts) sentBy(m *message) int64 {
	if m.from == 0 {
		return m.answered
	}
	return m.sent
}

// within reports whether a code was sent within the quarantine of the ask before it. It allows
// for a clock that is ahead.
func (x *accounts) within(m *message) bool {
	l, last := x.rooms[m.room].byFence[m.cause.place.fence], int64(0)
	for _, a := range l.asks {
		if a.at <= m.sent {
			last = max(last, a.at)
		}
	}
	return last > 0 && x.sentBy(m)+max(m.ahead, 0) < last+quarantine.Milliseconds()
}

// displaced returns the code that had already answered this code's ask, if it was not this lease's own code.
// It was a code of another session, an unasked code, or the own code once more.
func (x *accounts) displaced(m *message) string {
	own := func(z *message) bool { return z.cause != nil && z.cause.place == m.cause.place }
	switch {
	case x.answeredBefore(m, func(z *message) bool { return z.cause != nil && !own(z) }):
		return "another's"
	case x.answeredBefore(m, func(z *message) bool { return z.cause == nil }):
		return "nobody's"
	case x.answeredBefore(m, func(z *message) bool { return own(z) && z.answer.Duplicate }):
		return "its own, repeated"
	}
	return ""
}

// overtaken reports whether a code of the same lease had answered the ask: sent later, but faster.
func (x *accounts) overtaken(m *message) bool {
	return x.answeredBefore(m, func(z *message) bool {
		return z.cause != nil && z.cause.place == m.cause.place && z.sent > m.sent
	})
}

// closer reports whether a code seems older than its ask, because an answer was taken back. Its
// lease had asked less than a quarantine before that. By rule 2 its own ask is too young then for
// the clock to count as the cause.
func (x *accounts) closer(m *message) bool {
	room := x.rooms[m.room]
	return slices.ContainsFunc(room.byFence[m.cause.place.fence].asks, func(mine ask) bool {
		return mine.at >= m.to && slices.ContainsFunc(room.byFence[m.answer.Fence].asks, func(theirs ask) bool {
			return theirs.at <= mine.at && mine.at < theirs.at+quarantine.Milliseconds()
		})
	})
}

func (x *accounts) answeredBefore(m *message, by func(*message) bool) bool {
	return slices.ContainsFunc(x.rooms[m.room].byFence[m.cause.place.fence].asks, func(a ask) bool {
		return a.answer != nil && a.answer != m && x.judged(a.answer).at <= x.judged(m).at && by(a.answer)
	})
}

func (l *lease) String() string {
	if l == nil {
		return "no lease"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "fence %d, %d–%d", l.fence, l.granted, l.end)
	for _, a := range l.asks {
		fmt.Fprintf(&text, ", asked %d", a.at)
		if a.answer != nil {
			by := "nobody"
			if a.answer.cause != nil {
				by = fmt.Sprint("ticket ", a.answer.cause.place.ticket)
			}
			fmt.Fprintf(&text, " (answered by %s, sent at %d, which %s asked for)", a.answer.id, a.answer.sent, by)
		}
	}
	return text.String()
}
