package room

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// told is what this process was told of each room, by replies and events, and so may have told others. A store that does not have it in
// its past has lost writes; then it is laid before the room: see renew.lua.
type told struct {
	keep time.Duration // rooms and places that nobody asked for in this long are forgotten: the store forgets them too

	mu      sync.Mutex
	rooms   map[ID]*toldRoom
	waiting map[ID]bool // rooms of whose new epoch somebody else has spoken, before this process laid before them what it was told
	swept   time.Time
}

// mark is one version in one history of a room.
type mark struct {
	epoch, version int64
	lineage        string // under which histories of the server the epoch's versions were written: see lineage.lua
}

func (m mark) after(other mark) bool {
	return m.epoch > other.epoch || m.epoch == other.epoch && m.version >= other.version
}

type toldRoom struct {
	mark
	shown  mark // that was laid before the room last
	at     time.Time
	lease  Lease     // the last that was told; zero while the lock is free
	ends   time.Time // when it would end, by this process's own clock
	fence  int64     // the highest
	over   int64     // when a lease was granted or over, the latest (unix ms)
	ticket int64
	places map[int64]*toldPlace // by ticket
	pruned time.Time
}

// toldPlace is a place as it was told last.
type toldPlace struct {
	Session   string    `json:"session"`
	Seller    string    `json:"seller"`
	Ticket    int64     `json:"ticket"`
	Of        int64     `json:"of"`                // epoch
	JoinedAt  int64     `json:"joined,omitempty"`  // unix ms, 0 = not known
	Fence     int64     `json:"fence,omitempty"`   // where it held the lock
	GrantedAt int64     `json:"granted,omitempty"` // unix ms
	ExpiresAt int64     `json:"expires,omitempty"`
	Outcome   Outcome   `json:"outcome,omitempty"` // where it ended
	EndedAt   int64     `json:"ended,omitempty"`   // unix ms
	Waited    bool      `json:"waited,omitempty"`  // it was told to wait: that it ended, the record alone says
	Missed    *toldMiss `json:"missed,omitempty"`  // the lease that it did not claim, where it waits again

	version int64
	at      time.Time
}

// toldMiss is a lease that was not claimed.
type toldMiss struct {
	Fence     int64 `json:"fence"`
	GrantedAt int64 `json:"granted"` // unix ms
	ExpiresAt int64 `json:"expires"`
	EndedAt   int64 `json:"ended"`
}

// miss takes in that the place waits again since then, whose lease nobody claimed.
func (p *toldPlace) miss(at int64) {
	if p.Fence != 0 {
		p.Missed = &toldMiss{p.Fence, p.GrantedAt, p.ExpiresAt, at}
	}
	p.Fence, p.GrantedAt, p.ExpiresAt = 0, 0, 0
}

// past is true of a place whose end need not be remembered any more; its seller may have been erased since.
func (p *toldPlace) past(now time.Time) bool { return p.Outcome != "" && now.Sub(p.at) > endedKept }

// orphaned is who holds the lock where a loss took its holder: see ORPHANED in library.lua.
const orphaned = "-"

// endedKept is how long the end of a place is remembered: the ledger has it long before.
const endedKept = 2 * time.Minute

func newTold(keep time.Duration) *told {
	return &told{keep: keep, rooms: make(map[ID]*toldRoom), waiting: make(map[ID]bool)}
}

// current finds what was told of a room so far; nil where an epoch has begun there before this process laid what it was told in the one before. Nothing is
// taken in of the new one until it has: it would be taken for all that there was, and a ticket that two epochs have for one.
func (t *told) current(id ID, epoch int64, now time.Time) *toldRoom {
	r := t.room(id, now)
	if r.mark.epoch != 0 && epoch > r.mark.epoch && r.shown != r.mark {
		t.waiting[id] = true
		return nil
	}
	return r
}

// unlaid lists the rooms that wait for what this process was told, and forgets them.
func (t *told) unlaid() []ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	list := slices.Collect(maps.Keys(t.waiting))
	clear(t.waiting)
	return list
}

// mark is the latest that was told of a room; zero for nothing.
func (t *told) mark(id ID) mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.rooms[id]; r != nil && time.Since(r.at) <= t.keep {
		return r.mark
	}
	return mark{}
}

// saw takes in how a room is.
func (t *told) saw(id ID, v View) {
	if v.Epoch == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	r := t.current(id, v.Epoch, now)
	m := mark{v.Epoch, v.Version, v.Lineage}
	if r == nil || !m.after(r.mark) {
		return // a reply that was overtaken
	}
	r.mark, r.shown, r.lease = m, mark{}, Lease{}
	if v.Lease != nil {
		r.lease, r.ends = *v.Lease, now.Add(time.Duration(v.Lease.ExpiresAt-v.Now)*time.Millisecond)
		r.fence, r.ticket, r.over = max(r.fence, v.Lease.Fence), max(r.ticket, v.Lease.Ticket), max(r.over, v.Lease.GrantedAt)
	}
}

// stood takes in how a session stands.
func (t *told) stood(id ID, session string, v View, p Place) {
	if session == "" || p.Ticket == 0 || v.Epoch == 0 || p.Outcome == Lost {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	r := t.current(id, v.Epoch, now)
	if r == nil {
		return
	}
	r.fence = max(r.fence, p.Fence)
	if known := r.places[p.Ticket]; known != nil && known.Outcome != "" {
		return // an end stays as it was told
	}
	place := r.place(p.Ticket, v.Epoch, v.Version, now)
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
		r.held(place)
	}
}

// held takes in when a place's lease was over.
func (r *toldRoom) held(p *toldPlace) {
	if p.Fence != 0 {
		r.over = max(r.over, p.GrantedAt, p.EndedAt)
	}
}

// matched takes in what a message was matched to.
func (t *told) matched(id ID, now mark, m Match) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.current(id, now.epoch, time.Now())
	if r == nil {
		return
	}
	if now.after(r.mark) {
		r.mark = now
	}
	if !m.Completes {
		return
	}
	if r.lease.Fence == m.Fence {
		r.lease = Lease{}
	}
	if p := r.places[m.Ticket]; p != nil && p.Of == m.Epoch && p.Outcome == "" {
		p.Fence, p.Outcome, p.EndedAt, p.at = m.Fence, Completed, m.Ended, time.Now()
		r.held(p)
	}
}

// heard takes in an event.
func (t *told) heard(id ID, e *Event) {
	t.saw(id, e.view())
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	r := t.current(id, e.Epoch, now)
	if r == nil {
		return
	}
	for _, j := range e.Joined {
		if p := r.place(j.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.JoinedAt = j.Session, j.Seller, e.Now
		}
	}
	for _, m := range e.Missed { // its lease may be one that was not heard of
		r.over = max(r.over, m.At)
		if p := r.place(m.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.JoinedAt = m.Session, m.Seller, m.JoinedAt
			p.miss(m.At)
		}
	}
	if l := e.Lease; l != nil && l.Session != orphaned {
		if p := r.place(l.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.Fence, p.GrantedAt, p.ExpiresAt = l.Session, l.Seller, l.Fence, l.GrantedAt, l.ExpiresAt
		}
	}
	for _, f := range e.Ended {
		if p := r.place(f.Ticket, e.Epoch, e.Version, now); p != nil {
			p.Session, p.Seller, p.Fence, p.Outcome, p.EndedAt = f.Session, f.Seller, f.Fence, f.Outcome, f.At
			r.held(p)
		}
	}
}

// room is what was told of a room so far. It also forgets what was told long ago.
func (t *told) room(id ID, now time.Time) *toldRoom {
	if now.Sub(t.swept) > t.keep {
		t.swept = now
		for id, r := range t.rooms {
			if now.Sub(r.at) > t.keep {
				delete(t.rooms, id)
			}
		}
	}
	r := t.rooms[id]
	if r == nil {
		r = &toldRoom{places: make(map[int64]*toldPlace), pruned: now}
		t.rooms[id] = r
	}
	r.at = now
	r.prune(now, t.keep)
	return r
}

// place is what was told of a ticket so far; nil where more was told already.
func (r *toldRoom) place(ticket, epoch, version int64, now time.Time) *toldPlace {
	r.ticket = max(r.ticket, ticket)
	p := r.places[ticket]
	if p == nil {
		p = &toldPlace{Ticket: ticket}
		r.places[ticket] = p
	}
	if p.Of > epoch || p.Of == epoch && p.version > version {
		return nil
	}
	p.Of, p.version, p.at = epoch, version, now
	return p
}

func (r *toldRoom) prune(now time.Time, keep time.Duration) {
	if now.Sub(r.pruned) < endedKept {
		return
	}
	r.pruned = now
	for ticket, p := range r.places {
		if age := now.Sub(p.at); age > keep || p.past(now) {
			delete(r.places, ticket)
		}
	}
}

// knowledge is what is laid before a room: see renew.lua.
type knowledge struct {
	mark   mark
	Fence  int64       `json:"fence"`
	Over   int64       `json:"over"`
	Ticket int64       `json:"ticket"`
	Lost   bool        `json:"lost"`
	Ended  int64       `json:"ended"`
	Last   int64       `json:"last"`
	Lease  *toldLease  `json:"lease"`
	Places []toldPlace `json:"places"`
}

type toldLease struct {
	Fence     int64 `json:"fence"`
	Ticket    int64 `json:"ticket"`
	GrantedAt int64 `json:"granted"`
	Left      int64 `json:"left"` // ms
}

// knowledge is all that was told of a room.
func (t *told) knowledge(id ID) knowledge {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := knowledge{Places: []toldPlace{}}
	r := t.rooms[id]
	if r == nil || time.Since(r.at) > t.keep { // the store may have forgotten it in good order
		return k
	}
	k.mark, k.Fence, k.Over, k.Ticket, k.Last = r.mark, r.fence, r.over, r.ticket, r.fence
	if left := time.Until(r.ends).Milliseconds(); r.lease.Fence != 0 && left > 0 {
		k.Lease = &toldLease{Fence: r.lease.Fence, Ticket: r.lease.Ticket, GrantedAt: r.lease.GrantedAt, Left: left}
	}
	now := time.Now()
	for _, p := range r.places {
		if p.Session != "" && !p.past(now) { // nobody may have looked at the room since
			k.Places = append(k.Places, *p)
		}
	}
	slices.SortFunc(k.Places, func(a, b toldPlace) int { return cmp.Compare(a.Ticket, b.Ticket) })
	return k
}

// live lists places that were told to be live, so many at the most: those that held the lock first, then the latest.
func (t *told) live(id ID, most int) (list []PlaceID) {
	k := t.knowledge(id)
	var waiting []PlaceID
	for _, p := range slices.Backward(k.Places) {
		switch at := (PlaceID{p.Of, p.Ticket}); {
		case p.Outcome != "":
		case p.Fence != 0:
			list = append(list, at)
		default:
			waiting = append(waiting, at)
		}
	}
	list = append(list, waiting...)
	return list[:min(len(list), most)]
}

// end takes in how places ended that were told to be live. Their leases are waited for all the same: the record may know of no later one yet.
func (k *knowledge) end(ends []RecordedEnd) {
	by := make(map[PlaceID]RecordedEnd, len(ends))
	for _, end := range ends {
		by[end.PlaceID] = end
	}
	for i := range k.Places {
		p := &k.Places[i]
		if end, ok := by[PlaceID{p.Of, p.Ticket}]; ok && p.Outcome == "" && end.Seller == p.Seller {
			p.Waited, p.Outcome, p.EndedAt = p.Fence == 0, end.Outcome, end.EndedAt
			p.Fence = cmp.Or(end.Fence, p.Fence)
		}
	}
}

// laid says that the room has been shown that. Who waits in it is told so anew.
func (t *told) laid(id ID, k knowledge) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rooms[id]
	if r == nil {
		return
	}
	r.shown = k.mark
	for i := range k.Places {
		shown := &k.Places[i]
		p := r.places[shown.Ticket]
		if p != nil && p.at.Equal(shown.at) && (p.Outcome != "" || p.Fence != 0) { // nothing was told of it since
			delete(r.places, shown.Ticket)
		}
	}
}

// all are the rooms that something was told of, the latest first.
func (t *told) all() []ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]ID, 0, len(t.rooms))
	for id := range t.rooms {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b ID) int { return t.rooms[b].at.Compare(t.rooms[a].at) })
	return list
}
