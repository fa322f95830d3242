package main

import (
	"fmt"
	"math"
	"slices"
)

// account replays a room's leases, asks and messages in order, and judges each message by the rules, which
// have their numbers from docs/matching.md. It was written from the contract, not from the engine.
type account struct {
	leases  []*lease // by fence
	byFence map[int64]*lease
	same    map[string]*judgement // by sender and text: the first message
	stamped map[string]*judgement // by sender, text and time: the first message
	codes   map[string]*judgement // by code: the last message that belonged to a lease
	parts   map[string]*long
	judged  map[string]*judgement
}

type lease struct {
	*stay
	fence, ticket, granted, end int64
	live, asking, code          bool
	asks                        []ask // in order
}

type ask struct {
	at     int64
	filter filter
	answer *message // the code that answered it
}

// long is a message in parts.
type long struct {
	first    *judgement
	answered bool
	had      map[int]bool
	twice    bool  // a part came again before all had come: another message may have the same ref
	codeAt   int64 // when the first part with a code seems to have been sent; 0 if none had one
}

type verdict struct {
	result, reason string
	fence          int64
	duplicate      bool
}

// judgement is the lease that a message belongs to, and its consequences.
type judgement struct {
	verdict
	message  *message
	lease    *lease
	ask      int   // index of the lease's ask that a code answers; -1 for none
	repeats  bool  // it gets the first one's answer, and is shown to no session again
	again    bool  // it is a copy under another id
	known    bool  // its session was sent the code before, in other words
	ends     bool  // it ends its lease
	verified bool  // the ledger is asked about it
	at       int64 // when it was judged
	window   span  // in which it may have been sent
	twin     bool  // the same text is another session's, and may belong to a second one
	sent     span  // its window by the carrier's own word
	clock    bool  // the carrier's clock may be behind, and an incident reports so
	unsure   bool  // the outcome depends on when it was sent, which is unknown
}

func (j judgement) String() string { return fmt.Sprintf("%+v", j.verdict) }

func newAccount() *account {
	return &account{byFence: map[int64]*lease{}, same: map[string]*judgement{}, parts: map[string]*long{},
		stamped: map[string]*judgement{}, codes: map[string]*judgement{}, judged: map[string]*judgement{}}
}

func (a *account) granted(e event, p *stay) string {
	if p == nil {
		return "no session had that lease"
	}
	l := &lease{stay: p, fence: e.fence, ticket: e.ticket, granted: p.granted.from, live: true,
		asking: p.manner.joinsAsking()}
	a.leases = append(a.leases, l)
	a.byFence[l.fence] = l
	return ""
}

func (a *account) ended(e event) string {
	if e.fence == 0 {
		return ""
	}
	l := a.byFence[e.fence]
	if l == nil || !l.live {
		return "that lease was not live"
	}
	l.live, l.end = false, e.ended
	return ""
}

// asked records an ask, or an extension of the holder's lease because the number was busy.
func (a *account) asked(e event) string {
	l := a.byFence[e.fence]
	if l == nil || !l.live {
		return "that lease was not live"
	}
	l.asking = true
	r := slices.IndexFunc(l.requests, func(r *request) bool { return r.has(e.at) && r.explains(e) })
	if r < 0 {
		return fmt.Sprintf("ticket %d did not ask", e.ticket)
	}
	if e.kind == "extended" {
		return ""
	}
	l.asks = append(l.asks, ask{at: e.at, filter: l.requests[r].filter})
	if busy := a.busyUntil(l); busy > e.at {
		return fmt.Sprintf("ticket %d asked, and another's code may come until %d", e.ticket, busy)
	}
	return ""
}

// explains reports whether a seller's request may be the cause of an event of the ledger. A request without a
// key may have been recorded once for each time that it was sent.
func (r *request) explains(e event) bool {
	if e.kind == "extended" {
		return r.until != 0 || r.again
	}
	return r.number == e.asks || r.again && (r.late || r.number > e.asks)
}

// busyUntil returns when rule 3 lets a lease ask.
func (a *account) busyUntil(mine *lease) (until int64) {
	for _, l := range a.leases {
		if l.party() == mine.party() {
			continue
		}
		if l.waits() || !l.asking && !l.code && !l.live {
			until = max(until, l.end+quarantine.Milliseconds())
		}
	}
	return until
}

// possible returns the judgements that the rules allow. There is more than one only where it is unknown when
// a message was sent.
func (a *account) possible(m *message, at int64) (list []judgement) {
	for _, w := range m.windows(at) {
		for _, j := range a.attribute(m, w) {
			if !slices.ContainsFunc(list, func(other judgement) bool {
				return other.verdict == j.verdict && other.clock == j.clock
			}) {
				list = append(list, j)
			}
		}
	}
	return list
}

// clocksDiffer is how far (ms) a replica's estimate of Redis's time may be behind.
const clocksDiffer = 50

// windows returns the half-open spans of time in which a message may have been sent.
func (m *message) windows(at int64) (list []span) {
	switch {
	case m.from == 0:
		for from := m.asked - clocksDiffer; from <= at; from++ {
			list = append(list, span{from, at + 1})
		}
		return list
	case m.from > at:
		return []span{{at - (m.from - at), at + 1}}
	}
	return []span{{m.from, m.to}}
}

// startsBehind is how far (ms) a replica that has just started, on a busy machine,
// may be behind Redis's time.
const startsBehind = 2000

// cautious returns the judgements that leave a message unmatched although its time names a lease.
//
// A replica that has just started may be behind Redis's time. It then takes a message for later than it is,
// so the carrier's clock seems to be ahead; a message without a time seems to be older than it is.
func (a *account) cautious(m *message, at int64) (list []judgement) {
	if m.from == 0 {
		for from := m.asked - startsBehind; from < m.asked-clocksDiffer; from++ {
			list = append(list, a.unmatched(m, span{from, at + 1})...)
		}
		return list
	}
	if !m.repeated {
		return nil
	}
	for read := min(m.from-1, at); read >= m.asked-startsBehind; read-- {
		list = append(list, a.unmatched(m, span{read - (m.from - read), min(m.to, at+1)})...)
	}
	return list
}

// unmatched returns the judgements by which a message stays unmatched.
func (a *account) unmatched(m *message, w span) []judgement {
	return slices.DeleteFunc(a.attribute(m, w), func(j judgement) bool { return j.lease != nil })
}

// attribute applies rule 5, then rules 1 and 2. It returns several judgements only if they depend on
// something that the account does not record.
func (a *account) attribute(m *message, w span) (list []judgement) {
	first := a.same[m.sender+"|"+m.text]
	if before := a.stamped[m.stamp()]; before != nil && m.from != 0 {
		list = []judgement{{verdict: before.verdict, ask: -1, repeats: true, again: true}}
		list[0].duplicate = true
	} else if first != nil && first.lease != nil {
		list = []judgement{a.repeat(first, m, w)}
	} else {
		list = a.byTime(m, w)
		for i, j := range list {
			other := a.codes[m.code]
			if j.lease != nil && j.lease.asking && other != nil && other.lease.party() == j.lease.party() {
				list[i].ask, list[i].known = -1, true
			}
			if first != nil && j.lease != nil && !a.couldCause(j.lease.party(), first.sent) {
				list[i] = none("ambiguous") // also where the carrier's clock may be behind
			} else if j.lease != nil && a.isAnothersCode(j.lease, m) {
				list[i] = none("ambiguous")
				list[i].twin = true
			}
		}
	}
	for i := range list {
		list[i].message, list[i].window = m, w
	}
	return list
}

// stamp is the same for a message and its copy under another id.
func (m *message) stamp() string {
	return fmt.Sprint(m.sender, "|", m.text, "|", m.from, "|", m.part)
}

// isAnothersCode reports whether another party was sent the message's code.
func (a *account) isAnothersCode(l *lease, m *message) bool {
	other := a.codes[m.code]
	return other != nil && other.lease.party() != l.party()
}

// repeat is rule 5 for a text that belongs to a lease.
func (a *account) repeat(first *judgement, m *message, w span) judgement {
	for _, l := range slices.Backward(a.leases) {
		if l.fence > first.fence && l.party() == first.lease.party() && l.asking {
			if n := l.answers(m, w); n >= 0 {
				return judgement{verdict: verdict{l.result(), "", l.fence, true}, lease: l, ask: n}
			}
		}
	}
	n := first.lease.answers(m, w)
	if n < 0 && a.askedByOthers(first.lease, m, w) {
		twin := none("ambiguous")
		twin.twin = true
		return twin
	}
	answer := first.verdict
	answer.duplicate = true
	return judgement{verdict: answer, lease: first.lease, ask: n, repeats: true}
}

// byTime judges a message with a new text: by its first part, or by its own time.
func (a *account) byTime(m *message, w span) []judgement {
	whole := a.wholeOf(m)
	if whole == nil || whole.had[m.part] {
		return a.judge(m, w)
	}
	l, n := whole.first.lease, -1
	if l == nil {
		return []judgement{none(whole.first.reason)}
	}
	if whole.twice {
		own := a.judge(m, w)
		if slices.ContainsFunc(own, func(j judgement) bool {
			return j.lease == nil || j.lease.party() != l.party()
		}) {
			return []judgement{none("ambiguous")}
		}
	}
	if m.code != "" && (whole.codeAt != 0 && a.askedSince(l, whole.codeAt, math.MaxInt64) ||
		a.askedSince(l, whole.first.window.from, w.to)) {
		return []judgement{none("ambiguous")}
	}
	if !whole.answered {
		if n = l.answers(m, w); n < 0 { // another part may have had what its ask wants
			n = l.answersAny(w)
		}
	}
	return []judgement{{verdict: verdict{l.result(), "", l.fence, false}, lease: l, ask: n}}
}

// wholeOf returns the parts that came so far of the long message that this is a part of; nil if all of them
// have come.
func (a *account) wholeOf(m *message) *long {
	whole := a.parts[m.sender+"|"+m.ref]
	if m.parts == 0 || whole == nil || (whole.had[m.part] && len(whole.had) == m.parts) {
		return nil
	}
	return whole
}

func none(reason string) judgement {
	return judgement{verdict: verdict{"unmatched", reason, 0, false}, ask: -1}
}

func (l *lease) result() string {
	if l.live {
		return "matched"
	}
	return "late"
}

// judge is rules 1 and 2.
func (a *account) judge(m *message, w span) []judgement {
	var touched []*lease
	silent := false
	for _, l := range a.leases {
		if l.touches(w) {
			touched = append(touched, l)
			silent = silent || !l.asking
		}
	}
	if silent {
		return a.silent(touched, m, w)
	}
	l, sure := a.asker(m, w)
	switch {
	case !sure:
		return []judgement{none("ambiguous")}
	case l != nil && a.lapsed(l, w) && !a.secondCode(w):
		return []judgement{none("ambiguous")}
	case l != nil && a.lapsed(l, w):
		return []judgement{none("ambiguous"), a.of(l, m, w)}
	case l != nil:
		return []judgement{a.of(l, m, w)}
	case len(touched) > 0:
		return []judgement{none("not_expected")}
	}
	return []judgement{none("no_lease")}
}

// silent is rule 1: one of the leases in whose time the message may have been sent is not asking.
func (a *account) silent(touched []*lease, m *message, w span) []judgement {
	l := touched[0]
	if len(touched) > 1 || a.quarantined(l, w) || a.anothers(l, m, span{w.from, min(w.to, l.granted)}) ||
		!l.live && l.code && a.anothers(l, m, span{max(w.from, l.end), w.to}) {
		return []judgement{none("ambiguous")}
	}
	list := []judgement{a.of(l, m, w)}
	if a.secondCode(w) {
		list = append(list, none("ambiguous"))
	}
	return list
}

// of returns the judgement that a message belongs to a lease, or is unmatched if the carrier's clock may be
// behind.
func (a *account) of(l *lease, m *message, w span) judgement {
	if a.behind(l, m, w) {
		j := none("ambiguous")
		j.clock = true
		return j
	}
	return judgement{verdict: verdict{l.result(), "", l.fence, false}, lease: l, ask: l.answers(m, w)}
}

// take is rule 4, and records the message for rule 5.
func (a *account) take(j judgement, at int64) *judgement {
	m, l := j.message, j.lease
	j.at = at
	answers := false
	if l != nil && m.code != "" && !j.known {
		answers = j.ask >= 0 || !l.asking && !l.code
		switch {
		case j.ask >= 0:
			l.asks[j.ask].answer = m
		case !l.asking:
			l.code = true
		}
		j.ends = l.live && !l.waits()
	}
	j.verified = l != nil && l.live && (!j.repeats || j.ends)
	a.remember(&j, answers)
	return &j
}

func (a *account) remember(j *judgement, answers bool) {
	m := j.message
	a.judged[m.id] = j
	if j.again {
		return
	}
	a.stamped[m.stamp()] = j
	if len(m.code) >= 5 && j.lease != nil && !j.repeats && !j.known {
		a.codes[m.code] = j
	}
	if m.parts > 0 {
		whole, key := a.wholeOf(m), m.sender+"|"+m.ref
		switch {
		case whole == nil && (j.duplicate || j.twin): // long messages may begin alike
			delete(a.parts, key)
		case whole == nil:
			whole = &long{first: j, had: map[int]bool{}}
			a.parts[key] = whole
		}
		if whole != nil {
			whole.twice = whole.twice || whole.had[m.part]
			whole.had[m.part], whole.answered = true, whole.answered || answers
			if m.code != "" && whole.codeAt == 0 {
				whole.codeAt = j.window.from
			}
		}
	}
	key := m.sender + "|" + m.text
	if !j.repeats && (j.lease != nil || a.same[key] == nil) {
		a.same[key] = j
	}
	j.sent = j.window
	if j.clock { // it may have been sent until then
		j.window.to += behindBy
	}
}
