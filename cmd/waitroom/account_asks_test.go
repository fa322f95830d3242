package main

import (
	"slices"
	"time"
)

// anothers reports whether a message sent in this part of its window might belong to another lease. In the
// rest of the window it was sent during the lease `mine`.
func (a *account) anothers(mine *lease, m *message, w span) bool {
	if w.from >= w.to {
		return false
	}
	l, sure := a.asker(m, w)
	return !sure || l != nil && l != mine
}

// asker is rule 2: it returns the lease that asked last and fits, and whether that is certain.
func (a *account) asker(m *message, w span) (l *lease, sure bool) {
	owners := a.owners(w)
	switch {
	case len(owners) > 1 || len(owners) == 1 && !owners[0].asking:
		return nil, false
	case len(owners) == 0 || !owners[0].fits(m, w):
		return nil, true
	case a.displaced(owners[0], m, w):
		return nil, false
	}
	return owners[0], true
}

// displaced reports whether the message may belong to a code that another session's lease took.
// The later lease asked for such a message, ended less than a quarantine ago and has its codes: one of them
// may have been this lease's.
func (a *account) displaced(l *lease, m *message, w span) bool {
	if l.live || w.to <= l.end+quarantine.Milliseconds() {
		return false
	}
	return slices.ContainsFunc(a.leases, func(other *lease) bool {
		return other.fence > l.fence && other.party() != l.party() && other.asking && !other.live &&
			!other.waits() &&
			slices.ContainsFunc(other.asks, func(ask ask) bool {
				return ask.at < w.to && w.from < other.end+quarantine.Milliseconds() &&
					ask.filter.takes(m.content)
			})
	})
}

// behindBy is how far (ms) the carrier's clock may be behind without a code going astray.
const behindBy = int64(quarantine/time.Millisecond) / 6

// lapsed reports whether a message may have been sent a quarantine or longer after the end of a lease, while
// another party's lease was live.
func (a *account) lapsed(mine *lease, w span) bool {
	later := span{max(w.from, mine.end+quarantine.Milliseconds()), w.to}
	return !mine.live && later.from < later.to && slices.ContainsFunc(a.leases, func(l *lease) bool {
		return l.party() != mine.party() && l.touches(later)
	})
}

// behind reports whether the carrier's clock may have put a message into a past lease. Another party asked
// shortly after the message seems to have been sent.
func (a *account) behind(mine *lease, m *message, w span) bool {
	if mine.live {
		return false
	}
	return slices.ContainsFunc(a.leases, func(l *lease) bool {
		return l.party() != mine.party() && slices.ContainsFunc(l.asks, func(ask ask) bool {
			return w.to <= ask.at && ask.at < w.to+behindBy
		})
	})
}

// askedByOthers reports whether another party has an open ask that a message may answer.
func (a *account) askedByOthers(mine *lease, m *message, w span) bool {
	return slices.ContainsFunc(a.leases, func(l *lease) bool {
		return l.party() != mine.party() && l.answers(m, w) >= 0
	})
}

// askedSince reports whether another party asked after a time (unix ms), and before another one.
func (a *account) askedSince(mine *lease, moment, before int64) bool {
	return slices.ContainsFunc(a.leases, func(l *lease) bool {
		return l.party() != mine.party() && slices.ContainsFunc(l.asks, func(ask ask) bool {
			return ask.at > moment && ask.at < before
		})
	})
}

// secondCode reports whether a party that asked in two turns may still wait for one
// more code. This may be it.
func (a *account) secondCode(w span) bool {
	turns := map[string]int{}
	for _, l := range a.leases {
		if slices.ContainsFunc(l.asks, func(ask ask) bool {
			return ask.at < w.to && w.from < max(ask.at, l.end)+2*quarantine.Milliseconds()
		}) {
			turns[l.party()]++
		}
	}
	for _, n := range turns {
		if n > 1 {
			return true
		}
	}
	return false
}

// couldCause reports whether a lease's party could have caused a message.
func (a *account) couldCause(party string, w span) bool {
	return slices.ContainsFunc(a.leases, func(l *lease) bool {
		return l.party() == party &&
			(l.touches(w) || slices.ContainsFunc(l.asks, func(ask ask) bool {
				return ask.at < w.to && w.from-ask.at <= openFor
			}))
	})
}

// touches reports whether a message may have been sent during a lease.
func (l *lease) touches(w span) bool {
	return l.granted < w.to && (l.live || w.from < l.end || l.granted == l.end && w.from <= l.granted)
}

// waits reports whether the ask is still without an answer.
func (l *lease) waits() bool {
	return slices.ContainsFunc(l.asks, func(a ask) bool { return a.answer == nil })
}

// last returns the time of the last ask that a lease had made by a time (unix ms); -1 if it had made none.
func (l *lease) last(moment int64) int64 {
	last := int64(-1)
	for _, ask := range l.asks {
		if ask.at <= moment {
			last = max(last, ask.at)
		}
	}
	return last
}

// quarantined reports whether an ask of an earlier lease still lacks its code, which may be this one.
func (a *account) quarantined(mine *lease, w span) bool {
	for _, l := range a.leases {
		for _, ask := range l.asks {
			if l.fence < mine.fence && ask.answer == nil && ask.at < w.to &&
				w.from < l.end+quarantine.Milliseconds() {
				return true
			}
		}
	}
	return false
}

// owners returns every lease that was the last to ask at some time of the message's window.
func (a *account) owners(w span) (owners []*lease) {
	moments := []int64{w.from}
	for _, l := range a.leases {
		for _, at := range append([]int64{l.end}, times(l.asks)...) {
			if w.from < at && at < w.to {
				moments = append(moments, at)
			}
		}
	}
	for _, moment := range moments {
		var last *lease
		latest := int64(-1)
		for _, l := range a.leases { // of two asks in one millisecond, the later lease's counts as the later
			if at := l.askedBy(moment); at >= 0 && at >= latest {
				last, latest = l, at
			}
		}
		if last != nil && !slices.Contains(owners, last) {
			owners = append(owners, last)
		}
	}
	return owners
}

func times(asks []ask) (list []int64) {
	for _, ask := range asks {
		list = append(list, ask.at)
	}
	return list
}

// openFor is how long an ask waits for its code (ms).
const openFor = 10 * 60 * 1000

// askedBy returns the time of the last ask that a lease had made by a time, as rule 2 counts asks; -1 if it
// had made none.
func (l *lease) askedBy(moment int64) int64 {
	last := int64(-1)
	if !l.asking && !l.live && !l.code && l.end <= moment {
		last = l.end
	}
	if l.live || l.waits() {
		last = max(last, l.last(moment))
	}
	if moment-last > openFor {
		return -1
	}
	return last
}

func (l *lease) fits(m *message, w span) bool {
	return slices.ContainsFunc(l.asks, func(a ask) bool {
		return a.at < w.to && w.from-a.at <= openFor && a.filter.takes(m.content)
	})
}

// answers returns the earliest open ask that a message may answer; -1 for none.
func (l *lease) answers(m *message, w span) int {
	return slices.IndexFunc(l.asks, func(a ask) bool {
		return a.at < w.to && w.from-a.at <= openFor && a.answer == nil && a.filter.takes(m.content)
	})
}

// answersAny returns the earliest open ask made before a message, with any filter; -1 for none.
func (l *lease) answersAny(w span) int {
	return slices.IndexFunc(l.asks, func(a ask) bool {
		return a.at < w.to && w.from-a.at <= openFor && a.answer == nil
	})
}
