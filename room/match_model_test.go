package room_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

// world is the history of a room, judged by the rules of docs/matching.md in plain Go.
type world struct {
	read      int // number of the journal's records that the model has
	leases    []*held
	lastAsked int64
	messages  []*sent
	firsts    map[string]*sent // by sender and text: the message of which later ones are duplicates
	stamped   map[string]*sent // by sender, text and time: the message of which later ones are copies
	codes     map[string]*sent // by code: the last message with it that belonged to a lease
}

// held is a lease of the model.
type held struct {
	ticket, fence, granted, end int64
	live, asking                bool
	codes                       int // codes that arrived while the lease was not asking
	asks                        []ask
	rejects                     int
}

type ask struct {
	at     int64
	from   []string
	answer string // the message that answered it
}

// sent is a message of the model, and its match.
type sent struct {
	id, sender, text string
	from, to         int64 // when the message was sent
	bound            *held
	rejected         []*held
	result           room.Result
	code             bool
	answer           verdict // to its carrier
	repeats          bool    // the message has the text of one that is shown already
	answers          *ask    // the ask that such a message answered
	ends             bool
}

// takeBack makes the message unmatched. The ask that it answered, under any id, is open again.
func (m *sent) takeBack() {
	for i := range m.bound.asks {
		if m.bound.asks[i].answer == m.id {
			m.bound.asks[i].answer = ""
		}
	}
	if !m.bound.asking && m.code {
		m.bound.codes--
	}
	m.bound = nil
}

// owner returns the lease whose code the message is for other messages: also one that rejected it, but for
// the very same text.
func (m *sent) owner(q room.MatchRequest) *held {
	if n := len(m.rejected); m.bound == nil && n > 0 && m.sender+m.text != q.Sender+q.Shown.Text {
		return m.rejected[n-1]
	}
	return m.bound
}

// isKnown reports whether a lease has the message's code already, from another sender or in other words.
func (w *world) isKnown(q room.MatchRequest, l *held) bool {
	if q.Shown.Code == nil {
		return false
	}
	m := w.codes[*q.Shown.Code]
	return m != nil && l.asking && m.bound == l && m.sender+m.text != q.Sender+q.Shown.Text
}

// refuse applies the ledger's refusal of the match. A message that repeats a text opens again only the ask
// that it answered itself.
func (m *sent) refuse() {
	m.answer = verdict{room.Unmatched, room.Ambiguous, 0, false}
	if !m.repeats {
		m.takeBack()
		return
	}
	if m.answers != nil {
		m.answers.answer = ""
	}
	m.bound = nil
}

type verdict struct {
	result    room.Result
	reason    room.Reason
	fence     int64
	duplicate bool
}

func (w *world) String() string {
	var text strings.Builder
	for _, l := range w.leases {
		fmt.Fprintf(&text, "%+v ", *l)
	}
	for _, m := range w.messages {
		fmt.Fprintf(&text, "%+v ", *m)
	}
	return text.String()
}

func (w *world) byFence(fence int64) *held {
	return w.leases[slices.IndexFunc(w.leases, func(l *held) bool { return l.fence == fence })]
}

func (l *held) open() (n int) {
	for _, a := range l.asks {
		if a.answer == "" {
			n++
		}
	}
	return n
}

// busyUntil returns from when rule 3 of docs/matching.md lets a lease ask.
func (w *world) busyUntil(mine *held) (until int64) {
	for _, l := range w.leases {
		if l == mine {
			continue
		}
		if l.open() > 0 || !l.asking && l.codes == 0 && !l.live {
			until = max(until, l.end+quarantine)
		}
	}
	return until
}

// take adds a message that the engine takes to be sent at `earliest` at the earliest, and reports whether its
// match is right. A message without a time was sent some time before it reached Redis; only the engine can
// know how long, so the model has that from the engine. It is not longer than the duration of the call.
func (w *world) take(q room.MatchRequest, now, earliest int64, took time.Duration, got verdict) bool {
	from, to, guard := q.From, q.To, q.Guard.Milliseconds()
	switch {
	case from == 0:
		from, to = earliest+guard, now+1
		if from > now || now-from > took.Milliseconds()+2 { // started milliseconds count whole
			return false
		}
	case from > now:
		from, to = now-(from-now), now+1
	}
	if first := w.stamped[stampOf(q)]; first != nil && q.From != 0 {
		w.messages = append(w.messages, &sent{id: q.MessageID})
		got.duplicate = first.answer.duplicate
		return got == first.answer
	}
	l, a, want, repeats := w.attribute(q, from-guard, to+guard)
	if want != got {
		return false
	}
	w.effect(q, l, a, repeats, from-guard, to+guard)
	m := w.messages[len(w.messages)-1]
	m.answer, w.stamped[stampOf(q)] = got, m
	return true
}

// stampOf is the same for a message and its copy under another id.
func stampOf(q room.MatchRequest) string { return fmt.Sprint(q.Sender, q.Shown.Text, q.From) }

// attribute applies rules 5, 1 and 2 of docs/matching.md to a message sent in [from, to). It returns the
// lease, the ask that a code answers, and the answer.
func (w *world) attribute(q room.MatchRequest, from, to int64) (*held, *ask, verdict, bool) {
	first := w.firsts[q.Sender+q.Shown.Text]
	if first != nil && first.bound != nil {
		answers := first.bound.answerable(q, from, to)
		if answers == nil && slices.ContainsFunc(w.leases, func(l *held) bool {
			return l != first.bound && l.answerable(q, from, to) != nil
		}) {
			return nil, nil, verdict{room.Unmatched, room.Ambiguous, 0, false}, false
		}
		return first.bound, answers, verdict{first.result, "", first.bound.fence, true}, true
	}
	l, a, reason := w.judge(q, from, to)
	if l != nil && first != nil && (!l.caused(first) || slices.Contains(first.rejected, l)) {
		l, a, reason = nil, nil, room.Ambiguous
	}
	if l != nil && q.Shown.Code != nil {
		if m := w.codes[*q.Shown.Code]; m != nil && m.owner(q) != nil && m.owner(q) != l {
			l, a, reason = nil, nil, room.Ambiguous
		}
	}
	switch {
	case l == nil:
		return nil, nil, verdict{room.Unmatched, reason, 0, false}, false
	case l.live:
		return l, a, verdict{room.Matched, "", l.fence, false}, false
	}
	return l, a, verdict{room.Late, "", l.fence, false}, false
}

func (w *world) judge(q room.MatchRequest, from, to int64) (*held, *ask, room.Reason) {
	var touched []*held
	plain := false
	for _, l := range w.leases {
		lasting := l.granted < to && (from < l.end || l.live)
		momentary := l.granted == l.end && from <= l.granted && l.granted < to
		if lasting || momentary {
			touched = append(touched, l)
			plain = plain || !l.asking
		}
	}
	if plain { // a lease that never asks: rule 1 of docs/matching.md
		l := touched[0]
		if len(touched) > 1 || w.quarantined(l, from, to, func(ask) bool { return true }) ||
			w.othersBy(q, l, from, min(to, l.granted)) ||
			!l.live && l.codes > 0 && w.othersBy(q, l, max(from, l.end), to) || w.behind(l, to) {
			return nil, nil, room.Ambiguous
		}
		return l, nil, ""
	}
	l, reason := w.asker(q, from, to)
	switch {
	case l != nil && l.fits(q, to) && (w.behind(l, to) || w.lapsed(l, from, to)):
		return nil, nil, room.Ambiguous
	case l != nil:
		return l, l.answerable(q, from, to), ""
	case reason == "" && len(touched) > 0:
		return nil, nil, room.NotExpected
	case reason == "":
		return nil, nil, room.NoLease
	}
	return nil, nil, reason
}

// othersBy reports whether the message would, or might, belong to another lease if it was sent in a part of
// its window.
func (w *world) othersBy(q room.MatchRequest, mine *held, from, to int64) bool {
	if from >= to {
		return false
	}
	l, reason := w.asker(q, from, to)
	return l != nil && l != mine || reason == room.Ambiguous
}

// asker applies rule 2 of docs/matching.md: it returns the lease that asked last, or why there is none.
func (w *world) asker(q room.MatchRequest, from, to int64) (*held, room.Reason) {
	owners := map[*held]bool{} // those that asked last, for each instant at which the message may be sent
	for at := from; at < to; at++ {
		latest := int64(-1)
		var last *held
		for _, l := range w.leases { // of two in one millisecond, the later lease counts as later
			if asked := l.askedBy(at); asked >= 0 && asked >= latest {
				latest, last = asked, l
			}
		}
		if last != nil {
			owners[last] = true
		}
	}
	switch {
	case len(owners) > 1:
		return nil, room.Ambiguous
	case len(owners) == 1:
		for l := range owners {
			switch {
			case !l.asking:
				return nil, room.Ambiguous
			case !l.fits(q, to):
				return nil, ""
			case w.displaced(q, l, from, to) || w.quarantined(l, from, to, func(a ask) bool {
				return a.takes(q)
			}):
				return nil, room.Ambiguous
			}
			return l, ""
		}
	}
	return nil, ""
}

// quarantined reports whether an earlier lease has an open ask, of those that `counts` accepts, that the
// message may answer.
func (w *world) quarantined(mine *held, from, to int64, counts func(ask) bool) bool {
	for _, l := range w.leases {
		for _, a := range l.asks {
			if l.fence < mine.fence && a.answer == "" && a.at < to && from < l.end+quarantine && counts(a) {
				return true
			}
		}
		if l.fence < mine.fence && mine.asking && !l.asking && l.codes == 0 && l.end < to &&
			from < l.end+quarantine {
			return true // a lease that never asks: its code was rejected
		}
	}
	return false
}

// behind reports whether, if the carrier's clock is slow, the message may belong to another lease. That lease
// asked up to a sixth of a quarantine after the message seems to have been sent.
func (w *world) behind(mine *held, to int64) bool {
	const sixth = quarantine / 6
	if mine.live {
		return false
	}
	return slices.ContainsFunc(w.leases, func(l *held) bool {
		return l != mine && slices.ContainsFunc(l.asks, func(a ask) bool {
			return to <= a.at && a.at < to+sixth
		})
	})
}

// lapsed reports whether a message may have been sent a quarantine or longer after the end of `mine`, while
// another lease was live.
func (w *world) lapsed(mine *held, from, to int64) bool {
	from = max(from, mine.end+quarantine)
	return !mine.live && from < to && slices.ContainsFunc(w.leases, func(l *held) bool {
		return l != mine && (l.granted < to && (l.live || from < l.end) ||
			l.granted == l.end && from <= l.granted && l.granted < to)
	})
}

// caused reports whether a lease was live when a message was sent, or had asked before.
func (l *held) caused(m *sent) bool {
	live := l.granted < m.to && (l.live || l.end > m.from || l.end == l.granted && l.granted >= m.from)
	return live || slices.ContainsFunc(l.asks, func(a ask) bool { return a.at < m.to })
}

// displaced reports whether a lease later than l may have received l's code, so that this message may be that
// later lease's own. The later lease asked for such a message, ended less than a quarantine ago and has all
// its codes. That is not so if l ended less than a quarantine ago.
func (w *world) displaced(q room.MatchRequest, l *held, from, to int64) bool {
	if l.live || to <= l.end+quarantine {
		return false
	}
	return slices.ContainsFunc(w.leases, func(other *held) bool {
		return other.fence > l.fence && other.asking && !other.live && other.open() == 0 &&
			slices.ContainsFunc(other.asks, func(a ask) bool {
				return a.at < to && from < other.end+quarantine && a.takes(q)
			})
	})
}

// last returns when a lease asked last, at or before an instant; -1 for never.
func (l *held) last(at int64) int64 {
	last := int64(-1)
	for _, a := range l.asks {
		if a.at <= at {
			last = max(last, a.at)
		}
	}
	return last
}

// askedBy returns when a lease that counts asked last, at or before an instant; -1 for never. A lease that
// asks counts while it is live or has an open ask; one that never asks and got no code, as if it had asked at
// its end.
func (l *held) askedBy(at int64) int64 {
	switch {
	case !l.asking && !l.live && l.codes == 0 && l.end <= at:
		return l.end
	case l.asking && (l.live || l.open() > 0):
		return l.last(at)
	}
	return -1
}

func (a *ask) takes(q room.MatchRequest) bool {
	return len(a.from) == 0 || smstext.OneOf(q.Sender, a.from)
}

func (l *held) fits(q room.MatchRequest, to int64) bool {
	return slices.ContainsFunc(l.asks, func(a ask) bool { return a.at < to && a.takes(q) })
}

// answerable returns the earliest open ask that a message may answer.
func (l *held) answerable(q room.MatchRequest, _, to int64) (found *ask) {
	for i := range l.asks {
		if a := &l.asks[i]; a.at < to && a.answer == "" && a.takes(q) && (found == nil || a.at < found.at) {
			found = a
		}
	}
	return found
}

// effect applies rule 4 of docs/matching.md: what a code answers and ends.
func (w *world) effect(q room.MatchRequest, l *held, a *ask, repeats bool, from, to int64) {
	m := &sent{id: q.MessageID, sender: q.Sender, text: q.Shown.Text, from: from, to: to,
		code: q.Shown.Code != nil, bound: l, repeats: repeats}
	w.messages = append(w.messages, m)
	first := w.firsts[m.sender+m.text]
	if first != nil && first.bound == nil {
		m.rejected = slices.Clone(first.rejected)
	}
	if !repeats && (l != nil || first == nil) {
		w.firsts[m.sender+m.text] = m
	}
	if l == nil {
		return
	}
	if m.code && !repeats && w.isKnown(q, l) {
		m.code = false // it answers nothing and ends nothing
	}
	if m.code && !repeats {
		w.codes[*q.Shown.Code] = m
	}
	m.result = room.Late
	if l.live {
		m.result = room.Matched
	}
	if !m.code {
		return
	}
	if a != nil {
		a.answer = q.MessageID
		if repeats {
			a.answer, m.answers = first.id, a
		}
	} else if !l.asking && !repeats {
		l.codes++
	}
	m.ends = l.live && !q.Keep && l.open() == 0
}
