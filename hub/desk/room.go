package desk

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// openingFor is how long an opening is used for new watchers, since the time in it must not be old.
const openingFor = 250 * time.Millisecond

// keptEvents is the most events that are kept while a roster is read.
const keptEvents = 4096

// Line is a room on this replica, from which the desk reads. Its methods are called under the room's lock.
type Line interface {
	// At is the version of the room's mirror. Following is false while the mirror waits for a snapshot, and
	// live is true once it had one.
	At() (at mirror.Revision, live, following bool)
	// OpensAt is when the room takes new places again, in unix ms; 0 = it does.
	OpensAt() int64
	// Resync has a snapshot taken, which comes with a roster (Resynced).
	Resync(mirror.Reason)
	// Expect has a snapshot taken unless the event of a version comes soon.
	Expect(mirror.Revision)
}

// Room is support's view of a room while it has watchers here. The room's lock guards it.
type Room struct {
	d      *Desk
	id     room.ID
	mu     *sync.RWMutex
	line   Line
	over   func() // called under the lock when the last watcher has left
	ended  bool   // the last watcher has left
	feed   feed
	roster mirror.Roster
	live   bool // the roster is at the mirror's version
	panels sidePanels
	end    context.CancelFunc

	// Of a roster that is read while the mirror goes on.
	reading bool
	kept    []room.Event
	ahead   bool // it was read at a version that the mirror has not reached yet

	openMu sync.Mutex
	opened opening
	until  time.Time
}

// NewRoom returns the desk's view of a room, whose lock the caller holds. It calls over when the last watcher
// has left.
func (d *Desk) NewRoom(id room.ID, mu *sync.RWMutex, line Line, over func()) *Room {
	r := &Room{d: d, id: id, mu: mu, line: line, over: over, panels: newSidePanels()}
	life, end := context.WithCancel(context.Background())
	r.end = end
	d.Host.Spawn(func(ctx context.Context) {
		defer context.AfterFunc(ctx, end)()
		r.followPanels(life)
	})
	return r
}

// Watch adds a socket. The caller holds the room's lock.
func (r *Room) Watch(c *Conn) {
	c.source, c.feed = r, &r.feed
	r.feed.add(c)
	r.read()
	c.Mark(dueFeed, false)
}

// leave removes a socket. The last one ends the view.
func (r *Room) leave(c *Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.feed.remove(c) > 0 {
		return
	}
	r.end()
	r.ended = true
	r.over()
}

// read reads a roster while the mirror continues, so that its sellers notice nothing. If the mirror takes a
// snapshot, that brings the roster.
func (r *Room) read() {
	if _, _, following := r.line.At(); following && !r.live && !r.ahead && !r.reading {
		r.kept = nil
		r.reading = r.d.Host.Spawn(r.rosters)
	}
}

func (r *Room) rosters(ctx context.Context) {
	wait := follow.Backoff{Jitter: true}
	for {
		roster, err := r.d.Engine.Roster(ctx, r.id)
		if err == nil {
			if r.take(roster) {
				return
			}
		} else {
			r.d.Host.Failed(ctx, "roster not read", r.id, err)
		}
		if !wait.Wait(ctx) || !r.watched() {
			return
		}
	}
}

func (r *Room) watched() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return !r.ended
}

// take applies the events that were kept meanwhile to a roster, and shows it. It returns false if another
// roster has to be read, since this one is older than the mirror or than the first of these events.
func (r *Room) take(s room.Roster) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.kept
	r.kept, r.reading = nil, false
	at, _, following := r.line.At()
	switch {
	case r.ended || r.live || !following:
		return true // the last watcher has left, or a snapshot brought a roster, or will
	case s.Epoch != at.Epoch:
		r.line.Resync(mirror.ReasonEpoch)
		return true
	}
	var roster mirror.Roster
	roster.Adopt(s)
	fits := roster.CatchUp(kept)
	found := at.Of(roster.Revision)
	if !fits || found == mirror.Known {
		r.reading = true
		return false
	}
	r.show(roster)
	if r.live, r.ahead = found == mirror.Same, found.Unreached(); r.ahead {
		r.line.Expect(roster.Revision)
	}
	return true
}

// Resynced handles the roster that was read with the mirror's snapshot; nil if no agent watched then.
func (r *Room) Resynced(s *room.Roster) {
	r.live, r.ahead = false, false
	if s == nil {
		r.read()
		return
	}
	if r.roster.Version != 0 {
		r.panels.ask(readItems | readMinutes) // events about them may have been missed too
	}
	var roster mirror.Roster
	roster.Adopt(*s)
	r.live = true
	r.show(roster)
}

// show replaces the roster. The watchers get it in full, unless it is the same.
func (r *Room) show(roster mirror.Roster) {
	if !r.roster.Equal(&roster) {
		r.feed.reset()
	}
	r.roster = roster
	r.panels.observePause(roster.Paused)
	r.feed.markAll()
}

// Event handles an event, and the mirror's verdict on it.
func (r *Room) Event(e *room.Event, v mirror.Verdict) {
	r.panels.observe(e)
	at, _, _ := r.line.At()
	switch {
	case v == mirror.Old:
	case r.live:
		r.send(e)
	case r.reading && len(r.kept) < keptEvents:
		r.kept = append(r.kept, *e)
	case r.ahead && at == r.roster.Revision:
		r.live, r.ahead = true, false
		r.feed.markAll()
	}
}

// send sends every watcher what an event has changed.
func (r *Room) send(e *room.Event) {
	c, ok := r.roster.Apply(e)
	r.panels.observePause(r.roster.Paused)
	switch {
	case !ok:
		r.live = false
		r.line.Resync(mirror.ReasonDrift)
	case e.Changed || !c.Nothing():
		frame := changeFrame(&r.roster, &c, r.line.OpensAt(), r.d.Clock.MS())
		r.d.Metrics.Changes.Inc()
		r.d.Metrics.ChangeBytes.Add(float64(len(frame)))
		r.feed.send(frame)
	}
}

// Times sends every watcher what time alone has changed: whether the room is open.
func (r *Room) Times() {
	if r.live {
		r.feed.send(changeFrame(&r.roster, &mirror.Change{}, r.line.OpensAt(), r.d.Clock.MS()))
	}
}

// opening returns the frames with the room's current state. It makes them once for all watchers that come
// within a moment.
func (r *Room) opening() (opening, bool) {
	r.openMu.Lock()
	defer r.openMu.Unlock()
	r.mu.RLock()
	if _, live, _ := r.line.At(); !r.live || !live {
		r.mu.RUnlock()
		return opening{}, false
	}
	if time.Now().Before(r.until) && r.feed.keeps(r.opened.next) {
		r.mu.RUnlock()
		return r.opened, true
	}
	roster, beside, next, opens := r.roster, r.panels.known(), r.feed.end(), r.line.OpensAt()
	roster.Line = slices.Clone(roster.Line)
	r.mu.RUnlock()
	full := roomFrame(r.id, &roster, opens, r.d.Clock.MS()) // long: not under the lock
	r.opened, r.until = opening{append([][]byte{full}, beside...), next}, time.Now().Add(openingFor)
	return r.opened, true
}
