package desk

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

const minuteMS = int64(time.Minute / time.Millisecond)

// panelReader reads a room's side panels, with one call at a time.
type panelReader struct {
	r      *Room
	minute int64 // the minute (unix time) in which the counts by the minute were read last
	since  int64 // unix ms: minutes before it are known
}

// followPanels reads the panels that are due, until ctx ends.
func (r *Room) followPanels(ctx context.Context) {
	if r.d.Panels == nil {
		return
	}
	tick := time.NewTicker(minutesEvery)
	defer tick.Stop()
	a, wait := panelReader{r: r}, follow.Backoff{Most: readAgainMost}
	for follow.Pause(ctx, a.read(ctx, &wait)) {
		select {
		case <-ctx.Done():
			return
		case <-r.panels.kick:
		case <-tick.C:
			r.countAgain(a.minute)
		}
	}
}

// read reads the panels that are due, and returns how long to wait before the next read.
func (a *panelReader) read(ctx context.Context, wait *follow.Backoff) time.Duration {
	due, failed := a.r.due(), 0
	if due&readItems != 0 && !a.items(ctx) {
		failed |= readItems
	}
	if due&readMinutes != 0 && !a.minutes(ctx) {
		failed |= readMinutes
	}
	if due&readPause != 0 && !a.pauses(ctx) {
		failed |= readPause
	}
	if failed == 0 {
		wait.Reset()
		return itemsEvery
	}
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	a.r.panels.ask(failed)
	return wait.Next()
}

func (r *Room) due() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	due := r.panels.due
	r.panels.due = 0
	return due
}

// countAgain marks the counts by the minute as due to be read, if something happened lately or another minute
// has begun.
func (r *Room) countAgain(asked int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.panels.settle > 0 || r.d.Clock.MS()/minuteMS != asked {
		r.panels.settle = max(0, r.panels.settle-1)
		r.panels.due |= readMinutes
	}
}

func (a *panelReader) items(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	answer, err := a.r.d.Panels.Items(within, a.r.id)
	ok := a.answered(ctx, "items not read", err, func(p *sidePanels) []byte { return p.items.whole(answer) })
	sources, err := a.r.d.Panels.Sources(within, a.r.id)
	return a.answered(ctx, "sources not read", err,
		func(p *sidePanels) []byte { return p.sources.wholeIfAny(sources) }) && ok
}

func (a *panelReader) pauses(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	var answer []Item
	var err error
	if a.r.paused() {
		answer, err = a.r.d.Panels.Pauses(within, a.r.id)
	}
	return a.answered(ctx, "pause not read", err,
		func(p *sidePanels) []byte { return p.pauses.wholeIfAny(answer) })
}

func (r *Room) paused() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.panels.paused
}

func (a *panelReader) minutes(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	now := a.r.d.Clock.MS()
	answer, err := a.r.d.Panels.Minutes(within, a.r.id, a.since)
	ok := a.answered(ctx, "minutes not read", err,
		func(p *sidePanels) []byte { return p.minutes.part(answer, now-keepMinutes.Milliseconds()) })
	a.minute = now / minuteMS
	if ok {
		a.since = (a.minute - 1) * minuteMS
	}
	return ok
}

// answered sends the watchers what has changed; it returns false if the call failed.
func (a *panelReader) answered(ctx context.Context, what string, err error,
	take func(*sidePanels) []byte) bool {
	r := a.r
	if err != nil {
		r.d.Host.Failed(ctx, what, r.id, err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if frame := take(&r.panels); frame != nil {
		r.feed.send(frame)
	}
	return true
}
