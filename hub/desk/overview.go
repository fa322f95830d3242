package desk

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

const (
	glanceEvery = 250 * time.Millisecond // how often a room is looked at, and changes are sent, at the most
	glanceMost  = 250                    // how many rooms are looked at in a round: the store has other work
	glanceFor   = time.Second            // how long a room may take
	listEvery   = 30 * time.Second       // how often the rooms in use are listed
	glanceAgain = time.Second            // between attempts while the store does not answer

	// The rooms are listed when the subscription is confirmed, or after this time if it is not.
	confirmWithin = 2 * time.Second
)

// overview is support's view of all rooms. An event only marks its room to be read. The overview is followed
// while an agent watches, and for a while after.
type overview struct {
	d    *Desk
	feed feed

	mu      sync.Mutex
	rows    map[room.ID]*row
	dirty   []room.ID // in the order in which they became so
	relist  bool      // all rooms are to be looked at anew
	listing time.Time // when they were listed last
	listed  bool
	ready   bool // there is something to send
	running bool
	empty   time.Time // since when no agent watches

	openMu sync.Mutex
	opened opening
	until  time.Time
}

func newOverview(d *Desk) *overview { return &overview{d: d, rows: make(map[room.ID]*row)} }

func (o *overview) watch(c *Conn) {
	c.source, c.feed = o, &o.feed
	o.mu.Lock()
	o.feed.add(c)
	if !o.running {
		o.listing = time.Now().Add(confirmWithin - listEvery)
		o.d.Sub.Patterns.Add(o.d.names.EveryEvents())
		o.running = o.d.Host.Spawn(o.run)
	}
	o.mu.Unlock()
	c.Mark(dueFeed, false)
}

func (o *overview) leave(c *Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.feed.remove(c) == 0 {
		o.empty = time.Now()
	}
}

// over ends the overview if no agent has watched for a while, and reports whether it did.
func (o *overview) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.feed.watchers() > 0 || time.Since(o.empty) < o.d.Linger {
		return false
	}
	o.d.Sub.Patterns.Remove(o.d.names.EveryEvents())
	o.running, o.listed, o.ready, o.dirty = false, false, false, nil
	clear(o.rows)
	o.feed.reset()
	return true
}

// again marks all rooms to be read: the channels have just been confirmed, and earlier events may have been
// missed.
func (o *overview) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.relist = true
}

// touch marks a room in which something happened.
func (o *overview) touch(id room.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.running {
		return
	}
	r := o.rows[id]
	if r == nil {
		if id == "" || !o.d.Rooms(id) && !slices.Contains(o.d.Named, id) {
			return
		}
		r = new(row)
		o.rows[room.ID([]byte(id))] = r
	}
	r.touched, r.gone = time.Now(), false
	o.soil(id, r)
}

// soil marks a room to be read.
func (o *overview) soil(id room.ID, r *row) {
	if !r.dirty {
		r.dirty = true
		o.dirty = append(o.dirty, id)
	}
}

func (o *overview) run(ctx context.Context) {
	for !o.over() {
		began := time.Now()
		listed := o.list(ctx)
		whole := listed && o.look(ctx)
		wait := glanceEvery
		switch more := o.send(); {
		case !listed:
			wait = glanceAgain
		case whole && more:
			wait = 0 // rooms that were never looked at
		}
		if !follow.Pause(ctx, max(wait-time.Since(began), time.Millisecond)) {
			return
		}
	}
}

// list reads the list of rooms now and then; it returns false if that failed.
func (o *overview) list(ctx context.Context) bool {
	o.mu.Lock()
	all, asked := o.relist, time.Now()
	due := all || asked.Sub(o.listing) >= listEvery
	o.relist = false
	o.mu.Unlock()
	if !due {
		return true
	}
	active, err := o.d.Engine.Active(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.d.Host.Failed(ctx, "rooms not listed", "", err)
		o.relist = o.relist || all
		return false
	}
	o.listing, o.listed = asked, true
	o.take(active, all, asked)
	return true
}

// take adds the rooms in use and removes the others. It keeps rooms listed by name, and those in which
// something has happened since `asked`. It marks rooms to be read: with `all` every one, otherwise those that
// were never sent and those whose trouble may end by time alone.
func (o *overview) take(active []room.ID, all bool, asked time.Time) {
	there := make(map[room.ID]bool, len(active))
	for _, id := range active {
		there[id] = o.d.Rooms(id)
	}
	for _, id := range o.d.Named {
		there[id] = true
	}
	for id, ok := range there {
		if ok && o.rows[id] == nil {
			o.rows[id] = new(row)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(o.rows)) {
		switch r := o.rows[id]; {
		case !there[id] && r.touched.Before(asked):
			r.gone = true
		case all || !r.sent || r.passes():
			r.gone = false
			o.soil(id, r)
		}
	}
}

// look reads the marked rooms, the longest marked first; it returns false if Redis did not answer for some.
func (o *overview) look(ctx context.Context) bool {
	o.mu.Lock()
	n := min(len(o.dirty), glanceMost)
	todo := o.dirty[:n:n]
	o.dirty = o.dirty[n:]
	for _, id := range todo {
		if r := o.rows[id]; r != nil {
			r.dirty = false
		}
	}
	o.mu.Unlock()
	failed := o.d.Engine.EachRoom(ctx, todo, glanceFor, func(ctx context.Context, id room.ID) error {
		g, err := o.d.Engine.Glance(ctx, id)
		if err != nil {
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if r := o.rows[id]; r != nil {
			r.glance, r.known = g, true
		}
		return nil
	})
	for id, err := range failed { // one for all: some of them were not asked for
		o.d.Host.Failed(ctx, "rooms not looked at", id, err)
		break
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for id := range failed {
		if r := o.rows[id]; r != nil {
			o.soil(id, r)
		}
	}
	return len(failed) == 0
}
