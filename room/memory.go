package room

import (
	"sync"
	"time"
)

// memory is this process's memory of rooms between calls. One mutex guards all of it, and outdated parts are
// dropped once a minute.
type memory struct {
	keep    time.Duration // age at which observations are dropped: before Redis drops an idle room
	cluster bool          // each room may be on another server
	start   time.Time     // instant from which this process counts its monotonic time

	mu    sync.Mutex
	rooms map[ID]*remembered
	// unreplayed are rooms in a new epoch to which this process has not yet replayed the epoch before.
	unreplayed map[ID]bool
	journals   map[ID]time.Time // rooms whose journal may have grown, and when to measure it
	pruned     time.Time
}

// remembered is this process's memory of one room.
type remembered struct {
	observed    *observedRoom
	outage      outage       // of the room's server
	offset      *clockOffset // of the room's server
	recordAsked time.Time    // when askRecord last read the ledger for the room
	filters     filters
	registered  registration // of the room in the index
}

const pruneEvery = time.Minute

func newMemory(keep time.Duration, cluster bool) *memory {
	now := time.Now()
	return &memory{keep: keep, cluster: cluster, start: now, pruned: now,
		rooms: make(map[ID]*remembered), unreplayed: make(map[ID]bool), journals: make(map[ID]time.Time)}
}

// of returns the memory of a room, which the caller may change. The caller holds the mutex.
func (m *memory) of(id ID, now time.Time) *remembered {
	m.prune(now)
	r := m.rooms[id]
	if r == nil {
		r = &remembered{}
		m.rooms[id] = r
	}
	return r
}

// known returns a copy of the memory of a room, for reading. The caller holds the mutex.
func (m *memory) known(id ID) remembered {
	if r := m.rooms[id]; r != nil {
		return *r
	}
	return remembered{}
}

// server returns the key of a room's server: the room in a cluster, otherwise "" for all rooms.
func (m *memory) server(id ID) ID {
	if m.cluster {
		return id
	}
	return ""
}

// prune drops the outdated parts of all rooms, once a minute.
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
	return r.observed == nil && r.offset == nil && r.outage == (outage{}) && r.recordAsked.IsZero() &&
		r.filters.known == nil && r.registered == (registration{})
}
