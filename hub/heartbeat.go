package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

// checkedEachSecond is how many mirrors are compared with the engine each second, for any number of rooms. A
// lost event is mostly noticed in other ways: by a gap in the versions, a renewed subscription, or a probe
// that does not come back.
const checkedEachSecond = 20

// heartbeat renews this replica's presence every Beat, and compares some mirrors with the engine.
func (h *Hub) heartbeat(ctx context.Context) {
	for {
		began := time.Now()
		h.report(ctx)
		h.checkSome(ctx)
		if !follow.Pause(ctx, h.cfg.Beat-time.Since(began)) {
			return
		}
	}
}

// report sends a heartbeat, and makes the rooms report again if it says so.
func (h *Hub) report(ctx context.Context) {
	all, some := h.presence.Heartbeat(ctx)
	if !all && !some {
		return
	}
	h.eachRoom(func(l *localRoom) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if all {
			l.reportAll()
		} else {
			l.presence.Resume()
		}
	})
}

// checkSome compares the mirrors of the next few rooms with the engine.
func (h *Hub) checkSome(ctx context.Context) {
	n := max(1, int(h.cfg.Beat*checkedEachSecond/time.Second))
	for _, l := range h.rounds.next(min(n, checkedEachSecond)) {
		if l.followed() {
			h.spawn(func(context.Context) { l.check(ctx) })
		}
	}
}

// followed reports whether the mirror has had a snapshot and has any sockets.
func (l *localRoom) followed() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.m.Live && (len(l.conns) > 0 || l.desk != nil)
}

func (l *localRoom) check(ctx context.Context) {
	view, _, err := l.h.engine.Look(ctx, l.id)
	if err != nil {
		l.h.failed(ctx, "mirror not compared", l.id, err)
		return
	}
	l.snapshots.observe(view)
}
