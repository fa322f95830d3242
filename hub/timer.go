package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

// expiryLate is how long after a lease's end the engine is called, so that by Redis's clock the lease is
// over.
const expiryLate = time.Millisecond

// expiry is the timer on a room's lease. The room's lock guards it.
type expiry struct {
	l     *localRoom
	timer *time.Timer
	fence int64
	ends  int64
	wait  follow.Backoff // between attempts while the store is away
}

func (d *expiry) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// arm sets the timer for the mirror's lease.
func (d *expiry) arm() {
	l := d.l
	if d.fence == l.m.Lease.Fence && d.ends == l.m.Lease.Ends() {
		return
	}
	d.fence, d.ends, d.wait = l.m.Lease.Fence, l.m.Lease.Ends(), follow.Backoff{}
	if !l.m.Held() {
		d.stop()
		return
	}
	d.in(l.h.clock.Until(d.ends) + expiryLate)
}

func (d *expiry) in(wait time.Duration) {
	if d.timer == nil {
		d.timer = time.AfterFunc(wait, func() { d.l.h.spawn(d.expire) })
		return
	}
	d.timer.Reset(wait)
}

// expire brings the room up to date. If the lease is not over by Redis's clock, it sets the timer again.
func (d *expiry) expire(ctx context.Context) {
	l := d.l
	found, err := l.h.engine.Expire(ctx, l.id)
	if err != nil {
		l.h.failed(ctx, "expire failed", l.id, err)
	}
	l.mu.Lock()
	switch {
	case l.dead:
	case err != nil:
		d.in(d.wait.Next())
	case found.Lease != nil && found.Lease.Fence == d.fence:
		d.in(time.Duration(found.Lease.Ends()-found.Now)*time.Millisecond + expiryLate)
	}
	l.mu.Unlock()
	if err == nil {
		l.snapshots.observe(found.View)
	}
}

// freed handles a deleted lock key. After the engine's own scripts the event follows at once; after a
// deletion by hand, the mirror still shows the lease a moment later.
func (d *expiry) freed() {
	l := d.l
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
			l.h.spawn(d.expire)
		}
	})
}

// deletedGrace is how long the event of a release may come after its notification.
const deletedGrace = 5 * time.Millisecond
