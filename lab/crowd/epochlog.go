package crowd

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// epochLog has what is known of one epoch, and judges each version once it has settled.
//
// A position is checked against two counts. A ticket that was shown as waiting at this version or before, and
// again later, surely waits; a ticket without a later frame, or of an unknown seller, may wait. The position
// has to lie between the two counts, which are mostly equal. Versions are judged in order and late, since the
// frames of one version arrive at different times.
type epochLog struct {
	m        *Model
	epoch    int64
	before   int64 // waiting with tickets below the first one known
	first    int64 // lowest ticket known
	tickets  map[int64]*ticket
	leases   []lease // by fence
	highest  int64   // fence of the epochs before
	waiting  []sighting
	swept    int64  // all up to this version was judged
	sure     counts // surely in line at swept
	gone     counts // surely not in line any more at swept
	lastSeen marks  // who is sure, by the version at which it was seen last
	exits    marks  // who is to be counted as gone, by version
}

// ticket is one place.
type ticket struct {
	number  int64
	session string
	seen    int64 // the last version at which it waited
	left    int64 // the first known version at which it did not any more; 0 = none
	outcome string
}

// lease is one lease as clients observed it.
type lease struct {
	fence, ticket     int64
	earliest, latest  int64 // versions at which it was observed
	heldAt            int64 // latest server time at which it was observed
	seen              time.Time
	flagged, overtook bool
}

// sighting is an observation that has not been judged yet.
type sighting struct {
	version, ticket, position, length int64 // position 0: it holds the lock
	fence                             int64
	at                                time.Time
}

// mark is a ticket at a version; marks is a heap of them, ordered by version.
type mark struct{ version, ticket int64 }
type marks []mark

func (m marks) Len() int           { return len(m) }
func (m marks) Less(i, j int) bool { return m[i].version < m[j].version }
func (m marks) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *marks) Push(x any)        { *m = append(*m, x.(mark)) }
func (m *marks) Pop() any {
	old := *m
	last := old[len(old)-1]
	*m = old[:len(old)-1]
	return last
}

func newEpochLog(m *Model, epoch int64) *epochLog {
	return &epochLog{m: m, epoch: epoch, before: -1, tickets: map[int64]*ticket{}}
}

func (b *epochLog) ticket(number int64) *ticket {
	t := b.tickets[number]
	if t == nil {
		t = &ticket{number: number}
		b.tickets[number] = t
		if b.first == 0 || number < b.first {
			b.first = number
		}
	}
	return t
}

// observe records a ticket that waits or holds at a version.
func (b *epochLog) observe(session string, s State, at time.Time) {
	t := b.ticket(s.Ticket)
	if t.session == "" {
		t.session = session
	} else if t.session != session {
		b.m.violated(TwoHolders, "ticket %d was given to two sessions", t.number)
	}
	if s.Status == "waiting" {
		if t.left != 0 && s.Version >= t.left {
			b.back(t, s)
		}
		t.seen = max(t.seen, s.Version)
	} else {
		b.left(t, s.Version)
		b.hold(session, s, at)
	}
	if s.Version < b.swept {
		if s.Status == "waiting" {
			b.m.tally.Late++
		}
		return
	}
	b.waiting = append(b.waiting, sighting{version: s.Version, ticket: s.Ticket, position: s.Position,
		length: s.Length, fence: s.Fence, at: at})
}

// back records a ticket that waits again, which is right only after an unclaimed lease.
func (b *epochLog) back(t *ticket, s State) {
	if !b.m.claims || t.outcome != "" {
		b.m.violated(BackInLine, "ticket %d left the line by version %d and waits at version %d", t.number, t.left,
			s.Version)
		return
	}
	t.left = 0
	b.gone.set(t.number, false)
}

// left records that a ticket is not in line any more at a version.
func (b *epochLog) left(t *ticket, version int64) {
	if t.left != 0 {
		return
	}
	t.left = version
	if version <= b.swept {
		b.gone.set(t.number, true)
		return
	}
	heap.Push(&b.exits, mark{version, t.number})
}

func (b *epochLog) highestFence() int64 {
	if n := len(b.leases); n > 0 {
		return max(b.highest, b.leases[n-1].fence)
	}
	return b.highest
}

// hold records what a holder's frame says. Leases have to follow each other by fence, by version and by time.
func (b *epochLog) hold(session string, s State, at time.Time) {
	i, known := slices.BinarySearchFunc(b.leases, s.Fence,
		func(l lease, fence int64) int { return cmp.Compare(l.fence, fence) })
	if !known {
		b.leases = slices.Insert(b.leases, i, lease{fence: s.Fence, ticket: s.Ticket, earliest: s.Version,
			latest: s.Version, seen: at})
		b.m.tally.Leases++
		if s.Fence <= b.highest {
			b.m.violated(TwoHolders, "fence %d is not above %d of the epoch before", s.Fence, b.highest)
		}
		if b.m.granted != nil {
			b.m.granted(session, s, at)
		}
	}
	l := &b.leases[i]
	l.earliest, l.latest = min(l.earliest, s.Version), max(l.latest, s.Version)
	l.heldAt = max(l.heldAt, s.ServerTime)
	if l.ticket != s.Ticket && !l.flagged {
		l.flagged = true
		b.m.violated(TwoHolders, "fence %d was given to tickets %d and %d", s.Fence, l.ticket, s.Ticket)
	}
	if slack := b.m.rules.Present.Milliseconds(); s.ExpiresAt != 0 && s.ServerTime > s.ExpiresAt+slack &&
		!l.flagged {
		l.flagged = true
		b.m.violated(Overdue, "fence %d is shown as held %d ms after its end", s.Fence, s.ServerTime-s.ExpiresAt)
	}
	if i > 0 {
		b.apart(&b.leases[i-1], l)
	}
	if i+1 < len(b.leases) {
		b.apart(l, &b.leases[i+1])
	}
}

// apart requires that one lease was over when the next began. A fence is at least the time of its grant in
// µs.
func (b *epochLog) apart(before, next *lease) {
	if before.flagged || next.flagged {
		return
	}
	switch slack := b.m.rules.Present.Milliseconds(); {
	case before.latest >= next.earliest:
		b.m.violated(TwoHolders, "ticket %d (fence %d) held at version %d, ticket %d (fence %d) at version %d "+
			"already",
			before.ticket, before.fence, before.latest, next.ticket, next.fence, next.earliest)
	case before.heldAt > next.fence/1000+slack:
		b.m.violated(TwoHolders, "ticket %d (fence %d) was shown as held %d ms after fence %d was granted "+
			"to ticket %d",
			before.ticket, before.fence, before.heldAt-next.fence/1000, next.fence, next.ticket)
	default:
		return
	}
	next.flagged = true
}

// Settle judges the versions that have settled by now.
func (m *Model) Settle(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log != nil {
		m.log.settle(now.Add(-m.rules.Settle))
	}
}

// Finish judges the rest, settled or not.
func (m *Model) Finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log != nil {
		m.log.settle(time.Time{})
	}
}

// settle judges the versions whose first frame came before a time; the zero time means all.
func (b *epochLog) settle(by time.Time) {
	until := int64(0)
	for _, w := range b.waiting {
		if by.IsZero() || !w.at.After(by) {
			until = max(until, w.version)
		}
	}
	var now []sighting
	b.waiting = slices.DeleteFunc(b.waiting, func(w sighting) bool {
		if w.version <= until {
			now = append(now, w)
		}
		return w.version <= until
	})
	slices.SortFunc(now, func(a, b sighting) int { return cmp.Compare(a.version, b.version) })
	for len(now) > 0 {
		n := 1
		for n < len(now) && now[n].version == now[0].version {
			n++
		}
		b.judge(now[:n])
		now = now[n:]
	}
}

// judge judges the observations of one version.
func (b *epochLog) judge(sightings []sighting) {
	v := sightings[0].version
	b.sweep(v)
	for _, w := range sightings {
		if t := b.tickets[w.ticket]; w.position != 0 && t.seen >= v && !b.sure.has(w.ticket) {
			b.sure.set(w.ticket, true)
			heap.Push(&b.lastSeen, mark{t.seen, w.ticket})
		}
	}
	for _, w := range sightings {
		switch {
		case w.position == 0:
			b.overtook(w)
		case w.position > w.length:
			b.m.violated(Position, "ticket %d is shown position %d in a line of %d at version %d", w.ticket,
				w.position, w.length, v)
		case !b.m.rules.Open:
			b.position(w)
		default:
			b.m.tally.Checked++
		}
	}
}

// sweep updates the sets of tickets to a version.
func (b *epochLog) sweep(v int64) {
	b.swept = v
	for len(b.exits) > 0 && b.exits[0].version <= v {
		m := heap.Pop(&b.exits).(mark)
		if b.tickets[m.ticket].left != 0 {
			b.gone.set(m.ticket, true)
		}
	}
	for len(b.lastSeen) > 0 && b.lastSeen[0].version < v {
		m := &b.lastSeen[0]
		if t := b.tickets[m.ticket]; t.seen >= v {
			m.version = t.seen
			heap.Fix(&b.lastSeen, 0)
			continue
		}
		b.sure.set(m.ticket, false)
		heap.Pop(&b.lastSeen)
	}
}

// position checks a position against the least and the greatest number of tickets that can be ahead.
func (b *epochLog) position(w sighting) {
	least := 1 + b.sure.upTo(w.ticket-1)
	before := b.first - 1
	if b.before >= 0 {
		before = min(before, b.before)
	}
	most := 1 + before + (w.ticket - b.first) - b.gone.upTo(w.ticket-1)
	b.m.tally.Checked++
	if least == most {
		b.m.tally.Exact++
	}
	if w.position < least || w.position > most {
		b.m.violated(Position, "ticket %d is shown position %d at version %d; it is %d to %d", w.ticket, w.position,
			w.version, least, most)
	}
}

// overtook finds a seller with a lower ticket who was present and still waited when a lease was granted.
func (b *epochLog) overtook(w sighting) {
	i, ok := slices.BinarySearchFunc(b.leases, w.fence,
		func(l lease, fence int64) int { return cmp.Compare(l.fence, fence) })
	if !ok || b.leases[i].overtook || b.m.rules.Open || b.sure.upTo(w.ticket-1) == 0 {
		return
	}
	l := &b.leases[i]
	b.sure.each(w.ticket, func(number int64) {
		p := b.m.people[b.tickets[number].session]
		if l.overtook || p == nil || !p.there(l.seen, b.m.rules.Present) {
			return // away, or was until then
		}
		l.overtook = true
		b.m.violated(Overtaking, "ticket %d was granted at version %d while ticket %d was there and waited",
			w.ticket, w.version, number)
	})
}

// there reports whether a person surely had a socket at a time, and for a while before it.
func (p *person) there(at time.Time, since time.Duration) bool {
	return at.Sub(p.since) >= since && (p.sockets > 0 || !p.until.Before(at))
}
