package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

const minuteMS = int64(time.Minute / time.Millisecond)

// asker asks for what a room's watchers are shown beside the line, one question at a time.
type asker struct {
	d      *deskRoom
	minute int64 // in which minutes were asked for last
	since  int64 // unix ms: minutes before it are known
}

// followAside asks for what is due until ctx ends.
func (d *deskRoom) followAside(ctx context.Context) {
	if d.l.h.cfg.Desk == nil {
		return
	}
	tick := time.NewTicker(minutesEvery)
	defer tick.Stop()
	a, wait := asker{d: d}, follow.Backoff{Most: askAgainMost}
	for follow.Pause(ctx, a.ask(ctx, &wait)) {
		select {
		case <-ctx.Done():
			return
		case <-d.aside.kick:
		case <-tick.C:
			d.countAgain(a.minute)
		}
	}
}

// ask asks for what is due and returns how long to wait before the next question.
func (a *asker) ask(ctx context.Context, wait *follow.Backoff) time.Duration {
	due, failed := a.d.due(), 0
	if due&askItems != 0 && !a.items(ctx) {
		failed |= askItems
	}
	if due&askMinutes != 0 && !a.minutes(ctx) {
		failed |= askMinutes
	}
	if due&askPause != 0 && !a.pauses(ctx) {
		failed |= askPause
	}
	if failed == 0 {
		wait.Reset()
		return itemsEvery
	}
	a.d.l.mu.Lock()
	defer a.d.l.mu.Unlock()
	a.d.aside.ask(failed)
	return wait.Next()
}

func (d *deskRoom) due() int {
	d.l.mu.Lock()
	defer d.l.mu.Unlock()
	due := d.aside.due
	d.aside.due = 0
	return due
}

// countAgain has minutes asked for where something happened lately, or another minute has begun.
func (d *deskRoom) countAgain(asked int64) {
	d.l.mu.Lock()
	defer d.l.mu.Unlock()
	if d.aside.settle > 0 || d.l.h.clock.MS()/minuteMS != asked {
		d.aside.settle = max(0, d.aside.settle-1)
		d.aside.due |= askMinutes
	}
}

func (a *asker) items(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	answer, err := a.d.l.h.cfg.Desk.Items(within, a.d.l.id)
	ok := a.answered(ctx, "items not read", err, func(b *aside) []byte { return b.items.whole(answer) })
	sources, err := a.d.l.h.cfg.Desk.Sources(within, a.d.l.id)
	return a.answered(ctx, "sources not read", err, func(b *aside) []byte { return b.sources.wholeIfAny(sources) }) && ok
}

func (a *asker) pauses(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var answer []Item
	var err error
	if a.d.paused() {
		answer, err = a.d.l.h.cfg.Desk.Pauses(within, a.d.l.id)
	}
	return a.answered(ctx, "pause not read", err, func(b *aside) []byte { return b.pauses.wholeIfAny(answer) })
}

func (d *deskRoom) paused() bool {
	d.l.mu.RLock()
	defer d.l.mu.RUnlock()
	return d.aside.paused
}

func (a *asker) minutes(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	now := a.d.l.h.clock.MS()
	answer, err := a.d.l.h.cfg.Desk.Minutes(within, a.d.l.id, a.since)
	ok := a.answered(ctx, "minutes not read", err, func(b *aside) []byte { return b.minutes.part(answer, now-keepMinutes.Milliseconds()) })
	a.minute = now / minuteMS
	if ok {
		a.since = (a.minute - 1) * minuteMS
	}
	return ok
}

// answered tells everybody what an answer changed; false when there was none.
func (a *asker) answered(ctx context.Context, what string, err error, take func(*aside) []byte) bool {
	l := a.d.l
	if err != nil {
		l.h.failed(ctx, what, l.id, err)
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if frame := take(&a.d.aside); frame != nil {
		a.d.feed.tell(frame)
	}
	return true
}
