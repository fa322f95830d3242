package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

// checkedEachSecond is how many rooms' mirrors are compared with the engine when nothing happens in them, however many there are. What is lost on the way
// is noticed in other ways, mostly: a gap in the versions, a subscription that is renewed, a probe that does not come back.
const checkedEachSecond = 20

// beats reports whether this replica has a number, and had a heartbeat lately: under one that others may have taken for dead nothing is told.
func (h *Hub) beats(now int64) bool {
	return h.host() != 0 && now-h.beaten.Load() < int64(h.engine.DeadAfter()/2+h.cfg.Beat)
}

// host is the number under which this replica tells who is here; 0 = none yet.
func (h *Hub) host() room.ReplicaNumber { return room.ReplicaNumber(h.hosted.Load()) }

// heartbeat says that this replica is alive, each Beat, and compares some mirrors with the engine.
func (h *Hub) heartbeat(ctx context.Context) {
	var histories int64
	for {
		began := time.Now()
		h.alive(ctx, &histories)
		h.checkSome(ctx)
		if !follow.Pause(ctx, h.cfg.Beat-time.Since(began)) {
			return
		}
	}
}

// alive has everybody told again where this replica was taken for dead, or the store may have lost what it was told, and else what had to wait. That there is
// something is for the halls to say: a heartbeat that began in time may be answered when the one before has long been too old.
func (h *Hub) alive(ctx context.Context, histories *int64) {
	ctx, cancel := context.WithTimeout(ctx, h.engine.DeadAfter())
	defer cancel()
	began, had, seen := h.now(), h.host(), h.engine.Histories()
	ask := had
	if seen != *histories {
		ask = 0
	}
	host, err := h.engine.Heartbeat(ctx, ask)
	if err != nil {
		h.failed(ctx, "heartbeat not told", "", err)
		return
	}
	*histories = seen
	h.beaten.Store(began)
	h.hosted.Store(int64(host))
	waits := h.refused.Swap(false) // last: who is refused by what was there before, and says so after this, is tried again with the next heartbeat
	if host == had && !waits {
		return
	}
	h.eachHall(func(l *hall) {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case host != had:
			l.tellAnew()
		case l.who.waits():
			l.tellPresence()
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

// followed reports whether anybody looks at the mirror.
func (l *hall) followed() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.m.Live && (len(l.conns) > 0 || l.desk != nil)
}

func (l *hall) check(ctx context.Context) {
	view, _, err := l.h.engine.Look(ctx, l.id)
	if err != nil {
		l.h.failed(ctx, "mirror not compared", l.id, err)
		return
	}
	l.observe(view)
}
