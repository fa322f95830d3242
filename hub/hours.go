package hub

import (
	"time"

	"github.com/waitroom/waitroom/room"
)

// opensAt returns when a room takes new places again, in unix ms; 0 if it does.
func (h *Hub) opensAt(id room.ID) int64 {
	at := h.engine.OpensAt(id)
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// followHours tells every socket when the room has opened or closed, or its hours have changed.
func (l *localRoom) followHours() {
	opens := l.h.opensAt(l.id)
	l.mu.Lock()
	changed := opens != l.shared.opens
	if changed {
		l.shared.opens = opens
		l.back.behind(time.Now())
	}
	l.mu.Unlock()
	if changed {
		l.back.flush()
	}
}
