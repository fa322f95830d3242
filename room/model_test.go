package room_test

import (
	"slices"
	"time"

	"github.com/waitroom/waitroom/room"
)

// model is the rules of docs/contract.md in plain Go. Its clock is the time in Redis's replies.
type model struct {
	lease, awayAfter, dropAfter, claimWithin int64 // ms

	version  int64
	tickets  int64
	past     holds
	paused   bool
	line     []string // sessions that wait, in order
	holder   string
	fence    int64 // of the holder's lease, once a reply had it; 0 = none had
	granted  int64
	expires  int64
	places   map[string]*modelPlace
	replicas map[string][]room.ReplicaNumber // the replicas of each session
	changed  bool

	claimBy  int64           // deadline of the holder's claim; 0 = it need not claim, as far as is known
	unsure   bool            // the holder waited before, and has not claimed its lease
	ahead    int             // its position in the line if it does not claim
	returned map[string]bool // sessions that came back from being away, in the current verb
}

type modelPlace struct {
	seller   string
	ticket   int64
	live     bool
	outcome  room.Outcome
	restored int64 // ticket of the ended place that support put back by this one; 0 = none
	browser  bool  // the session had a socket, or a program vouched for it, at any time in this place
	seen     bool  // the session had a socket
	vouched  int64 // connected until then (ms), by Seen; after that, gone since then
	away     bool  // a verb has marked it away

	missed    bool // it did not claim a lease
	unclaimed bool // it did not claim, and has not come back
	awayAt    int64
}

func newModel(lease, awayAfter, dropAfter time.Duration) *model {
	return &model{lease: lease.Milliseconds(), awayAfter: awayAfter.Milliseconds(),
		dropAfter: dropAfter.Milliseconds(),
		past:      newHolds(lease), places: map[string]*modelPlace{},
		replicas: map[string][]room.ReplicaNumber{}}
}

// at runs one verb at a time of Redis's clock. All its changes have one version.
func (m *model) at(now int64, verb func()) {
	m.changed, m.returned = false, map[string]bool{}
	verb()
	if m.changed {
		m.version++
	}
}

// advance brings the room up to date, by rules 2, 5 and 7 of docs/contract.md.
func (m *model) advance(now int64) {
	switch {
	case m.holder == "":
	case m.claimBy != 0 && m.claimBy <= m.expires && now >= m.claimBy:
		m.miss()
	case now >= m.expires:
		m.finish(room.Expired, m.expires)
	}
	for _, s := range slices.Clone(m.line) {
		if m.tooLong(s, now) {
			m.end(s, room.Dropped)
		} else if m.gone(s, now) > m.awayAfter {
			m.places[s].away = true
		}
	}
	if m.holder != "" || m.paused {
		return
	}
	for _, s := range m.line {
		if p := m.places[s]; !p.unclaimed && m.gone(s, now) <= m.awayAfter {
			m.ahead = m.take(s)
			m.grant(s, now)
			if m.claimWithin > 0 && !m.returned[s] {
				m.unsure = true
				if len(m.replicas[s]) > 0 || p.seen {
					m.claimBy = now + m.claimWithin
				}
			}
			p.seen = false
			return
		}
	}
}

// take removes a waiter from the line, and returns its index.
func (m *model) take(session string) int {
	at := slices.Index(m.line, session)
	m.line = slices.Delete(m.line, at, at+1)
	if at < m.ahead {
		m.ahead--
	}
	return at
}

// miss ends a lease that was not claimed, by rule 11 of docs/contract.md.
func (m *model) miss() {
	s, at := m.holder, max(m.claimBy, m.granted)
	m.free()
	p := m.places[s]
	if p.missed {
		m.end(s, room.Dropped)
		return
	}
	p.missed, p.unclaimed, p.awayAt, m.changed = true, true, at, true
	m.line = slices.Insert(m.line, m.ahead, s)
}

func (m *model) free() { m.holder, m.claimBy, m.unsure = "", 0, false }

// tooLong reports whether a waiter has been gone for so long that it is dropped.
func (m *model) tooLong(session string, now int64) bool {
	if p := m.places[session]; p.unclaimed {
		return now-p.awayAt > m.dropAfter
	}
	return m.gone(session, now) > m.awayAfter+m.dropAfter
}

// isHere applies a claim, or another press of 준비 완료 ("ready").
func (m *model) isHere(session string, now int64) {
	p := m.places[session]
	switch {
	case m.holder == session && m.unsure:
		m.changed = m.changed || m.claimBy != 0
		m.claimBy, m.unsure = 0, false
	case m.holder != session && p.unclaimed:
		if p.unclaimed = false; len(m.replicas[session]) == 0 {
			p.seen, p.vouched = true, now
		}
		m.returned[session], m.changed = true, true
		m.advance(now)
	case m.holder != session && p.seen && len(m.replicas[session]) == 0: // it counts as there for a while
		away := p.away
		m.back(session)
		p.vouched = max(p.vouched, now)
		if m.returned[session] = away; away {
			m.advance(now)
		}
	}
}

func (m *model) claim(session string, fence, now int64) error {
	m.advance(now)
	switch {
	case !m.live(session):
		return room.ErrNoPlace
	case fence != 0 && (m.holder != session || m.fence != fence):
		return room.ErrStaleFence
	}
	m.isHere(session, now)
	return nil
}

// back records that an away session is there.
func (m *model) back(session string) {
	p := m.places[session]
	m.returned[session], p.away = m.returned[session] || p.away, false
}

// gone returns for how long no replica has had a waiter and no call has vouched for it (ms).
func (m *model) gone(session string, now int64) int64 {
	if len(m.replicas[session]) > 0 {
		return 0
	}
	if p := m.places[session]; p.seen {
		return now - p.vouched
	}
	return 0
}

func (m *model) grant(session string, now int64) {
	m.holder, m.fence, m.granted, m.expires, m.changed = session, 0, now, now+m.lease, true
}

func (m *model) finish(outcome room.Outcome, at int64) {
	m.past.learn(at - m.granted)
	s := m.holder
	m.free()
	m.end(s, outcome)
}

func (m *model) end(session string, outcome room.Outcome) {
	if slices.Contains(m.line, session) {
		m.take(session)
	}
	p := m.places[session]
	p.live, p.outcome, m.changed = false, outcome, true
}

func (m *model) live(session string) bool {
	p := m.places[session]
	return p != nil && p.live
}

func (m *model) join(session, seller string, noWait bool, now int64) error {
	m.advance(now)
	if m.live(session) {
		m.isHere(session, now)
		return nil
	}
	for _, p := range m.places {
		if p.live && p.seller == seller {
			return room.ErrSellerHasPlace
		}
	}
	if noWait && m.paused {
		return room.ErrPaused
	}
	if noWait && m.holder != "" {
		return room.ErrLockHeld
	}
	m.begin(session, seller)
	if m.holder == "" && !m.paused {
		m.grant(session, now)
	} else {
		m.line = append(m.line, session)
	}
	return nil
}

func (m *model) begin(session, seller string) *modelPlace {
	m.tickets++
	m.places[session] = &modelPlace{seller: seller, ticket: m.tickets, live: true,
		browser: len(m.replicas[session]) > 0}
	m.changed = true
	return m.places[session]
}

func (m *model) leave(session string, outcome room.Outcome, now int64) error {
	m.advance(now)
	if !m.live(session) {
		return room.ErrNoPlace
	}
	if m.holder == session {
		m.finish(outcome, now)
		m.advance(now)
	} else {
		m.end(session, room.Cancelled)
	}
	return nil
}

func (m *model) seen(session string, vouch int64, here bool, now int64) {
	if slices.Contains(m.line, session) && !m.tooLong(session, now) && !m.places[session].unclaimed {
		p := m.places[session]
		m.back(session)
		p.seen, p.browser, p.vouched = true, true, now
		if here {
			p.vouched += vouch
		}
	}
	m.advance(now)
}

func (m *model) come(session string, replica room.ReplicaNumber, now int64) {
	if waits := slices.Contains(m.line, session); !waits || !m.tooLong(session, now) {
		if waits {
			m.back(session)
		} else if m.holder == session && m.unsure && m.claimBy == 0 {
			m.claimBy, m.changed = now+m.claimWithin, true
		}
		m.goFrom(session, replica)
		m.replicas[session] = append(m.replicas[session], replica)
		m.hadBrowser(session)
	}
	m.advance(now)
}

// goes records since when a session has gone from a replica.
func (m *model) goes(session string, replica room.ReplicaNumber, since, now int64) {
	was := m.goFrom(session, replica)
	m.hadBrowser(session) // that it came may not have been reported
	if p := m.places[session]; len(m.replicas[session]) == 0 && slices.Contains(m.line, session) &&
		!p.unclaimed && (was || !p.seen) {
		p.seen, p.vouched = true, since
	}
	m.advance(now)
}

func (m *model) hadBrowser(session string) {
	if p := m.places[session]; p != nil && p.live {
		p.browser = true
	}
}

func (m *model) goFrom(session string, replica room.ReplicaNumber) bool {
	before := len(m.replicas[session])
	m.replicas[session] = slices.DeleteFunc(m.replicas[session], func(h room.ReplicaNumber) bool {
		return h == replica
	})
	return len(m.replicas[session]) < before
}

func (m *model) pause(paused bool, now int64) {
	m.advance(now)
	if m.paused != paused {
		m.paused, m.changed = paused, true
		m.advance(now)
	}
}

// holds reports whether a fence is the live lease's.
func (m *model) holds(fence int64) bool { return m.holder != "" && m.fence == fence }

func (m *model) release(fence, now int64) error {
	m.advance(now)
	if !m.holds(fence) {
		return room.ErrStaleFence
	}
	m.finish(room.Forced, now)
	m.advance(now)
	return nil
}

func (m *model) extend(fence, more, now int64) error {
	m.advance(now)
	switch {
	case !m.holds(fence):
		return room.ErrStaleFence
	case m.expires+more-m.granted > (10 * time.Minute).Milliseconds():
		return room.ErrLeaseTooLong
	}
	m.expires, m.changed = m.expires+more, true
	return nil
}

// waiter returns the index of a ticket in the line, or -1.
func (m *model) waiter(ticket int64) int {
	return slices.IndexFunc(m.line, func(s string) bool { return m.places[s].ticket == ticket })
}

func (m *model) remove(ticket, now int64) error {
	m.advance(now)
	i := m.waiter(ticket)
	if i < 0 {
		return room.ErrStaleTicket
	}
	m.end(m.line[i], room.Removed)
	return nil
}

// restore puts the session of a place that support ended back at the front, with a new place.
func (m *model) restore(ticket, now int64) error {
	m.advance(now)
	for session, p := range m.places {
		if p.ticket != ticket || p.live || p.outcome != room.Forced && p.outcome != room.Removed {
			continue
		}
		for _, other := range m.places {
			if other.live && other.seller == p.seller {
				return room.ErrSellerHasPlace
			}
		}
		again := m.begin(session, p.seller)
		again.restored = ticket
		if p.browser && len(m.replicas[session]) == 0 { // it counts as gone from now on
			again.browser, again.seen, again.vouched = true, true, now
		}
		m.line = slices.Insert(m.line, 0, session)
		if m.ahead > 0 {
			m.ahead++
		}
		m.advance(now)
		return nil
	}
	for _, p := range m.places {
		if p.live && p.restored == ticket {
			return nil // it was put back already
		}
	}
	return room.ErrStaleTicket
}

func (m *model) move(ticket int64, position int, now int64) error {
	m.advance(now)
	from := m.waiter(ticket)
	if from < 0 {
		return room.ErrStaleTicket
	}
	to := min(position, len(m.line)) - 1
	if from == to {
		return nil
	}
	session := m.line[from]
	m.take(session)
	m.line = slices.Insert(m.line, to, session)
	if to < m.ahead {
		m.ahead++
	}
	m.changed = true
	return nil
}
