package hub

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// openingFor is how long an opening is good for newcomers: the clock in it must not be old.
const openingFor = 250 * time.Millisecond

// keptEvents is how many events are kept while a roster is read.
const keptEvents = 4096

// deskRoom is what support is shown of a room, for as long as it has watchers here. The hall's lock guards it.
type deskRoom struct {
	l      *hall
	feed   feed
	roster mirror.Roster
	live   bool // the roster is at the mirror's version
	aside  aside
	end    context.CancelFunc

	// Of a roster that is read while the mirror goes on.
	reading bool
	kept    []room.Event
	ahead   bool // it was read at a version that the mirror has not reached yet

	openMu sync.Mutex
	opened opening
	until  time.Time
}

// watch adds a socket of support. False when the hall was let go of meanwhile.
func (l *hall) watch(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	d := l.desk
	if d == nil {
		d = &deskRoom{l: l, aside: newAside()}
		l.desk = d
		var life context.Context
		life, d.end = context.WithCancel(l.h.life)
		l.h.spawn(func(context.Context) { d.followAside(life) })
	}
	c.hall, c.desk.source, c.desk.feed = l, d, &d.feed
	d.feed.add(c)
	d.read()
	c.Mark(dueFeed, false)
	return true
}

// leave takes a socket out. The last one takes with it what only support needs.
func (d *deskRoom) leave(c *conn) {
	l := d.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.feed.remove(c) > 0 {
		return
	}
	d.end()
	l.desk, l.empty = nil, time.Now()
}

// read has the roster read beside a mirror that is followed already: its sellers notice nothing. While there is no such mirror the
// snapshot under way, or the next, brings the roster too.
func (d *deskRoom) read() {
	if l := d.l; l.m.Live && !l.m.Reading() && !d.live && !d.ahead && !d.reading {
		d.kept = nil
		d.reading = l.h.spawn(d.rosters)
	}
}

func (d *deskRoom) rosters(ctx context.Context) {
	wait := follow.Backoff{Jitter: true}
	for {
		r, err := d.l.h.engine.Roster(ctx, d.l.id)
		if err == nil {
			d.l.h.clock.Sample(r.Now)
			if d.take(r) {
				return
			}
		} else {
			d.l.h.failed(ctx, "roster not read", d.l.id, err)
		}
		if !wait.Wait(ctx) || !d.watched() {
			return
		}
	}
}

func (d *deskRoom) watched() bool {
	d.l.mu.RLock()
	defer d.l.mu.RUnlock()
	return d.l.desk == d
}

// take brings a roster to the mirror's version; false when another one is needed.
func (d *deskRoom) take(s room.Roster) bool {
	l := d.l
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := d.kept
	d.kept, d.reading = nil, false
	switch {
	case l.desk != d || d.live || !l.m.Live || l.m.Reading():
		return true // nobody looks any more, or a snapshot brought one, or will
	case s.Epoch != l.m.Epoch:
		l.resync(mirror.ReasonEpoch)
		return true
	}
	var r mirror.Roster
	r.Adopt(s)
	fits := r.CatchUp(kept)
	found := l.m.Revision.Of(r.Revision)
	if !fits || found == mirror.Known {
		d.reading = true
		return false
	}
	d.show(r)
	if d.live, d.ahead = found == mirror.Same, found.Unreached(); d.ahead {
		l.want(r.Revision)
	}
	return true
}

// resynced takes the roster that came with the mirror's snapshot; nil where nobody watched when that was asked for.
func (d *deskRoom) resynced(s *room.Roster) {
	d.live, d.ahead = false, false
	if s == nil {
		d.read()
		return
	}
	if d.roster.Version != 0 {
		d.aside.ask(askItems | askMinutes) // what was told of them may have been missed too
	}
	var r mirror.Roster
	r.Adopt(*s)
	d.live = true
	d.show(r)
}

// show puts a roster in the place of the one that is shown. Whoever watches sees it in full, unless it is the same.
func (d *deskRoom) show(r mirror.Roster) {
	if !d.roster.Equal(&r) {
		d.feed.reset()
	}
	d.roster = r
	d.aside.shown(r.Paused)
	d.feed.markAll()
}

// event takes an event, and what it was to the mirror.
func (d *deskRoom) event(e *room.Event, v mirror.Verdict) {
	d.aside.note(e)
	switch {
	case v == mirror.Old:
	case d.live:
		d.tell(e)
	case d.reading && len(d.kept) < keptEvents:
		d.kept = append(d.kept, *e)
	case d.ahead && d.l.m.Revision == d.roster.Revision:
		d.live, d.ahead = true, false
		d.feed.markAll()
	}
}

// tell shows everybody what an event changed.
func (d *deskRoom) tell(e *room.Event) {
	c, ok := d.roster.Apply(e)
	d.aside.shown(d.roster.Paused)
	switch {
	case !ok:
		d.live = false
		d.l.resync(mirror.ReasonDrift)
	case e.Changed || !c.Nothing():
		frame := changeFrame(&d.roster, &c, d.l.h.clock.MS())
		d.l.h.metrics.changes.Inc()
		d.l.h.metrics.changeBytes.Add(float64(len(frame)))
		d.feed.tell(frame)
	}
}

// opening shows the room as it is now. It is made once for all who come within a moment.
func (d *deskRoom) opening() (opening, bool) {
	d.openMu.Lock()
	defer d.openMu.Unlock()
	d.l.mu.RLock()
	if !d.live || !d.l.m.Live {
		d.l.mu.RUnlock()
		return opening{}, false
	}
	if time.Now().Before(d.until) && d.feed.keeps(d.opened.next) {
		d.l.mu.RUnlock()
		return d.opened, true
	}
	r, beside, next := d.roster, d.aside.known(), d.feed.end()
	r.Line = slices.Clone(r.Line)
	d.l.mu.RUnlock()
	full := deskFrame(d.l.id, &r, d.l.h.clock.MS()) // long: not under the lock
	d.opened, d.until = opening{append([][]byte{full}, beside...), next}, time.Now().Add(openingFor)
	return d.opened, true
}
