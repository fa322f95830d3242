package room

import (
	"sync"
	"time"
)

// memory is what this process remembers of rooms between calls. One lock guards all of it, and what is out of date is dropped once a minute.
type memory struct {
	keep    time.Duration // observations that no call has renewed for so long are dropped: Redis has dropped them too
	cluster bool          // each room may be on a server of its own
	start   time.Time     // of this process's own time

	mu         sync.Mutex
	rooms      map[ID]*remembered
	unreplayed map[ID]bool      // rooms of whose new epoch a reply or an event came before this process replayed the epoch before
	journals   map[ID]time.Time // rooms whose journal may have grown, and when to look at it
	pruned     time.Time
}

// remembered is what is remembered of one room.
type remembered struct {
	observed    *observedRoom
	outage      outage       // the last one of the room's server
	offset      *clockOffset // of that server
	recordAsked time.Time    // when the ledger was last asked, since the room recovers
	filters     filters
	registered  registration // in the index
}

const pruneEvery = time.Minute

func newMemory(keep time.Duration, cluster bool) *memory {
	now := time.Now()
	return &memory{keep: keep, cluster: cluster, start: now, pruned: now,
		rooms: make(map[ID]*remembered), unreplayed: make(map[ID]bool), journals: make(map[ID]time.Time)}
}

// of returns what is remembered of a room, to be changed by the caller, which holds the lock.
func (m *memory) of(id ID, now time.Time) *remembered {
	m.prune(now)
	r := m.rooms[id]
	if r == nil {
		r = &remembered{}
		m.rooms[id] = r
	}
	return r
}

// known returns what is remembered of a room, to be read by the caller, which holds the lock.
func (m *memory) known(id ID) remembered {
	if r := m.rooms[id]; r != nil {
		return *r
	}
	return remembered{}
}

// server names the server of a room: all rooms have one, unless the servers are a cluster's.
func (m *memory) server(id ID) ID {
	if m.cluster {
		return id
	}
	return ""
}

// prune drops what is out of date, once a minute.
func (m *memory) prune(now time.Time) {
	if now.Sub(m.pruned) < pruneEvery {
		return
	}
	m.pruned = now
	for id, r := range m.rooms {
		if r.prune(now, m.keep); r.empty() {
			delete(m.rooms, id)
		}
	}
}

func (r *remembered) prune(now time.Time, keep time.Duration) {
	if r.observed != nil && !r.observed.prune(now, keep) {
		r.observed = nil
	}
	if now.Sub(r.outage.noted) > outagesKept {
		r.outage = outage{}
	}
	if r.offset != nil && now.Sub(r.offset.at) > offsetsKept {
		r.offset = nil
	}
	if now.Sub(r.recordAsked) > askAgain {
		r.recordAsked = time.Time{}
	}
	if now.Sub(r.filters.used) > filtersKept {
		r.filters = filters{}
	}
	if now.Sub(r.registered.local) >= registeredFor {
		r.registered = registration{}
	}
}

func (r *remembered) empty() bool {
	return r.observed == nil && r.offset == nil && r.outage == (outage{}) && r.recordAsked.IsZero() && r.filters.known == nil &&
		r.registered == (registration{})
}
