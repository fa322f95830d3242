package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

// expiryLate is how long after a lease's end the engine is asked, so that by its clock the lease is over.
const expiryLate = time.Millisecond

// deadline is the timer on a room's lease. The room's lock guards it.
type deadline struct {
	timer *time.Timer
	fence int64
	ends  int64
	wait  follow.Backoff // between attempts while the store is away
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// armExpiry sets the timer for the mirror's lease.
func (l *localRoom) armExpiry() {
	d := &l.expiry
	if d.fence == l.m.Lease.Fence && d.ends == l.m.Lease.Ends() {
		return
	}
	d.fence, d.ends, d.wait = l.m.Lease.Fence, l.m.Lease.Ends(), follow.Backoff{}
	if !l.m.Held() {
		d.stop()
		return
	}
	l.expireIn(l.h.clock.Until(d.ends) + expiryLate)
}

func (l *localRoom) expireIn(wait time.Duration) {
	if l.expiry.timer == nil {
		l.expiry.timer = time.AfterFunc(wait, func() { l.h.Spawn(l.expire) })
		return
	}
	l.expiry.timer.Reset(wait)
}

// expire brings the room to now and, should the lease not be over by Redis's clock, sets the timer
// for what is left.
func (l *localRoom) expire(ctx context.Context) {
	found, err := l.h.engine.Expire(ctx, l.id)
	if err != nil {
		l.h.Failed(ctx, "expire failed", l.id, err)
	}
	l.mu.Lock()
	d := &l.expiry
	switch {
	case l.dead:
	case err != nil:
		l.expireIn(d.wait.Next())
	case found.Lease != nil && found.Lease.Fence == d.fence:
		l.expireIn(time.Duration(found.Lease.Ends()-found.Now)*time.Millisecond + expiryLate)
	}
	l.mu.Unlock()
	if err == nil {
		l.observe(found.View)
	}
}

// freed says that the lock key was deleted. After our own scripts the event is right behind; when it
// was done by hand, the mirror still shows the lease a moment later.
func (l *localRoom) freed() {
	l.mu.RLock()
	fence := l.m.Lease.Fence
	l.mu.RUnlock()
	if fence == 0 {
		return
	}
	time.AfterFunc(deletedGrace, func() {
		l.mu.RLock()
		same := l.m.Lease.Fence == fence && !l.dead
		l.mu.RUnlock()
		if same {
			l.h.Spawn(l.expire)
		}
	})
}

// deletedGrace is how long the event of a release may be behind its notification.
const deletedGrace = 5 * time.Millisecond
