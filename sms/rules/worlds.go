package rules

import (
	"math/bits"
	"math/rand/v2"
)

// Bounds limit the worlds that are explored.
type Bounds struct {
	Leases, Asks, Messages int8
	Waits                  []Time // the times between two events, in steps, in order
	Apart                  bool   // only a grant is in the same moment as the event before it
	Transit                Time   // the longest time from sending a message to its coming, in steps
	Events                 int    // the most events of a world; 0 = no limit
	Claims, Rejects        int8
	Silent                 bool // leases that do not ask
	Narrow                 bool // asks whose own filter refuses the marketplace's messages
	Skew                   bool // the carrier's clock may be behind
	Copies                 bool // a code may come a second time, as it was or in other words
	Strays                 bool // messages of a sender outside the list, and of a seller's own phone
	Dropped                Assumption
}

// Op is what happens.
type Op int8

// The ops.
const (
	OpGrant Op = iota
	OpLeave
	OpAsk
	OpMessage
	OpClaim
	OpReject
)

// Event is one event of a history.
type Event struct {
	Op      Op
	At      Time
	Party   int8
	Asking  bool
	Narrow  bool
	Busy    Time // until when the number is busy, 0 = it is not
	Index   int8
	Message Message
}

// Explorer visits all worlds within bounds.
type Explorer struct {
	Settings
	Bounds
	Visited    uint64  // worlds, of which no two are alike
	Steps      uint64  // events that led to them
	Violation  []Event // the first that was found
	Stop       bool    // at the first violation
	Violations uint64
	Each       func(path []Event, r *Room)

	gather func(frame, Event) // takes what may come next, instead of a visit
	seen   memo
	path   []Event
}

type frame struct {
	Room
	claims, rejects int8
}

// Run explores.
func (x *Explorer) Run() {
	var f frame
	f.Now = 0
	x.visit(&f)
}

func (x *Explorer) done() bool { return x.Stop && x.Violations > 0 }

func (x *Explorer) visit(f *frame) {
	if x.done() || !x.seen.add(x.key(f)) {
		return
	}
	x.Visited++
	if x.Each != nil {
		x.Each(x.path, &f.Room)
	}
	if !x.hopeful(f) || x.Events > 0 && len(x.path) == x.Events {
		return
	}
	x.branch(f)
}

func (x *Explorer) branch(f *frame) {
	if f.NumLeases == 0 {
		x.grants(f)
		return
	}
	for _, w := range x.Waits {
		g := *f
		g.Now += w * Step
		if h := g.Holder(); h != None && g.Now-g.Leases[h].Granted >= x.OpenFor {
			g.Now = g.Leases[h].Granted + x.OpenFor
			g.Leave() // a lease lasts ten minutes at most
			x.then(g, Event{Op: OpLeave, At: g.Now})
			return
		}
		x.step(&g, w == 0)
	}
}

// hopeful reports whether a message may still come to the wrong session.
func (x *Explorer) hopeful(f *frame) bool {
	if f.NumMessages < x.Messages {
		return true
	}
	for i := range f.NumMessages {
		if f.Messages[i].Offered != None && f.Messages[i].Lease == None {
			return true
		}
	}
	return false
}

// then visits the world after an event, or gives it to gather. If the event shows a seller's code to another
// session, that is a violation, and the world is not explored further.
func (x *Explorer) then(g frame, e Event) {
	if x.gather != nil {
		x.gather(g, e)
		return
	}
	x.Steps++
	x.path = append(x.path, e)
	if e.Op == OpMessage || e.Op == OpClaim {
		if g.wrong() {
			x.Violations++
			if x.Violation == nil || len(x.path) < len(x.Violation) {
				x.Violation = append([]Event(nil), x.path...)
			}
			x.path = x.path[:len(x.path)-1]
			return
		}
	}
	x.visit(&g)
	x.path = x.path[:len(x.path)-1]
}

// wrong reports whether the code of a seller is shown to another session.
func (r *Room) wrong() bool {
	for i := range r.NumMessages {
		if m := &r.Messages[i]; m.Lease != None && m.Cause.Lease != None &&
			r.Leases[m.Lease].Party != r.Leases[m.Cause.Lease].Party {
			return true
		}
	}
	return false
}

func (x *Explorer) step(f *frame, same bool) {
	h := f.Holder()
	if h == None && f.NumLeases < x.Leases {
		x.grants(f)
	}
	if same && x.Apart {
		return
	}
	if f.NumMessages < x.Messages {
		x.messages(f)
	}
	for i := range f.NumMessages {
		m := &f.Messages[i]
		if m.Offered != None && m.Lease == None && f.claims < x.Claims {
			g := *f
			g.claims++
			if g.Claim(&x.Settings, i) {
				x.then(g, Event{Op: OpClaim, At: f.Now, Index: i})
			}
		}
		if m.Lease != None && f.rejects < x.Rejects && !m.Repeats && f.Now-m.Came < x.OpenFor {
			g := *f
			g.rejects++
			g.Reject(i)
			x.then(g, Event{Op: OpReject, At: f.Now, Index: i})
		}
	}
	if h == None {
		return
	}
	if f.NumAsks < x.Asks { // a claim may have added some
		x.ask(f, false)
		if x.Narrow {
			x.ask(f, true)
		}
	}
	g := *f
	g.Leave()
	x.then(g, Event{Op: OpLeave, At: f.Now})
}

func (x *Explorer) ask(f *frame, narrow bool) {
	g, asking := *f, f.Leases[f.Holder()].Asking
	if busy := g.Ask(&x.Settings, narrow); busy == 0 || !asking || x.gather != nil {
		x.then(g, Event{Op: OpAsk, At: f.Now, Narrow: narrow, Busy: busy})
	}
}

func (x *Explorer) grants(f *frame) {
	next := int8(0)
	for l := range f.NumLeases {
		next = max(next, f.Leases[l].Party+1)
	}
	for p := range next + 1 {
		for s := range 2 {
			if s == 1 && !x.Silent {
				break
			}
			g := *f
			g.Grant(p, s == 0)
			x.then(g, Event{Op: OpGrant, At: f.Now, Party: p, Asking: s == 0})
		}
	}
}

// messages brings each message that may come now. These are codes of asks, copies of earlier messages,
// strays, and what the dropped assumptions allow.
func (x *Explorer) messages(f *frame) {
	earliest := f.Now - x.Transit*Step
	for a := range f.NumAsks {
		ask := &f.Asks[a]
		if ask.Narrow || ask.Claimed {
			continue // the page asks with the right filter
		}
		used := false
		for i := range f.NumMessages {
			c := &f.Messages[i].Cause
			used = used || c.Ask == a && c.Lease != None
		}
		end := f.Leases[ask.Lease].End
		for t := max(ask.At, earliest); t <= f.Now; t += Step {
			late := t >= end+x.Quarantine
			kind := Own
			switch {
			case used && x.Dropped&AskAgain != 0 && !late:
				kind = Again
			case used:
				continue
			case late && x.Dropped&InTime != 0:
				kind = LateSent
			case late && x.Dropped&WithinTurn != 0:
				kind = AfterTurn
			case late:
				continue
			}
			x.send(f, Cause{Lease: ask.Lease, Ask: a, Sent: t, Kind: kind})
		}
	}
	if x.Dropped&AskFirst != 0 {
		for l := range f.NumLeases {
			lease := &f.Leases[l]
			for t := max(lease.Granted, earliest); t <= f.Now && t < lease.End; t += Step {
				x.send(f, Cause{Lease: l, Ask: None, Sent: t, Kind: Unasked})
			}
		}
	}
	for _, stray := range [...]struct {
		a Assumption
		k Kind
	}{{KnownSender, OwnPhone}, {NoFalseCode, FalseCode}, {NoStranger, Stranger}} {
		if x.Dropped&stray.a != 0 {
			x.send(f, Cause{Lease: None, Ask: None, Sent: f.Now, Kind: stray.k})
		}
	}
	for i := range f.NumMessages {
		x.copies(f, i)
	}
	if x.Strays {
		for sender := Foreign; sender <= Personal; sender++ {
			m := Message{From: f.Now, Last: f.Now, Stamped: true, Text: f.NumMessages + 1, Code: f.NumMessages + 1,
				Sender: sender, Cause: Cause{Lease: None, Ask: None, Sent: f.Now, Kind: Stray}}
			x.bring(f, m)
		}
	}
}

// send brings a message at the present time.
func (x *Explorer) send(f *frame, c Cause) {
	fresh := f.NumMessages + 1
	m := Message{From: c.Sent, Last: c.Sent, Stamped: true, Text: fresh, Code: fresh, Cause: c}
	x.bring(f, m)
	if x.Skew {
		m.From--
		m.Last--
		x.bring(f, m)
	}
	if x.Dropped&NotFarBehind != 0 {
		m.From, m.Last = c.Sent-2, c.Sent-2
		x.bring(f, m)
	}
	if x.Dropped&NotAhead != 0 {
		for d := Step; c.Sent+d <= f.Now && d <= 2*Step; d += Step {
			m.From, m.Last = c.Sent+d, c.Sent+d
			x.bring(f, m)
		}
	}
	if x.Dropped&HasTime != 0 && c.Sent < f.Now {
		m.From, m.Last, m.Stamped = f.Now, f.Now, false
		x.bring(f, m)
	}
	if x.Dropped&OwnCode != 0 {
		for i := range f.NumMessages {
			o := &f.Messages[i]
			if o.Cause.Lease != None && c.Lease != None && f.Leases[o.Cause.Lease].Party != f.Leases[c.Lease].Party {
				m = Message{From: c.Sent, Last: c.Sent, Stamped: true, Text: o.Text, Code: o.Code, Cause: c}
				m.Cause.Kind = SameAsAnothers
				x.bring(f, m)
			}
		}
	}
}

func (x *Explorer) copies(f *frame, i int8) {
	o := &f.Messages[i]
	m := Message{From: o.From, Last: o.Last, Stamped: o.Stamped, Text: o.Text, Code: o.Code, Cause: o.Cause}
	soon := true
	for j := range f.NumMessages {
		soon = soon && (f.Messages[j].Code != o.Code || f.Now-f.Messages[j].Came < x.OpenFor)
	}
	if !soon && x.Dropped&CopySoon != 0 {
		m.Text, m.Cause.Kind = f.NumMessages+1, Belated
		x.bring(f, m)
	}
	if !soon || o.Sender != Listed {
		return
	}
	if x.Copies {
		m.Cause.Kind = SentAgain
		x.bring(f, m)
	}
	if x.Copies {
		m.Text, m.Cause.Kind = f.NumMessages+1, Reworded
		x.bring(f, m)
	}
	if x.Dropped&LongCode != 0 {
		m.Code, m.Text, m.Cause.Kind = f.NumMessages+1, f.NumMessages+1, ShortReworded
		x.bring(f, m)
	}
	if x.Dropped&OneTime != 0 {
		m.Code, m.Text, m.Cause.Kind = o.Code, o.Text, OtherTime
		for d := Step; o.From+d <= f.Now && d <= x.Transit*Step; d += Step {
			m.From, m.Last = o.From+d, o.From+d
			x.bring(f, m)
		}
	}
}

func (x *Explorer) bring(f *frame, m Message) {
	g := *f
	g.Arrive(&x.Settings, m)
	x.then(g, Event{Op: OpMessage, At: f.Now, Index: g.NumMessages - 1, Message: m})
}

// key returns a digest of a world: of what may still matter, with times counted from now.
func (x *Explorer) key(f *frame) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	put := func(v uint64) {
		hi, lo := bits.Mul64(h^v, 0xff51afd7ed558ccd)
		h = (hi ^ lo) + 0x9e3779b97f4a7c15
	}
	oldest := x.OpenFor + 2*x.Quarantine + Step
	age := func(t Time) uint64 {
		if t == Live {
			return 255
		}
		return uint64(min(f.Now-t, oldest) + 8)
	}
	left := uint64(0)
	if x.Events > 0 {
		left = uint64(x.Events - len(x.path))
	}
	put(left<<20 | bit(f.NumLeases, 0) | bit(f.NumAsks, 4) | bit(f.NumMessages, 8) |
		bit(f.claims, 12) | bit(f.rejects, 16))
	for l := range f.NumLeases {
		e := &f.Leases[l]
		put(uint64(e.Party) | flag(e.Asking)<<4 | uint64(min(e.Codes, 3))<<5 |
			age(e.Granted)<<16 | age(e.End)<<32)
	}
	for a := range f.NumAsks {
		k := &f.Asks[a]
		put(uint64(k.Lease) | flag(k.Answered)<<4 | flag(k.Narrow)<<5 | flag(k.Claimed)<<6 | age(k.At)<<16)
	}
	more := f.NumMessages < x.Messages
	for i := range f.NumMessages {
		m := &f.Messages[i]
		v := bit(m.Lease, 0) | bit(m.Ask, 4) | bit(m.Cause.Lease, 8) | bit(m.Cause.Ask, 12) | bit(m.Offered, 16) |
			flag(m.ByClock)<<20 | flag(m.Repeats)<<21 | uint64(m.Rejected)<<22 | uint64(m.Result)<<26
		if more && (m.Lease == None || x.Copies || x.Dropped != 0) || m.Offered != None {
			v |= age(m.From) << 32
		}
		if more || f.rejects < x.Rejects {
			v |= age(m.Came) << 40
		}
		v |= uint64(m.Text)<<48 | uint64(m.Code)<<52 | uint64(m.Given)<<56
		put(v)
	}
	return h
}

// bit returns a small number, from None on, that is moved up.
func bit(v int8, by int) uint64 { return uint64(uint8(v+1)) << by }

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// memo is a set of digests.
type memo struct {
	table []uint64
	n     int
}

func (m *memo) add(k uint64) bool {
	if k == 0 {
		k = 1
	}
	if 2*m.n >= len(m.table) {
		old := m.table
		m.table = make([]uint64, max(1<<16, 2*len(old)))
		m.n = 0
		for _, v := range old {
			if v != 0 {
				m.add(v)
			}
		}
	}
	mask := uint64(len(m.table) - 1)
	for i := k & mask; ; i = (i + 1) & mask {
		switch m.table[i] {
		case k:
			return false
		case 0:
			m.table[i] = k
			m.n++
			return true
		}
	}
}

// Walk returns the events of a random world, at most so many. x explores no more after it.
func (x *Explorer) Walk(random *rand.Rand, events int) (path []Event) {
	var at frame
	for len(path) < events {
		var nexts []frame
		var which []Event
		x.gather = func(g frame, e Event) { nexts, which = append(nexts, g), append(which, e) }
		x.branch(&at)
		if len(nexts) == 0 {
			return path
		}
		// Half of the time every op is as likely as another, so that rare ones come too: there are more ways to
		// send a message than to leave. Where the op is not possible next, any event is taken.
		op := which[random.IntN(len(which))].Op
		if random.IntN(2) == 0 {
			op = Op(random.IntN(int(OpReject) + 1))
		}
		offset := random.IntN(len(which))
		for i := range which {
			if k := (i + offset) % len(which); which[k].Op == op || i == len(which)-1 {
				at, path = nexts[k], append(path, which[k])
				break
			}
		}
	}
	return path
}
