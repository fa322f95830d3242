package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

const (
	drainStep = 10 * time.Millisecond // how often a drain closes some sockets
	// the least time for each of many sockets, since the other replicas have to accept them
	drainEach = time.Second / 500
)

// Drain accepts no more sockets and closes the existing ones with 4001. It spreads the closes over
// DrainSpread, or longer if there are many, so that the clients do not reconnect at the same time.
//
// It writes close frames without waiting, and cuts off a peer that does not answer within CloseGrace. It
// returns when no socket is left or, after closing the rest at once, with ctx's error.
func (h *Hub) Drain(ctx context.Context) error {
	h.draining.Store(true)
	h.eachRoom(func(l *localRoom) { l.listeners.dismiss() })
	h.spawn(h.desk.Announce)
	h.shutAll(ctx)
	tick := time.NewTicker(drainStep)
	defer tick.Stop()
	for {
		left := h.conns()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			for _, c := range left {
				c.Kill()
			}
			return fmt.Errorf("drain: %d sockets closed at once: %w", len(left), ctx.Err())
		}
	}
}

// shutAll closes the sockets in even steps.
func (h *Hub) shutAll(ctx context.Context) {
	all := h.conns()
	// few sockets are closed soon, but not all at once
	steps := max(1, min(int(h.drainSpread(ctx, len(all))/drainStep), len(all)))
	for i := range steps {
		for _, c := range all[len(all)*i/steps : len(all)*(i+1)/steps] {
			c.Shut(codeDraining, "draining")
		}
		if i+1 < steps && !follow.Pause(ctx, drainStep) {
			return
		}
	}
}

// drainSpread returns the time over which n sockets are closed. It is at most half of what ctx leaves, or
// DrainSpread if that is longer.
func (h *Hub) drainSpread(ctx context.Context, n int) time.Duration {
	spread := max(h.cfg.DrainSpread, time.Duration(n)*drainEach)
	if end, ok := ctx.Deadline(); ok {
		spread = min(spread, max(h.cfg.DrainSpread, time.Until(end)/2))
	}
	return spread
}
