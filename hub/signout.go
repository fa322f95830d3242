package hub

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

const (
	checkers   = 8           // how many sign-ins are checked at a time
	checkAgain = time.Second // between attempts
	checkFor   = 5 * time.Second
	turns      = 20 // how many parts of the sockets are asked again one after another, so that the store is not asked of all at once
)

// SignOut closes all sockets of a sign-in, on every replica, with 4501. The error wraps room.ErrStore: the other replicas find out
// when they are connected again, or ask again.
func (h *Hub) SignOut(ctx context.Context, key string) error {
	h.desks.signOut(key)
	if err := h.cfg.Redis.Publish(ctx, h.channels.signedOut, key).Err(); err != nil {
		return fmt.Errorf("%w: tell a sign-out: %w", room.ErrStore, err)
	}
	return nil
}

// signOut closes the sockets of a sign-in that are here.
func (d *desks) signOut(key string) {
	for _, c := range d.list() {
		if c.desk.who.Key == key {
			c.signOut()
		}
	}
}

func (c *conn) signOut() {
	if !c.Closed() { // once: each close gives the peer its grace anew
		c.Shut(codeSignedOut, "signed_out")
	}
}

// closeOver closes the sockets whose sign-in has ended by time.
func (d *desks) closeOver() {
	now := time.Now()
	for _, c := range d.list() {
		if until := c.desk.who.Until; !until.IsZero() && !now.Before(until) {
			c.signOut()
		}
	}
}

// askAgain finds the sign-ins that are gone from the store without anybody having signed out. Of which that is not known now, it is
// asked again in their next turn.
func (d *desks) askAgain(ctx context.Context) {
	tick := time.NewTicker(max(d.h.cfg.Recheck/turns, time.Millisecond))
	defer tick.Stop()
	for turn := 0; ; turn = (turn + 1) % turns {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			checkSome(ctx, d.inTurn(turn))
		}
	}
}

// check asks of every socket whether its sign-in still holds: sign-outs may have been missed until now.
func (d *desks) check() {
	if d.count() > 0 && d.checking.Add(1) == 1 {
		d.h.spawn(d.checkAll)
	}
}

func (d *desks) checkAll(ctx context.Context) {
	for asked := int32(1); asked > 0 && checkEach(ctx, d.list()); {
		asked = d.checking.Add(-asked)
	}
}

// checkEach asks until all are known; false when ctx ended first.
func checkEach(ctx context.Context, conns []*conn) bool {
	for len(conns) > 0 {
		if conns = checkSome(ctx, conns); len(conns) > 0 && !follow.Pause(ctx, checkAgain) {
			return false
		}
	}
	return true
}

// checkSome closes the sockets whose sign-in does not hold, and returns those of which that is not known.
func checkSome(ctx context.Context, conns []*conn) (unknown []*conn) {
	var mu sync.Mutex
	inParallel(checkers, conns, func(c *conn) {
		if c.Closed() || c.desk.who.Valid == nil {
			return
		}
		within, cancel := context.WithTimeout(ctx, checkFor)
		defer cancel()
		switch valid, err := c.desk.who.Valid(within); {
		case err != nil:
			c.h.failed(ctx, "sign-in not checked", "", err)
			mu.Lock()
			defer mu.Unlock()
			unknown = append(unknown, c)
		case !valid:
			c.signOut()
		}
	})
	return unknown
}

// inParallel does f for each, n at a time.
func inParallel[T any](n int, list []T, f func(T)) {
	var workers sync.WaitGroup
	todo := make(chan T)
	for range min(n, len(list)) {
		workers.Go(func() {
			for one := range todo {
				f(one)
			}
		})
	}
	for _, one := range list {
		todo <- one
	}
	close(todo)
	workers.Wait()
}
