package faults

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// book is a history, indexed for the rules.
type book struct {
	rules   Rules
	records []Record
	faults  []Record
	clocks  []Record
	of      map[string]*roomLog
	people  map[string]*presence
}

// roomLog has what clients observed of one room.
type roomLog struct {
	*book
	name       string
	statements []statement
	leases     []*lease // by fence
	ended      []endCall
	messages   map[string]Record // what the carrier was asked for, by id
	place      map[string]int64  // the ticket of a session's last answer
}

// statement is what an answer or a frame says about a session's place.
type statement struct {
	Record
	asOf int64 // unix ms: the earliest moment of which it can speak
}

func (s statement) live() bool { return s.Status == "waiting" || s.Status == "locked" }

func (s statement) lineage() lineage { return lineage{s.Epoch, s.Version} }

// lease is one lease as clients observed it.
type lease struct {
	fence, ticket int64
	session       string
	granted       int64 // unix ms; 0 = only known to be not after first
	expires       int64 // the end that was shown last: a clock that goes back takes it along
	endToldAt     lineage
	first         statement
	locked        []statement
	ender         int64 // unix ms: the earliest beginning of a call that may have ended it; 0 = there was none
	outcome       string
	missed        int64 // unix ms: when it ended as unclaimed, by the ledger; 0 = it did not
}

// grantedBy returns the latest time at which the lease can have begun.
func (l *lease) grantedBy() int64 {
	if l.granted != 0 {
		return l.granted
	}
	return l.first.Ended.Wall
}

// endedFrom returns the earliest time at which the lease can have been over.
func (l *lease) endedFrom() int64 {
	over := l.expires
	for _, at := range []int64{l.ender, l.missed} {
		if at != 0 {
			over = min(over, at)
		}
	}
	return over
}

// endCall is a call that may have ended a lease.
type endCall struct {
	session string
	fence   int64
	began   int64
}

// presence is a period in which a session's browser was surely connected.
type presence struct {
	spans  []span // unix ms
	missed []span // when it was passed over, since it had not claimed its turn
}

type span struct{ from, to int64 }

const forever = int64(1) << 62

func read(records []Record, rules Rules) *book {
	b := &book{rules: rules, records: records, of: map[string]*roomLog{}, people: map[string]*presence{}}
	for _, r := range records {
		switch r.Kind {
		case KindFault:
			b.faults = append(b.faults, r)
		case KindClock:
			b.clocks = append(b.clocks, r)
		}
	}
	for _, r := range records {
		if r.Room != "" {
			b.room(r.Room).take(r)
		}
	}
	b.readPresence()
	for _, r := range b.of {
		r.readLeases()
		r.readMissed()
	}
	return b
}

func (b *book) rooms() []string { return slices.Sorted(maps.Keys(b.of)) }

func (b *book) room(name string) *roomLog {
	r := b.of[name]
	if r == nil {
		r = &roomLog{book: b, name: name, messages: map[string]Record{}, place: map[string]int64{}}
		b.of[name] = r
	}
	return r
}

func (r *roomLog) take(rec Record) {
	switch {
	case rec.Kind == KindMessage:
		r.messages[rec.Message] = rec
	case rec.Kind == KindFrame && rec.Type == "state":
		r.statements = append(r.statements, statement{rec, rec.ServerTime})
	case rec.Kind == KindCall:
		r.takeCall(rec)
	}
}

func (r *roomLog) takeCall(rec Record) {
	answered := rec.Error == "" && rec.HTTP < 300
	unknown := rec.Error != "" || rec.HTTP >= 500
	if (answered || unknown) && (rec.Op == "leave" || rec.Op == "sms") {
		session := rec.Session
		if m, ok := r.messages[rec.Message]; ok {
			session = m.Session
		}
		r.ended = append(r.ended, endCall{session, rec.Fence, rec.Began.Wall})
	}
	if answered && (rec.Op == "join" || rec.Op == "status" || rec.Op == "leave" || rec.Op == "claim") &&
		rec.Status != "" {
		if rec.Ticket != 0 {
			r.place[rec.Session] = rec.Ticket
			// a status answer does not name the ended place; it is the session's last one, as its calls do not overlap
		} else if rec.Status == "ended" {
			rec.Ticket = r.place[rec.Session]
		}
		r.statements = append(r.statements, statement{rec, rec.Began.Wall})
	}
}

// readLeases collects what was observed of each lease.
func (r *roomLog) readLeases() {
	byFence := map[int64]*lease{}
	for _, s := range r.statements {
		if s.Status != "locked" || s.Fence == 0 {
			continue
		}
		l := byFence[s.Fence]
		if l == nil {
			l = &lease{fence: s.Fence, ticket: s.Ticket, session: s.Session, first: s}
			byFence[s.Fence] = l
		}
		l.locked = append(l.locked, s)
		l.granted = max(l.granted, s.GrantedAt)
		if at := s.lineage(); at.beyond(l.endToldAt) {
			l.expires, l.endToldAt = s.ExpiresAt, at
		} else if at == l.endToldAt {
			l.expires = max(l.expires, s.ExpiresAt)
		}
	}
	for _, e := range r.ended {
		for _, l := range byFence {
			if l.session == e.session && (e.fence == l.fence || e.fence == 0) && (l.ender == 0 || e.began < l.ender) {
				l.ender = e.began
			}
		}
	}
	r.leases = slices.SortedFunc(maps.Values(byFence),
		func(a, c *lease) int { return cmp.Compare(a.fence, c.fence) })
}

// learn takes the times of leases that no client observed from the ledger.
func (r *roomLog) learn(ledger Ledger) {
	for _, row := range ledger.Leases {
		i, ok := slices.BinarySearchFunc(r.leases, row.Fence,
			func(l *lease, fence int64) int { return cmp.Compare(l.fence, fence) })
		if !ok || row.Room != r.name {
			continue
		}
		if r.leases[i].granted == 0 {
			r.leases[i].granted = row.Granted
		}
		r.leases[i].outcome = row.Outcome
		if row.Outcome == "unclaimed" {
			r.leases[i].missed = row.Ended
		}
	}
}

// readPresence follows every socket. A socket on a replica that a fault stopped is gone from the fault's
// beginning on, or since the replica received its last answer.
func (b *book) readPresence() {
	open := map[int64]Record{}
	for _, r := range b.records {
		switch r.Kind {
		case KindOpen:
			open[r.Socket] = r
		case KindClose:
			b.present(open[r.Socket], r.Ended.Wall)
			delete(open, r.Socket)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(open)) {
		b.present(open[id], forever)
	}
}

func (b *book) present(opened Record, until int64) {
	p := b.people[opened.Session]
	if p == nil {
		p = &presence{}
		b.people[opened.Session] = p
	}
	from := opened.Ended.Wall
	for _, f := range b.faults {
		if !slices.Contains(f.Replicas, opened.Replica) || f.Ended.Wall < from || f.Began.Wall > until {
			continue
		}
		if heard := max(f.Began.Wall-b.rules.heardWithin().Milliseconds(), from+1); f.Began.Wall > from {
			p.spans = append(p.spans, span{from, heard})
		}
		from = f.Ended.Wall
	}
	if from < until {
		p.spans = append(p.spans, span{from, until})
	}
}

// heardWithin is how long before its connection broke a browser may have answered last: the front of the line
// is pinged as often.
func (r Rules) heardWithin() time.Duration { return r.AwayAfter / 3 }

// mayBeAway reports whether a session may have been away at a time: its browser was gone for longer than
// after, or has only just reconnected.
func (p *presence) mayBeAway(at int64, after time.Duration) bool {
	if p == nil || len(p.spans) == 0 {
		return false // it never had a socket
	}
	if slices.ContainsFunc(p.missed, func(s span) bool { return s.from <= at && at <= s.to }) {
		return true
	}
	slack := backWithin.Milliseconds()
	there, gone := int64(-1), false // until when it was there; whether it had been away when it came back
	spans := slices.Clone(p.spans)
	slices.SortFunc(spans, func(a, c span) int { return cmp.Compare(a.from, c.from) })
	for _, s := range spans {
		if s.from > at {
			break
		}
		if there >= 0 && s.from-there > (after-noticed).Milliseconds() && s.from+slack > at {
			gone = true
		}
		there = max(there, s.to)
	}
	return gone || there >= 0 && at-there > (after-noticed).Milliseconds()
}

// broken reports whether a fault was active between two times (unix ms), or ended shortly before.
func (b *book) broken(from, to int64) bool {
	for _, f := range b.faults {
		if f.Began.Wall <= to && f.Ended.Wall+healWithin.Milliseconds() >= from {
			return true
		}
	}
	return false
}

func (r *roomLog) violation(kind string, at Moment, detail string) Violation {
	return Violation{Kind: kind, Room: r.name, At: at.Mono, Detail: detail}
}
