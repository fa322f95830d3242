package faults

import "time"

// scenario is a history made by hand. Only its own calls move its clock.
type scenario struct {
	records []Record
	now     int64 // ms since the run began
	ledger  Ledger
	rules   Rules
}

const (
	base = int64(1_800_000_000_000) // unix ms at which stories begin
	life = 4000                     // ms that a lease has
)

func newStory() *scenario {
	return &scenario{now: 1000, rules: Rules{AwayAfter: 5 * time.Second, Lease: life * time.Millisecond}}
}

func (s *scenario) moment() Moment { return Moment{Mono: s.now * 1000, Wall: base + s.now} }

func (s *scenario) add(r Record) {
	if r.Ended.Mono == 0 {
		r.Ended = s.moment()
	}
	if r.Began.Mono == 0 {
		r.Began = r.Ended
	}
	if r.Room == "" && r.Kind != KindFault {
		r.Room = "room"
	}
	if r.Epoch == 0 {
		r.Epoch = 7
	}
	r.N = int64(len(s.records)) + 1
	s.records = append(s.records, r)
	s.now++
}

func (s *scenario) after(ms int64) *scenario {
	s.now += ms
	return s
}

// locked adds an answer that the session holds the lock. A lease of fence f began at f ms.
func (s *scenario) locked(op, session string, ticket, fence, version int64) {
	s.add(Record{Kind: KindCall, Op: op, HTTP: 200, Session: session, Status: "locked", Ticket: ticket,
		Fence: fence, Version: version,
		GrantedAt: base + fence, ExpiresAt: base + fence + life})
}

func (s *scenario) waiting(op, session string, ticket, position, length, version int64) {
	s.add(Record{Kind: KindCall, Op: op, HTTP: 202, Session: session, Status: "waiting", Ticket: ticket,
		Position: position, Length: length, Version: version})
}

func (s *scenario) ended(session, outcome string, ticket, fence, version int64) {
	s.add(Record{Kind: KindCall, Op: "leave", HTTP: 200, Session: session, Status: "ended", Outcome: outcome,
		Ticket: ticket, Fence: fence, Version: version})
}

func (s *scenario) frame(socket int64, r Record) {
	r.Kind, r.Type, r.Socket, r.ServerTime = KindFrame, "state", socket, base+s.now
	s.add(r)
}

// turn is a holder a, a waiter b who has the next turn, and both done.
func turn() *scenario {
	s := newStory()
	s.locked("join", "a", 1, 1000, 1)
	s.waiting("join", "b", 2, 1, 1, 2)
	s.after(500).ended("a", "completed", 1, 1000, 3)
	granted := s.now
	s.locked("status", "b", 2, granted, 3)
	s.after(100).ended("b", "cancelled", 2, granted, 4)
	s.ledger = Ledger{Read: true,
		Leases: []LeaseRow{{Room: "room", Epoch: 7, Fence: 1000, Ticket: 1, Outcome: "completed",
			Granted: base + 1000, Ended: base + granted - 1},
			{Room: "room", Epoch: 7, Fence: granted, Ticket: 2, Outcome: "cancelled", Granted: base + granted,
				Ended: base + s.now - 1}},
		Places: []PlaceRow{{Room: "room", Epoch: 7, Ticket: 1, Outcome: "completed"},
			{Room: "room", Epoch: 7, Ticket: 2, Outcome: "cancelled"}}}
	return s
}

func (s *scenario) kinds() map[string]int {
	kinds := map[string]int{}
	for _, v := range Check(s.records, s.ledger, s.rules) {
		kinds[v.Kind]++
	}
	return kinds
}
