package lockredis

import (
	"time"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/room"
)

// waiter is one TryLock: a session of its own, so that a process can contend with itself.
type waiter struct {
	key     lock.Key
	session string
	lease   time.Duration
	result  chan grant // holds one: the grant, or the zero grant when the place was lost

	sent     time.Time // before a request was sent
	redisNow int64     // Redis's clock in its answer, unix ms

	epoch, ticket int64 // of the place; 0 before it is known; Locker.mu guards them
}

// grant reports that a waiter has the lock.
type grant struct {
	fence   int64
	expires int64 // unix ms of Redis's clock
}

func newWaiter(key lock.Key, lease time.Duration) *waiter {
	return &waiter{key: key, session: room.NewSession(), lease: lease, result: make(chan grant, 1)}
}

// holding returns the lease of a grant; nil if the place was lost or the grant arrived after its end. Redis's
// clock showed redisNow after `sent`, so the computed end is early; one more millisecond covers that clock's
// precision.
func (l *Locker) holding(w *waiter, g grant) *lock.Lease {
	if g.fence == 0 {
		return nil
	}
	now := time.Now()
	until := w.sent.Add(time.Duration(g.expires-w.redisNow-1) * time.Millisecond)
	if latest := now.Add(w.lease); until.After(latest) { // Redis's clock was set back
		until = latest
	}
	if !now.Before(until) {
		l.leaveLater(w)
		return nil
	}
	return lock.NewLease(w.key, g.fence, until, w.session)
}

// line is the waiters of this process for one lock.
type line struct {
	waiters map[string]*waiter // by session
	tickets map[int64]*waiter
	timer   *time.Timer // the holder's lease is over
}

// list registers a waiter before it joins, since the grant can arrive before the reply to the join.
func (l *Locker) list(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lines[roomOf(w.key)]
	if ln == nil {
		ln = &line{waiters: make(map[string]*waiter), tickets: make(map[int64]*waiter)}
		l.lines[roomOf(w.key)] = ln
	}
	ln.waiters[w.session] = w
}

// placed records the ticket, and the holder in the join's answer.
func (l *Locker) placed(w *waiter, st room.Standing) {
	l.mu.Lock()
	if ln := l.lines[roomOf(w.key)]; ln != nil && ln.waiters[w.session] == w {
		w.epoch, w.ticket = st.Epoch, st.Ticket
		ln.tickets[st.Ticket] = w
	}
	l.mu.Unlock()
	l.note(roomOf(w.key), st.View)
}

// recordClocks gives every waiter with a ticket a recent pair of clocks: when a request was sent, and Redis's
// time in its answer. The lease's end is computed from them, so that a drift between the clocks stays small.
func (l *Locker) recordClocks(id room.ID, sent time.Time, redisNow int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.lines[id]; ln != nil {
		for _, w := range ln.waiters {
			if w.ticket != 0 { // else its join is under way, and sets both
				w.sent, w.redisNow = sent, redisNow
			}
		}
	}
}

func (l *Locker) unlist(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(w)
}

// forget removes a waiter. The caller has mu. It returns false when the waiter was not in line any more.
func (l *Locker) forget(w *waiter) bool {
	id := roomOf(w.key)
	ln := l.lines[id]
	if ln == nil || ln.waiters[w.session] != w {
		return false
	}
	delete(ln.waiters, w.session)
	if ln.tickets[w.ticket] == w {
		delete(ln.tickets, w.ticket)
	}
	if len(ln.waiters) == 0 {
		if ln.timer != nil {
			ln.timer.Stop()
		}
		delete(l.lines, id)
	}
	return true
}

// notify gives a waiter its grant or loss, once. The caller has mu.
func (l *Locker) notify(w *waiter, g grant) bool {
	if !l.forget(w) {
		return false
	}
	w.result <- g
	return true
}

// note records the lock's holder from any reply: it may be a waiter of this process whose push is late or
// lost. It also records the lease's end, so that the first waiter's process ends the lease if the holder has
// died.
func (l *Locker) note(id room.ID, v room.View) {
	if v.Lease == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lines[id]
	if ln == nil {
		return
	}
	if w := ln.tickets[v.Lease.Ticket]; w != nil && w.epoch == v.Epoch {
		l.found(w, grant{fence: v.Lease.Fence, expires: v.Lease.ExpiresAt})
	}
	if len(ln.waiters) > 0 {
		l.arm(id, ln, time.Duration(v.Lease.ExpiresAt-v.Now+1)*time.Millisecond)
	}
}

// arm sets the line's timer. The caller has mu.
func (l *Locker) arm(id room.ID, ln *line, in time.Duration) {
	if ln.timer != nil {
		ln.timer.Reset(in)
		return
	}
	ln.timer = time.AfterFunc(in, func() {
		if l.enter() {
			defer l.work.Done()
			l.expire(id)
		}
	})
}
