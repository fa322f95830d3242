package hub

import (
	"time"

	"github.com/waitroom/waitroom/hub/socket"
)

// coalescer holds back what the back of the line hears: the first change goes out right behind the head of
// the line, those within the pause after it go out as one. The room's lock guards it.
type coalescer struct {
	due   bool // a change was not told yet
	until time.Time
	timer *time.Timer
}

// headStart is how long the back of the line stands behind those whom a change concerns most. Told at the same moment, thousands would take the processors, and those
// of the machines that they are on.
const headStart = time.Millisecond

// behind notes a change that the back of the line is to be told, after all others.
func (b *coalescer) behind(now time.Time) {
	if b.due {
		return
	}
	b.due = true
	if from := now.Add(headStart); from.After(b.until) {
		b.until = from
	}
}

func (b *coalescer) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// tellBack tells a change to everybody in the room, unless that was done a moment ago.
func (l *localRoom) tellBack() {
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
func (b *coalescer) wake(l *localRoom, wait time.Duration) {
	if b.timer == nil {
		b.timer = time.AfterFunc(wait, func() { l.tellBack() })
	} else {
		b.timer.Reset(wait)
	}
}

// tellAll marks every socket. Those already marked stay where they are in the queue.
func (l *localRoom) tellAll() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	socket.MarkAll(l.h.pool, l.conns, dueState)
}
