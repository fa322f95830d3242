package hub

import (
	"context"
	"time"
)

// sendFreshness pings every seller's socket when Redis falls silent and when it answers again. The ping has
// the time since when Redis is silent, so that no page shows old data as live.
func (h *Hub) sendFreshness(ctx context.Context) {
	tick := time.NewTicker(h.cfg.Probe)
	defer tick.Stop()
	for fresh := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := h.Fresh(); now != fresh {
			fresh = now
			h.pingAll()
		}
	}
}

func (h *Hub) pingAll() {
	h.eachRoom(func(l *localRoom) {
		l.mu.RLock()
		defer l.mu.RUnlock()
		for _, c := range l.conns {
			c.Ping()
		}
	})
}

// ping appends the current ping.
func (h *Hub) ping(b []byte) []byte {
	var since int64
	if !h.Fresh() {
		since = h.sub.AsOf()
	}
	return appendPing(b, h.clock.MS(), since)
}
