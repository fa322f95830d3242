package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// patience is how long an event may be behind an answer that knows of it.
const patience = 50 * time.Millisecond

// behind is the wait for the event of a version that the engine told of. The room's lock guards it.
type behind struct {
	wanted mirror.Revision
	timer  *time.Timer
}

func (b *behind) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// confirmed says that the room's channel is subscribed, from now on and without a gap.
func (l *localRoom) confirmed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resync(mirror.ReasonSubscribed)
}

// resync has a snapshot taken: one at a time for a room, and one more when asked meanwhile.
func (l *localRoom) resync(reason mirror.Reason) {
	if l.dead {
		return
	}
	l.h.metrics.resyncs.WithLabelValues(string(reason)).Inc()
	if l.m.Read() {
		l.h.Spawn(l.snapshots)
	}
}

// snapshots takes snapshots until one fits to the events that came meanwhile.
func (l *localRoom) snapshots(ctx context.Context) {
	wait := follow.Backoff{Jitter: true}
	for {
		done, err := l.snapshot(ctx)
		switch {
		case done:
			l.tellBack()
			return
		case err == nil:
			continue
		}
		l.h.Failed(ctx, "snapshot failed", l.id, err)
		if !wait.Wait(ctx) {
			return
		}
	}
}

// snapshot takes one; done is false when another one is needed.
func (l *localRoom) snapshot(ctx context.Context) (done bool, err error) {
	snap, roster, err := l.readLine(ctx)
	if err != nil {
		return false, err
	}
	l.h.clock.Sample(snap.Now)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(snap, roster), nil
}

// readLine reads the line, with who stands in it where support watches.
func (l *localRoom) readLine(ctx context.Context) (room.Snapshot, *room.Roster, error) {
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
func (l *localRoom) take(snap room.Snapshot, roster *room.Roster) bool {
	if l.dead {
		return true
	}
	epoch, lineage := l.m.Epoch, l.m.Lineage
	events, ok := l.m.Adopt(snap)
	if !ok {
		return false
	}
	if snap.Epoch != epoch || snap.Lineage != lineage { // what was told of presence may be lost, too
		l.tellAnew()
	}
	l.shared.state(&l.m.State)
	l.askAll()
	l.relink()
	l.back.due, l.back.until = true, time.Time{}
	l.armExpiry()
	if l.desk != nil {
		l.desk.Resynced(roster)
	}
	for i := range events {
		l.apply(&events[i])
	}
	return true
}

// observe compares a view that the engine just gave with the mirror. When the engine knows more, the
// event is on its way, or lost: it is given a moment to come.
func (l *localRoom) observe(v room.View) {
	l.h.clock.Sample(v.Now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return
	}
	reason, wanted := l.m.Compare(&v)
	switch {
	case reason != "":
		l.resync(reason)
	case wanted:
		l.want(mirror.Revision{Epoch: v.Epoch, Version: v.Version})
	}
}

// want gives the event of a version a moment to come.
func (l *localRoom) want(told mirror.Revision) {
	if told.Compare(l.behind.wanted) <= 0 {
		return
	}
	l.behind.wanted = told
	l.behind.stop()
	l.behind.timer = time.AfterFunc(patience, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.behind.wanted = mirror.Revision{}
		if l.m.Of(told).Unreached() && !l.m.Reading() {
			l.resync(mirror.ReasonBehind)
		}
	})
}
