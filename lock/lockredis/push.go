package lockredis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/room"
)

const (
	pingAfter      = 2 * time.Second        // of silence on the subscription; after twice as long it is renewed
	subscribeAgain = 200 * time.Millisecond // pause before a broken subscription is renewed
)

// attempt is one try to make the first subscription; all callers that need it wait for the same one.
type attempt struct {
	over chan struct{}
	err  error
}

// subscribed returns when pushes reach this locker: without them a waiter would miss its grant.
func (l *Locker) subscribed(ctx context.Context) error {
	l.mu.Lock()
	a := l.first
	if a == nil {
		a = &attempt{over: make(chan struct{})}
		l.first = a
		l.attempts <- a
	}
	l.mu.Unlock()
	select {
	case <-a.over:
		return a.err
	case <-ctx.Done():
		return fmt.Errorf("lock: %w", ctx.Err())
	case <-l.done:
		return lock.ErrClosed
	}
}

// listen has the process's one subscription, from the first waiter on.
func (l *Locker) listen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-l.attempts:
			sub, err := l.subscribe(ctx)
			l.settleFirst(a, err)
			for err == nil {
				l.follow(ctx, sub)
				sub, err = l.subscribeAgain(ctx)
			}
		}
	}
}

func (l *Locker) settleFirst(a *attempt, err error) {
	if err != nil {
		a.err = fmt.Errorf("%w: subscribe: %w", lock.ErrStore, err)
		l.mu.Lock()
		l.first = nil
		l.mu.Unlock()
	}
	close(a.over)
}

func (l *Locker) subscribe(ctx context.Context) (*redis.PubSub, error) {
	sub := l.rdb.Subscribe(ctx, l.channel)
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	if _, err := sub.ReceiveTimeout(ctx, storeWithin); err != nil {
		_ = sub.Close()
		return nil, err
	}
	return sub, nil
}

// subscribeAgain tries until it has a subscription or ctx ends. It then looks up the
// grants published meanwhile.
func (l *Locker) subscribeAgain(ctx context.Context) (*redis.PubSub, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(subscribeAgain):
		}
		sub, err := l.subscribe(ctx)
		if err == nil {
			select {
			case l.lookNow <- struct{}{}:
			default:
			}
			return sub, nil
		}
		l.warn(ctx, "subscribe", err)
	}
}

// follow reads pushes until the subscription fails, does not answer a ping, or is given up.
func (l *Locker) follow(ctx context.Context, sub *redis.PubSub) {
	hangUp := func() { _ = sub.Close() }
	defer hangUp()
	defer context.AfterFunc(ctx, hangUp)()
	l.mu.Lock()
	l.hangUp = hangUp
	l.mu.Unlock()
	asked := false
	for {
		message, err := sub.ReceiveTimeout(ctx, pingAfter)
		var timeout net.Error
		switch {
		case err == nil:
			asked = false
			if m, ok := message.(*redis.Message); ok {
				l.pushed(m.Payload)
			}
		case ctx.Err() != nil || asked || !errors.As(err, &timeout) || !timeout.Timeout():
			return
		default:
			asked = true
			if sub.Ping(ctx) != nil {
				return
			}
		}
	}
}

// pushed handles a push of a releasing script: a waiter of this process has the lock.
func (l *Locker) pushed(payload string) {
	var p struct {
		Room room.ID
		room.EventLease
	}
	if err := json.Unmarshal([]byte(payload), &p); err != nil {
		l.log.Warn("lock: push is not readable", "bytes", len(payload))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.unpushed, p.Session)
	if ln := l.lines[p.Room]; ln != nil && ln.waiters[p.Session] != nil {
		l.notify(ln.waiters[p.Session], grant{fence: p.Fence, expires: p.ExpiresAt})
		if len(ln.waiters) > 0 { // the lease just began
			l.arm(p.Room, ln, time.Duration(p.ExpiresAt-p.GrantedAt+1)*time.Millisecond)
		}
	}
}

// found notifies a waiter of a grant that an answer showed before its push came. The caller has mu.
func (l *Locker) found(w *waiter, g grant) {
	if l.notify(w, g) {
		l.unpushed[w.session] = time.Now()
	}
}

// doubtPushes gives up a subscription that looks healthy but delivers nothing, like one to a demoted master.
func (l *Locker) doubtPushes() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for session, since := range l.unpushed {
		if time.Since(since) < l.heartbeat {
			continue
		}
		delete(l.unpushed, session)
		if l.hangUp != nil {
			l.work.Go(l.hangUp) // closing can wait for a dial
			l.hangUp = nil
		}
	}
}
