package room

import "time"

// position is one version of a room, in one history of Redis.
type position struct {
	epoch, version int64
	lineage        string // the histories of the server under which the epoch's versions were written: see lineage.lua
}

func (p position) after(other position) bool {
	return p.epoch > other.epoch || p.epoch == other.epoch && p.version >= other.version
}

// observedRoom is what this process has observed of a room, in replies and events. A Redis that does not have that in its past has lost writes.
// Then it is replayed: see replay.go.
type observedRoom struct {
	position
	replayed position // that was replayed last
	at       time.Time
	lease    Lease                    // the last one; zero while the lock is free
	ends     time.Time                // when it would end, by this process's own clock
	fence    int64                    // the highest
	over     int64                    // when a lease was granted or over, the latest (unix ms)
	ticket   int64                    // the highest
	places   map[int64]*observedPlace // by ticket
}

// observedPlace is a place as a reply or an event had it last.
type observedPlace struct {
	Session   string       `json:"session"`
	Seller    string       `json:"seller"`
	Ticket    int64        `json:"ticket"`
	Of        int64        `json:"of"`                // epoch
	JoinedAt  int64        `json:"joined,omitempty"`  // unix ms, 0 = not known
	Fence     int64        `json:"fence,omitempty"`   // where it held the lock
	GrantedAt int64        `json:"granted,omitempty"` // unix ms
	ExpiresAt int64        `json:"expires,omitempty"`
	Outcome   Outcome      `json:"outcome,omitempty"` // where it ended
	EndedAt   int64        `json:"ended,omitempty"`   // unix ms
	Waited    bool         `json:"waited,omitempty"`  // it was observed waiting; the ledger alone has its end
	Missed    *missedLease `json:"missed,omitempty"`  // the lease that it did not claim, where it waits again

	version int64
	at      time.Time
}

// missedLease is a lease that was not claimed.
type missedLease struct {
	Fence     int64 `json:"fence"`
	GrantedAt int64 `json:"granted"` // unix ms
	ExpiresAt int64 `json:"expires"`
	EndedAt   int64 `json:"ended"`
}

// miss notes that the place waits again, since its lease was not claimed in time.
func (p *observedPlace) miss(at int64) {
	if p.Fence != 0 {
		p.Missed = &missedLease{p.Fence, p.GrantedAt, p.ExpiresAt, at}
	}
	p.Fence, p.GrantedAt, p.ExpiresAt = 0, 0, 0
}

// past reports whether the end of a place need not be remembered any more; its seller may have been erased since.
func (p *observedPlace) past(now time.Time) bool { return p.Outcome != "" && now.Sub(p.at) > endedKept }

// orphaned is the session that holds the lock where a loss took its holder: see ORPHANED in library.lua.
const orphaned = "-"

// endedKept is how long the end of a place is remembered: the ledger has it long before.
const endedKept = 2 * time.Minute

// observedIn returns what was observed of a room; nil where this process has not replayed an earlier epoch yet. Until it has, nothing of the new
// epoch is noted: it would pass for all that there was, and both epochs may have given out the same ticket.
func (m *memory) observedIn(id ID, epoch int64, now time.Time) *observedRoom {
	r := m.of(id, now)
	if r.observed == nil || now.Sub(r.observed.at) > m.keep {
		r.observed = &observedRoom{places: make(map[int64]*observedPlace)}
	}
	o := r.observed
	o.at = now
	if o.epoch != 0 && epoch > o.epoch && o.replayed != o.position {
		m.unreplayed[id] = true
		return nil
	}
	return o
}

// position returns the latest position that was observed of a room; zero for none.
func (m *memory) position(id ID) position {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.known(id).observed; o != nil && time.Since(o.at) <= m.keep {
		return o.position
	}
	return position{}
}

// observeView notes how a room is.
func (m *memory) observeView(id ID, v View) {
	if v.Epoch == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	o := m.observedIn(id, v.Epoch, now)
	at := position{v.Epoch, v.Version, v.Lineage}
	if o == nil || !at.after(o.position) {
		return // a later reply was read before
	}
	o.position, o.replayed, o.lease = at, position{}, Lease{}
	if v.Lease != nil {
		o.lease, o.ends = *v.Lease, now.Add(time.Duration(v.Lease.ExpiresAt-v.Now)*time.Millisecond)
		o.fence, o.ticket, o.over = max(o.fence, v.Lease.Fence), max(o.ticket, v.Lease.Ticket), max(o.over, v.Lease.GrantedAt)
	}
}

// observePlace notes how a session stands.
func (m *memory) observePlace(id ID, session string, v View, p Place) {
	if session == "" || p.Ticket == 0 || v.Epoch == 0 || p.Outcome == Lost {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	o := m.observedIn(id, v.Epoch, now)
	if o == nil {
		return
	}
	o.fence = max(o.fence, p.Fence)
	if known := o.places[p.Ticket]; known != nil && known.Outcome != "" {
		return // an end does not change
	}
	place := o.place(p.Ticket, v.Epoch, v.Version, now)
	if place == nil {
		return
	}
	place.Session, place.Seller = session, p.Seller
	switch p.Status {
	case Waiting:
		place.miss(v.Now)
	case Locked:
		if v.Lease != nil && v.Lease.Fence == p.Fence {
			place.Fence, place.GrantedAt, place.ExpiresAt = p.Fence, v.Lease.GrantedAt, v.Lease.ExpiresAt
		}
	case Ended:
		place.Fence, place.Outcome, place.EndedAt = p.Fence, p.Outcome, v.Now
		if place.ExpiresAt != 0 {
			place.EndedAt = max(min(v.Now, place.ExpiresAt), place.GrantedAt)
		}
		o.leaseOver(place)
	}
}

// leaseOver notes when a place's lease was over.
func (o *observedRoom) leaseOver(p *observedPlace) {
	if p.Fence != 0 {
		o.over = max(o.over, p.GrantedAt, p.EndedAt)
	}
}

// observeMatch notes what a message was matched to.
func (m *memory) observeMatch(id ID, at position, match Match) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.observedIn(id, at.epoch, time.Now())
	if o == nil {
		return
	}
	if at.after(o.position) {
		o.position = at
	}
	if !match.Completes {
		return
	}
	if o.lease.Fence == match.Fence {
		o.lease = Lease{}
	}
	if p := o.places[match.Ticket]; p != nil && p.Of == match.Epoch && p.Outcome == "" {
		p.Fence, p.Outcome, p.EndedAt, p.at = match.Fence, Completed, match.Ended, time.Now()
		o.leaseOver(p)
	}
}

// observeEvent notes what an event says.
func (m *memory) observeEvent(id ID, e *Event) {
	m.observeView(id, e.view())
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	o := m.observedIn(id, e.Epoch, now)
	if o == nil {
		return
	}
	for _, j := range e.Joined {
		if p := o.place(j.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.JoinedAt = j.Session, j.Seller, e.Now
		}
	}
	for _, missed := range e.Missed { // its lease may be one of which no event came
		o.over = max(o.over, missed.At)
		if p := o.place(missed.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.JoinedAt = missed.Session, missed.Seller, missed.JoinedAt
			p.miss(missed.At)
		}
	}
	if l := e.Lease; l != nil && l.Session != orphaned {
		if p := o.place(l.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.Fence, p.GrantedAt, p.ExpiresAt = l.Session, l.Seller, l.Fence, l.GrantedAt, l.ExpiresAt
		}
	}
	for _, f := range e.Ended {
		if p := o.place(f.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.Fence, p.Outcome, p.EndedAt = f.Session, f.Seller, f.Fence, f.Outcome, f.At
			o.leaseOver(p)
		}
	}
}

// place returns the place of a ticket, to be changed; nil where more was observed of it already.
func (o *observedRoom) place(ticket, epoch, version int64, now time.Time) *observedPlace {
	o.ticket = max(o.ticket, ticket)
	p := o.places[ticket]
	if p == nil {
		p = &observedPlace{Ticket: ticket}
		o.places[ticket] = p
	}
	if p.Of > epoch || p.Of == epoch && p.version > version {
		return nil
	}
	p.Of, p.version, p.at = epoch, version, now
	return p
}

// prune drops places that are out of date, and reports whether the room itself is not.
func (o *observedRoom) prune(now time.Time, keep time.Duration) bool {
	for ticket, p := range o.places {
		if now.Sub(p.at) > keep || p.past(now) {
			delete(o.places, ticket)
		}
	}
	return now.Sub(o.at) <= keep
}
