package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

const (
	drainStep = 10 * time.Millisecond // how often a drain closes some sockets
	// for each of many: the others have to take them in, beside all that they do
	drainEach = time.Second / 500
)

// Drain takes no more sockets and closes those there are with 4001, spread over DrainSpread, or over longer
// where they are many, so that they do not all come back somewhere else at the same moment. A close frame is
// written without waiting; a peer that does not answer within CloseGrace is cut off. It returns when no
// socket is left, or with ctx's error, after closing the rest at once.
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
	// a few are gone soon, none at once
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

// drainSpread is over how long n sockets are closed: in good time before ctx ends.
func (h *Hub) drainSpread(ctx context.Context, n int) time.Duration {
	spread := max(h.cfg.DrainSpread, time.Duration(n)*drainEach)
	if end, ok := ctx.Deadline(); ok {
		spread = min(spread, max(h.cfg.DrainSpread, time.Until(end)/2))
	}
	return spread
}
