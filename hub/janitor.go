package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/room"
)

// janitor retires rooms that have had no sockets for a while.
func (h *Hub) janitor(ctx context.Context) {
	tick := time.NewTicker(h.cfg.Linger / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var retired []room.ID
		h.eachRoom(func(l *localRoom) {
			if l.retire(h.cfg.Linger) {
				h.forget(l)
				retired = append(retired, l.id)
			}
		})
		h.presence.Drop(ctx, retired...)
	}
}

func (h *Hub) forget(l *localRoom) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.rooms, l.id)
	h.rounds.remove(l)
	h.sub.Channels.Remove(h.names.Events(l.id))
	h.keys.Remove(l.id)
	h.metrics.rooms.Dec()
}

// retire stops following a room without sockets; it returns false while the room is needed.
func (l *localRoom) retire(linger time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead || len(l.conns) > 0 || len(l.listeners.all) > 0 || l.desk != nil ||
		l.presence.Busy() || time.Since(l.empty) < linger {
		return false
	}
	l.dead, l.m.Live = true, false
	l.stop()
	return true
}

func (l *localRoom) stopTimers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
}

func (l *localRoom) stop() {
	l.expiry.stop()
	l.back.stop()
	l.snapshots.stop()
}
