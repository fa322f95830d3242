package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	trafficRooms = 8
	trafficRest  = 10 * time.Millisecond
)

// traffic sends requests without pause. Each client has a room of its own, so that some request is always in
// progress.
type traffic struct {
	stop context.CancelFunc
	gone sync.WaitGroup

	mu       sync.Mutex
	answered int
	dropped  []string // what became of those that were not
}

// startTraffic makes clients join and leave until halt. They wait for an answer without a limit, since a slow
// answer is not a dropped one.
func (r *Run) startTraffic(ctx context.Context) *traffic {
	t := &traffic{}
	transport := &http.Transport{MaxIdleConnsPerHost: trafficRooms}
	r.tb.Cleanup(transport.CloseIdleConnections)
	door := &replica{run: r, name: r.doors[0].name, front: r.doors[0].front,
		client: &http.Client{Transport: transport, Timeout: patience}}
	ctx, t.stop = context.WithCancel(ctx)
	for i := range trafficRooms {
		s := &seller{run: r, room: fmt.Sprint(prefix, "traffic-", i), name: fmt.Sprint("traffic-", i),
			session: r.session(r.rng)}
		t.gone.Go(func() {
			for ctx.Err() == nil {
				t.ask(door, s.join())
				t.ask(door, s.leaving())
				_ = pause(ctx, trafficRest)
			}
			_ = until(patience, func() error { // what had no answer may have a place
				_, err := door.do(context.WithoutCancel(ctx), s.leaving())
				return err
			})
		})
	}
	return t
}

// ask sends a request to its end, also after halt.
func (t *traffic) ask(door *replica, c call) {
	got, err := door.do(context.Background(), c)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.dropped = append(t.dropped, fmt.Sprintf("%s: %v", c.op, err))
	// no other seller is in the room; after a dropped request the place may have ended
	case got.http != http.StatusOK && got.http != http.StatusNotFound:
		t.dropped = append(t.dropped, fmt.Sprintf("%s: %d %s", c.op, got.http, got.Code))
	default:
		t.answered++
	}
}

// look returns the number of answered requests since the last look, and the dropped ones.
func (t *traffic) look() (answered int, dropped []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answered, dropped = t.answered, t.dropped
	t.answered, t.dropped = 0, nil
	return answered, dropped
}

// halt returns when every request has an answer.
func (t *traffic) halt() {
	t.stop()
	t.gone.Wait()
}
