package lockredis

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/room"
)

// beatsAtOnce is how many keys are vouched for at the same time.
const beatsAtOnce = 16

// beat vouches for the waiters of this process until ctx ends. The answers also tell what a push
// should have told: pushes make waiting fast, not right.
func (l *Locker) beat(ctx context.Context) {
	tick := time.NewTicker(l.heartbeat / beatsPerWord)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-l.lookNow:
		}
		var keys errgroup.Group
		keys.SetLimit(beatsAtOnce)
		for id, sessions := range l.waiting() {
			keys.Go(func() error { l.vouch(ctx, id, sessions); return nil })
		}
		_ = keys.Wait()
		l.doubtPushes()
	}
}

func (l *Locker) waiting() map[room.ID][]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[room.ID][]string, len(l.lines))
	for id, ln := range l.lines {
		for session := range ln.waiters {
			all[id] = append(all[id], session)
		}
	}
	return all
}

func (l *Locker) vouch(ctx context.Context, id room.ID, sessions []string) {
	for from := 0; from < len(sessions); from += room.SeenBatch {
		batch := sessions[from:min(from+room.SeenBatch, len(sessions))]
		sent := time.Now()
		v, err := l.engine.Seen(ctx, id, l.heartbeat, batch, nil)
		if err == nil {
			l.compare(id, sent, v.Now)
			l.note(id, v)
			err = l.settle(ctx, id, v)
		}
		l.warn(ctx, "vouch for waiters", err)
	}
}

// settle looks up the waiters whose waiting a view does not explain.
func (l *Locker) settle(ctx context.Context, id room.ID, v room.View) error {
	doubtful := l.doubtful(id, v)
	for from := 0; from < len(doubtful); from += room.LookBatch {
		batch := doubtful[from:min(from+room.LookBatch, len(doubtful))]
		v, seats, err := l.engine.Look(ctx, id, batch...)
		if err != nil {
			return err
		}
		for i, session := range batch {
			l.seated(id, session, v, seats[i].Place)
		}
	}
	return nil
}

// doubtful are the waiters who can not just be waiting: the lock is free, or somebody behind them
// has it, or the data is other data.
func (l *Locker) doubtful(id room.ID, v room.View) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lines[id]
	if ln == nil {
		return nil
	}
	var sessions []string
	for _, w := range ln.waiters { // not tickets: after a loss, or when nothing was left of the lock, another one may have its ticket
		if w.ticket == 0 {
			continue // it is still asking for a place
		}
		if w.epoch != v.Epoch || v.Lease == nil || v.Lease.Ticket > w.ticket {
			sessions = append(sessions, w.session)
		}
	}
	return sessions
}

func (l *Locker) seated(id room.ID, session string, v room.View, p room.Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lines[id]
	if ln == nil || ln.waiters[session] == nil {
		return
	}
	switch w := ln.waiters[session]; {
	case p.Status == room.Locked && v.Lease != nil:
		l.found(w, grant{fence: p.Fence, expires: v.Lease.ExpiresAt})
	case p.Status != room.Waiting:
		l.tell(w, grant{}) // lost
	}
}

// expire brings a lock to now when its holder's lease is over, as far as we know.
func (l *Locker) expire(id room.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
	defer cancel()
	found, err := l.engine.Expire(ctx, id)
	if err == nil {
		l.note(id, found.View)
	}
	l.warn(ctx, "end a lease that is over", err)
}

func (l *Locker) warn(ctx context.Context, what string, err error) {
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		l.watch.failed()
		l.log.Warn("lock: "+what, "error", err)
	}
}
