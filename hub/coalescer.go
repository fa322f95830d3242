package hub

import (
	"time"

	"github.com/waitroom/waitroom/hub/socket"
)

// coalescer holds back what the back of the line hears: the first change goes out at once, those
// within the pause after it go out as one. The hall's lock guards it.
type coalescer struct {
	due   bool // a change was not told yet
	until time.Time
	timer *time.Timer
}

func (b *coalescer) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// tellBack tells a change to everybody in the room, unless that was done a moment ago.
func (l *hall) tellBack() {
	l.mu.Lock()
	now := time.Now()
	if !l.back.due || !l.m.Live || l.dead {
		l.mu.Unlock()
		return
	}
	if wait := l.back.until.Sub(now); wait > 0 {
		l.back.wake(l, wait)
		l.mu.Unlock()
		return
	}
	l.back.due = false
	l.back.until = now.Add(l.h.cfg.Coalesce)
	l.mu.Unlock()
	l.tellAll()
}

// wake tells later; one timer is enough for all changes until then.
func (b *coalescer) wake(l *hall, wait time.Duration) {
	if b.timer == nil {
		b.timer = time.AfterFunc(wait, func() { l.tellBack() })
	} else {
		b.timer.Reset(wait)
	}
}

// tellAll marks every socket. Those already marked stay where they are in the queue.
func (l *hall) tellAll() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	socket.MarkAll(l.h.pool, l.conns, dueState)
}
