package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// patience is how long an event may arrive after a reply of the same version.
const patience = 50 * time.Millisecond

// snapshots reads the room when the mirror cannot follow the events: one snapshot at a time. The room's lock
// guards it.
type snapshots struct {
	l        *localRoom
	expected mirror.Revision // the version whose event is waited for; zero = none
	timer    *time.Timer
}

func (n *snapshots) stop() {
	if n.timer != nil {
		n.timer.Stop()
	}
}

// confirmed handles the confirmation of the room's channel, from which on no event is missed.
func (n *snapshots) confirmed() {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	n.ask(mirror.ReasonSubscribed)
}

// ask requests a snapshot: one is read at a time, and one more if requested meanwhile.
func (n *snapshots) ask(reason mirror.Reason) {
	if n.l.dead {
		return
	}
	n.l.h.metrics.resyncs.WithLabelValues(string(reason)).Inc()
	if n.l.m.Read() {
		n.l.h.spawn(n.run)
	}
}

// run reads snapshots until one fits the events that arrived meanwhile.
func (n *snapshots) run(ctx context.Context) {
	wait := follow.Backoff{Jitter: true}
	for {
		done, err := n.next(ctx)
		switch {
		case done:
			n.l.back.flush()
			return
		case err == nil:
			continue
		}
		n.l.h.failed(ctx, "snapshot failed", n.l.id, err)
		if !wait.Wait(ctx) {
			return
		}
	}
}

// next reads one snapshot; done is false if another one is needed.
func (n *snapshots) next(ctx context.Context) (done bool, err error) {
	snap, roster, err := n.read(ctx)
	if err != nil {
		return false, err
	}
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	return n.take(snap, roster), nil
}

// read reads the line, with the sellers in it if support watches.
func (n *snapshots) read(ctx context.Context) (room.Snapshot, *room.Roster, error) {
	n.l.mu.RLock()
	watched := n.l.desk != nil
	n.l.mu.RUnlock()
	if !watched {
		snap, err := n.l.h.engine.Snapshot(ctx, n.l.id)
		return snap, nil, err
	}
	roster, err := n.l.h.engine.Roster(ctx, n.l.id)
	snap := room.Snapshot{View: roster.View, Ranks: make([]float64, len(roster.Line))}
	for i := range roster.Line {
		snap.Ranks[i] = roster.Line[i].Rank
	}
	return snap, &roster, err
}

// take adopts a snapshot and the events after it; it returns false if another one is needed.
func (n *snapshots) take(snap room.Snapshot, roster *room.Roster) bool {
	l := n.l
	if l.dead {
		return true
	}
	epoch, lineage := l.m.Epoch, l.m.Lineage
	events, ok := l.m.Adopt(snap)
	if !ok {
		return false
	}
	if snap.Epoch != epoch || snap.Lineage != lineage { // reports of presence may be lost, too
		l.reportAll()
	}
	l.redraw()
	l.seats.askAll()
	l.links.missed()
	l.back.due, l.back.until = true, time.Time{}
	l.expiry.arm()
	if l.desk != nil {
		l.desk.Resynced(roster)
	}
	for i := range events {
		l.advance(&events[i])
	}
	return true
}

// observe compares the mirror with a view that the engine has just returned. If the engine has a later
// version, its event is on its way or lost, and gets a moment to arrive.
func (n *snapshots) observe(v room.View) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if n.l.dead {
		return
	}
	reason, wanted := n.l.m.Compare(&v)
	switch {
	case reason != "":
		n.ask(reason)
	case wanted:
		n.expect(mirror.Revision{Epoch: v.Epoch, Version: v.Version})
	}
}

// expect gives the event of a version a moment to arrive.
func (n *snapshots) expect(version mirror.Revision) {
	if version.Compare(n.expected) <= 0 {
		return
	}
	n.expected = version
	n.stop()
	n.timer = time.AfterFunc(patience, func() {
		n.l.mu.Lock()
		defer n.l.mu.Unlock()
		n.expected = mirror.Revision{}
		if n.l.m.Of(version).Unreached() && !n.l.m.Reading() {
			n.ask(mirror.ReasonBehind)
		}
	})
}

// drifted requests a snapshot because a seat and the mirror contradict each other.
func (n *snapshots) drifted(at mirror.Revision) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if n.l.m.Revision == at && !n.l.m.Reading() {
		n.ask(mirror.ReasonDrift)
	}
}
