package crowd

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Kinds of violations: rules of the contract that a server can break.
const (
	VersionBack = "version_back" // a socket was sent an older version
	TwoHolders  = "two_holders"  // two leases at one version or time, or one for two tickets
	Overdue     = "overdue"      // a lease shown as held after its end
	Overtaking  = "overtaking"   // granted while one who came earlier was there and waited
	Position    = "position"     // not 1 + those waiting with a lower ticket
	LostPlace   = "lost_place"   // a place is gone without an outcome, or as "lost"
	TwoOutcomes = "two_outcomes" // a ticket ended twice
	BackInLine  = "back_in_line" // waits after it was granted or had ended
	WrongCode   = "wrong_code"   // a code was shown to, or attributed to, another seller
)

// Violation is one broken rule.
type Violation struct {
	Kind   string `json:"kind"`
	Room   string `json:"room"`
	Detail string `json:"detail"`
}

// Rules configure a model. The zero value is a room in which only the crowd's sellers are.
type Rules struct {
	// Open is true if others, such as support, use the room too. Then positions are checked against the
	// length of the line only, not against tickets.
	Open bool
	// AllowLost is true if Redis may lose data, so that a place may end as lost.
	AllowLost bool
	// Settle is how long a version waits for other sellers' frames before it is judged (default 1 s).
	Settle time.Duration
	// Present is how long a seller must have had a socket before it counts as overtaken, since a newcomer may
	// have been away (default 2 s). A frame may name the previous holder for as long.
	Present time.Duration
}

// Model checks the rules of one room against all frames and answers of its sellers. It is safe for concurrent
// use.
type Model struct {
	room  string
	rules Rules

	mu      sync.Mutex
	log     *epochLog // of the current epoch
	people  map[string]*person
	tally   ModelTally
	first   []Violation // the first few
	claims  bool
	granted func(session string, s State, at time.Time) // called for each new lease, under the model's lock
}

// ModelTally has the counts of a model.
type ModelTally struct {
	Tickets    int            `json:"tickets"`
	Outcomes   map[string]int `json:"outcomes"`
	Live       int            `json:"live"`
	Waiting    int            `json:"waiting"`
	Held       int            `json:"held"`
	Leases     int            `json:"leases"`
	Frames     int            `json:"frames"`
	Checked    int            `json:"positions_checked"` // positions judged,
	Exact      int            `json:"positions_exact"`   // of which only one could be right,
	Late       int            `json:"positions_late"`    // and those that came too late to judge
	Epochs     int            `json:"epochs"`
	Violations map[string]int `json:"violations"`
}

// person is one session.
type person struct {
	ticket  int64 // of the live place; 0 = none
	epoch   int64
	joined  int64 // version from which on it must be known
	status  string
	at      int64 // version of status
	place   int64 // last position
	sockets int
	since   time.Time // since when it has had a socket
	until   time.Time // till when it had one, where it has none
}

const keepViolations = 20

// NewModel watches a room.
func NewModel(room string, rules Rules) *Model {
	if rules.Settle == 0 {
		rules.Settle = time.Second
	}
	if rules.Present == 0 {
		rules.Present = 2 * time.Second
	}
	return &Model{room: room, rules: rules, people: map[string]*person{},
		tally: ModelTally{Outcomes: map[string]int{}, Violations: map[string]int{}}}
}

// Begin records the room's state before the crowd's first join: the waiters at that time have lower tickets
// of unknown sellers.
func (m *Model) Begin(epoch, version, length int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != 0 {
		m.turn(epoch).before = length
	}
}

// Watch returns the view of one socket of a session; its frames are passed to it in the order of their
// arrival.
func (m *Model) Watch(session string, at time.Time) *View {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.person(session)
	if p.sockets++; p.sockets == 1 {
		p.since = at
	}
	return &View{m: m, session: session}
}

// View is what one socket has received.
type View struct {
	m              *Model
	session        string
	epoch, version int64
}

// See records a state frame.
func (v *View) See(s State, at time.Time) {
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	if s.Epoch == v.epoch && s.Version < v.version {
		v.m.violated(VersionBack, "a socket at version %d was sent %d", v.version, s.Version)
	}
	v.epoch, v.version = s.Epoch, s.Version
	v.m.tally.Frames++
	v.m.see(v.session, s, at)
}

// Close records that the socket has closed.
func (v *View) Close(at time.Time) {
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	p := v.m.person(v.session)
	if p.sockets--; p.sockets == 0 {
		p.until = at
	}
}

// Joined records the answer to a join.
func (m *Model) Joined(session string, s State, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, p := m.turn(s.Epoch), m.person(session)
	if b == nil {
		return
	}
	if p.ticket != 0 && p.ticket != s.Ticket && p.epoch == s.Epoch {
		// It pressed again and got another place: right only where the old one has just ended. From the
		// middle of the line none does.
		if s.Ticket > p.ticket && p.status == "waiting" && p.place > 2 && p.sockets > 0 {
			m.violated(LostPlace, "ticket %d waited at %d, pressed again and has ticket %d", p.ticket, p.place,
				s.Ticket)
		}
		m.ended(p, p.ticket, "unseen", s.Version)
	}
	if p.ticket != 0 && p.ticket != s.Ticket && p.epoch != s.Epoch {
		m.missing(p, s)
	}
	if p.ticket == 0 {
		m.live(p, s)
	}
	m.see(session, s, at)
}

// Answered records any other answer about a session's place.
func (m *Model) Answered(session string, s State, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.see(session, s, at)
}

// Violate counts a broken rule that another part of the program found.
func (m *Model) Violate(kind, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.violated(kind, format, args...)
}

// Tally returns the counts so far and the first few violations in detail.
func (m *Model) Tally() (ModelTally, []Violation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally
	t.Outcomes, t.Violations = copied(t.Outcomes), copied(t.Violations)
	for _, p := range m.people {
		if p.ticket == 0 {
			continue
		}
		t.Live++
		switch p.status {
		case "waiting":
			t.Waiting++
		case "locked":
			t.Held++
		}
	}
	return t, slices.Clone(m.first)
}

func copied(m map[string]int) map[string]int {
	to := make(map[string]int, len(m))
	for k, v := range m {
		to[k] = v
	}
	return to
}

func (m *Model) violated(kind, format string, args ...any) {
	m.tally.Violations[kind]++
	if len(m.first) < keepViolations {
		m.first = append(m.first, Violation{Kind: kind, Room: m.room, Detail: fmt.Sprintf(format, args...)})
	}
}

func (m *Model) person(session string) *person {
	p := m.people[session]
	if p == nil {
		p = &person{}
		m.people[session] = p
	}
	return p
}

// turn returns the log of an epoch: a new one if the epoch is new, nil if it is over.
func (m *Model) turn(epoch int64) *epochLog {
	switch {
	case m.log != nil && epoch < m.log.epoch:
		return nil
	case m.log == nil || epoch > m.log.epoch:
		fresh := newEpochLog(m, epoch)
		if m.log != nil {
			m.log.settle(time.Time{})
			fresh.highest = m.log.highestFence()
		}
		m.log = fresh
		m.tally.Epochs++
	}
	return m.log
}

func (m *Model) live(p *person, s State) {
	p.ticket, p.epoch, p.joined, p.status, p.at = s.Ticket, s.Epoch, s.Version, s.Status, s.Version
	m.tally.Tickets++
}

// see records a state from a frame or an answer.
func (m *Model) see(session string, s State, at time.Time) {
	if s.Epoch == 0 {
		return // the room was never used
	}
	b, p := m.turn(s.Epoch), m.person(session)
	if b == nil {
		return
	}
	m.claims = m.claims || s.ClaimBy != 0
	if s.Ticket != 0 && (s.Status == "waiting" || s.Status == "locked") {
		b.observe(session, s, at)
	}
	m.follow(b, p, s)
}

// follow compares a received state with the place that the session has.
func (m *Model) follow(b *epochLog, p *person, s State) {
	switch {
	case p.ticket != 0 && p.epoch == s.Epoch && s.Version < p.joined:
		return // older than the place
	case s.Status == "ended":
		m.followEnd(p, s)
		return
	case p.ticket == 0:
		return
	case s.Ticket != p.ticket:
		m.missing(p, s)
		return
	case p.epoch != s.Epoch: // it is in what is left
		p.epoch, p.joined, p.at = s.Epoch, s.Version, 0
	}
	if s.Version >= p.at {
		p.status, p.at, p.place = s.Status, s.Version, s.Position
	}
}

func (m *Model) followEnd(p *person, s State) {
	number := s.Ticket
	if number == 0 {
		number = p.ticket
	}
	switch {
	case p.ticket == 0 || number == p.ticket && p.epoch == s.Epoch:
		m.ended(p, number, s.Outcome, s.Version)
	case number != p.ticket:
		m.missing(p, s)
	default: // of an epoch before, and observed in this one
		m.over(p, s.Outcome)
	}
}

// missing handles a place that the server does not show any more. If Redis may lose data, a replica that
// never knew the place cannot say that it was lost.
func (m *Model) missing(p *person, s State) {
	if m.rules.AllowLost && p.epoch != s.Epoch {
		m.over(p, "lost, unseen")
		return
	}
	m.violated(LostPlace, "ticket %d was %s at version %d and is shown %q, ticket %d, at version %d",
		p.ticket, p.status, p.at, s.Status, s.Ticket, s.Version)
	m.over(p, "nowhere")
}

// over ends a person's place.
func (m *Model) over(p *person, outcome string) {
	m.tally.Outcomes[outcome]++
	if outcome == "lost" && !m.rules.AllowLost {
		m.violated(LostPlace, "ticket %d ended as lost", p.ticket)
	}
	p.ticket = 0
}

// ended records the outcome of a ticket of this epoch, once.
func (m *Model) ended(p *person, number int64, outcome string, version int64) {
	t := m.log.tickets[number]
	switch {
	case t == nil || m.people[t.session] != p: // a place of before this crowd, or of an epoch before
	case t.outcome == "" && p.ticket == number:
		t.outcome = outcome
		m.log.left(t, version)
		m.over(p, outcome)
	case t.outcome != "" && t.outcome != outcome && t.outcome != "unseen" && outcome != "unseen":
		m.violated(TwoOutcomes, "ticket %d ended as %s and as %s", number, t.outcome, outcome)
	}
}
