package hub

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Why a mirror takes a snapshot; a label of the metric.
const (
	reasonSubscribed = "subscribed" // the room's channel is confirmed, for the first time or again
	reasonGap        = "gap"        // an event is missing or does not fit
	reasonEpoch      = "epoch"      // the room began anew
	reasonBehind     = "behind"     // the engine told of a version whose event does not come
	reasonDrift      = "drift"      // mirror and engine differ at the same version
	reasonHistory    = "history"    // another history of the server began: a restart or a promotion
)

const (
	keepEvents = 4096                  // events kept while a snapshot is under way
	patience   = 50 * time.Millisecond // how long an event may be behind an answer that knows of it
	retryFirst = 20 * time.Millisecond
	retryMost  = time.Second
)

// resync is a snapshot under way. The hall's lock guards it.
type resync struct {
	running bool
	again   bool // what is under way may be too old already
	events  []room.Event
	wanted  int64 // version that the engine told of
	timer   *time.Timer
}

func (r *resync) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// confirmed says that the room's channel is subscribed, from now on and without a gap.
func (l *hall) confirmed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resync(reasonSubscribed)
}

// resync has a snapshot taken: one at a time for a room, and one more when asked meanwhile.
func (l *hall) resync(reason string) {
	if l.dead {
		return
	}
	l.h.metrics.resyncs.WithLabelValues(reason).Inc()
	if l.sync.running {
		l.sync.again = true
		return
	}
	l.sync.running = l.h.spawn(l.snapshots)
}

// keep holds an event back until the snapshot under way has come.
func (l *hall) keep(e room.Event) {
	if len(l.sync.events) >= keepEvents {
		l.sync.events, l.sync.again = nil, true
		return
	}
	l.sync.events = append(l.sync.events, e)
}

// snapshots takes snapshots until one fits to the events that came meanwhile.
func (l *hall) snapshots(ctx context.Context) {
	wait := retryFirst
	for {
		done, err := l.snapshot(ctx)
		switch {
		case done:
			l.tellBack()
			return
		case err == nil:
			continue
		}
		l.h.failed(ctx, "snapshot failed", l.id, err)
		if !pause(ctx, wait/2+rand.N(wait/2)) {
			return
		}
		wait = min(2*wait, retryMost)
	}
}

// snapshot takes one; done is false when another one is needed.
func (l *hall) snapshot(ctx context.Context) (done bool, err error) {
	snap, roster, err := l.readLine(ctx)
	if err != nil {
		return false, err
	}
	l.h.clock.sample(snap.Now)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(snap, roster), nil
}

// readLine reads the line, with who stands in it where support watches.
func (l *hall) readLine(ctx context.Context) (room.Snapshot, *room.Roster, error) {
	l.mu.RLock()
	watched := l.desk != nil
	l.mu.RUnlock()
	if !watched {
		snap, err := l.h.engine.Snapshot(ctx, l.id)
		return snap, nil, err
	}
	roster, err := l.h.engine.Roster(ctx, l.id)
	snap := room.Snapshot{View: roster.View, Ranks: make([]float64, len(roster.Line))}
	for i := range roster.Line {
		snap.Ranks[i] = roster.Line[i].Rank
	}
	return snap, &roster, err
}

// take adopts a snapshot and what came after it; false when another one is needed.
func (l *hall) take(snap room.Snapshot, roster *room.Roster) bool {
	if l.dead {
		return true
	}
	events := l.sync.events
	l.sync.events = nil
	if l.sync.again {
		l.sync.again = false // events that came until now are in the next one
		return false
	}
	if snap.Epoch != l.m.epoch || snap.Lineage != l.m.lineage { // what was told of presence may be lost, too
		l.tellAnew()
	}
	l.m.adopt(snap)
	l.shared.state(&l.m)
	l.sync.running = false
	l.live, l.base = true, snap.Version
	l.rev++
	l.askAll()
	l.back.due, l.back.until = true, time.Time{}
	l.armExpiry()
	if l.desk != nil {
		l.desk.resynced(roster)
	}
	for i := range events {
		if l.sync.running {
			l.keep(events[i])
		} else {
			l.apply(&events[i])
		}
	}
	return true
}

// observe compares a view that the engine just gave with the mirror. When the engine knows more, the
// event is on its way, or lost: it is given a moment to come.
func (l *hall) observe(v room.View) {
	l.h.clock.sample(v.Now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.live || l.dead || l.sync.running {
		return
	}
	switch m := &l.m; {
	case v.Epoch > m.epoch:
		l.resync(reasonEpoch)
	case v.Epoch < m.epoch:
		return
	case v.Lineage != m.lineage:
		l.resync(reasonHistory)
	case v.Version > m.version:
		l.want(v.Version)
	case v.Version == m.version && v.Waiting != len(m.line):
		l.resync(reasonDrift)
	}
}

// want gives the event of a version a moment to come.
func (l *hall) want(version int64) {
	if version <= l.sync.wanted {
		return
	}
	l.sync.wanted = version
	epoch := l.m.epoch
	l.sync.stop()
	l.sync.timer = time.AfterFunc(patience, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.sync.wanted = 0
		if l.m.epoch == epoch && l.m.version < version && !l.sync.running {
			l.resync(reasonBehind)
		}
	})
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
