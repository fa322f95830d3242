package room

import "time"

// position is one version of a room, in one history of Redis.
type position struct {
	epoch, version int64
	lineage        string // the server's histories under which the epoch was written: see lineage.lua
}

// after reports whether a position is the same as another one or later.
func (p position) after(other position) bool {
	return p.epoch > other.epoch || p.epoch == other.epoch && p.version >= other.version
}

// observedRoom has the state of a room in the replies and events that this process observed. If Redis does
// not have that state in its past, it has lost writes, and this process replays it: see replay.go.
type observedRoom struct {
	position
	replayed position // last position that was replayed
	at       time.Time
	lease    Lease                    // the live lease; zero while the lock is free
	ends     time.Time                // end of that lease, by this process's clock
	fence    int64                    // the highest observed
	over     int64                    // latest grant or end of a lease (unix ms)
	ticket   int64                    // the highest observed
	places   map[int64]*observedPlace // by ticket
}

// observedPlace is a place in the last reply or event about it.
type observedPlace struct {
	Session   string       `json:"session"`
	Seller    string       `json:"seller"`
	Ticket    int64        `json:"ticket"`
	Of        int64        `json:"of"`                // epoch
	JoinedAt  int64        `json:"joined,omitempty"`  // unix ms, 0 = not known
	Fence     int64        `json:"fence,omitempty"`   // of a place that held the lock
	GrantedAt int64        `json:"granted,omitempty"` // unix ms
	ExpiresAt int64        `json:"expires,omitempty"`
	Outcome   Outcome      `json:"outcome,omitempty"` // of a place that ended
	EndedAt   int64        `json:"ended,omitempty"`   // unix ms
	Waited    bool         `json:"waited,omitempty"`  // observed waiting; only the ledger has its end
	Missed    *missedLease `json:"missed,omitempty"`  // the unclaimed lease of a place that waits again

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

// miss records that the place waits again, since its lease was not claimed in time.
func (p *observedPlace) miss(at int64) {
	if p.Fence != 0 {
		p.Missed = &missedLease{p.Fence, p.GrantedAt, p.ExpiresAt, at}
	}
	p.Fence, p.GrantedAt, p.ExpiresAt = 0, 0, 0
}

// past reports whether a place ended so long ago that its observation is dropped. Its seller may have been
// erased since.
func (p *observedPlace) past(now time.Time) bool { return p.Outcome != "" && now.Sub(p.at) > endedKept }

// orphaned is the session of a lease whose holder was lost: see ORPHANED in library.lua.
const orphaned = "-"

// endedKept is how long the end of a place is remembered. The ledger has the end long before that time is
// over.
const endedKept = 2 * time.Minute

// observedIn returns the observations of a room, or nil before this process has replayed an earlier epoch.
//
// Until then it records nothing of the new epoch: the new observations would replace the earlier ones, and
// both epochs may have used the same ticket.
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

// position returns the latest observed position of a room; zero if there is none.
func (m *memory) position(id ID) position {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.known(id).observed; o != nil && time.Since(o.at) <= m.keep {
		return o.position
	}
	return position{}
}

// observeView records the view of a room in a reply or an event.
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
		return // this process has read a later reply
	}
	o.position, o.replayed, o.lease = at, position{}, Lease{}
	if l := v.Lease; l != nil {
		o.lease, o.ends = *l, now.Add(time.Duration(l.ExpiresAt-v.Now)*time.Millisecond)
		o.fence, o.ticket, o.over = max(o.fence, l.Fence), max(o.ticket, l.Ticket), max(o.over, l.GrantedAt)
	}
}

// observePlace records a session's place in a reply.
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

// leaseOver records the end of a place's lease.
func (o *observedRoom) leaseOver(p *observedPlace) {
	if p.Fence != 0 {
		o.over = max(o.over, p.GrantedAt, p.EndedAt)
	}
}

// observeMatch records the match of a message.
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

// observeEvent records an event.
func (m *memory) observeEvent(id ID, e *Event) {
	m.observeView(id, viewOf(e))
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
	for _, missed := range e.Missed { // this process may have received no event with that lease
		o.over = max(o.over, missed.At)
		if p := o.place(missed.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.JoinedAt = missed.Session, missed.Seller, missed.JoinedAt
			p.miss(missed.At)
		}
	}
	if l := e.Lease; l != nil && l.Session != orphaned {
		if p := o.place(l.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.Fence = l.Session, l.Seller, l.Fence
			p.GrantedAt, p.ExpiresAt = l.GrantedAt, l.ExpiresAt
		}
	}
	for _, f := range e.Ended {
		if p := o.place(f.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.Fence, p.Outcome, p.EndedAt = f.Session, f.Seller, f.Fence, f.Outcome, f.At
			o.leaseOver(p)
		}
	}
}

// place returns the place of a ticket, for the caller to change; nil if a later version was observed already.
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

// prune drops outdated places, and reports whether the room itself is to be kept.
func (o *observedRoom) prune(now time.Time, keep time.Duration) bool {
	for ticket, p := range o.places {
		if now.Sub(p.at) > keep || p.past(now) {
			delete(o.places, ticket)
		}
	}
	return now.Sub(o.at) <= keep
}
