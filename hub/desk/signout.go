package desk

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
	// the sockets are checked in this many parts, so that Redis is not asked about all at once
	turns = 20
)

// SignOut closes all sockets of a sign-in, on every replica, with 4501. The error wraps room.ErrStore: other
// replicas then notice the sign-out when they reconnect or at their next check.
func (d *Desk) SignOut(ctx context.Context, key string) error {
	d.sockets.signOut(key)
	if err := room.MasterOf(ctx, d.Redis, d.signedOut).Publish(ctx, d.signedOut, key).Err(); err != nil {
		return fmt.Errorf("%w: publish a sign-out: %w", room.ErrStore, err)
	}
	return nil
}

// signOut closes this replica's sockets of a sign-in.
func (s *sockets) signOut(key string) {
	for _, c := range s.list() {
		if c.who.Key == key {
			c.signOut()
		}
	}
}

func (c *Conn) signOut() {
	if !c.Closed() { // once: each close gives the peer its grace anew
		c.Shut(codeSignedOut, "signed_out")
	}
}

// closeOver closes the sockets whose sign-in has expired.
func (s *sockets) closeOver() {
	now := time.Now()
	for _, c := range s.list() {
		if until := c.who.Until; !until.IsZero() && !now.Before(until) {
			c.signOut()
		}
	}
}

// askAgain finds sign-ins that Redis does not have any more, without a sign-out. If Redis does not answer,
// the next turn asks again.
func (s *sockets) askAgain(ctx context.Context) {
	tick := time.NewTicker(max(s.d.Recheck/turns, time.Millisecond))
	defer tick.Stop()
	for turn := 0; ; turn = (turn + 1) % turns {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.d.checkSome(ctx, s.inTurn(turn))
		}
	}
}

// check checks the sign-in of every socket, since sign-outs may have been missed.
func (s *sockets) check() {
	if s.count() > 0 && s.checking.Add(1) == 1 {
		s.d.Host.Spawn(s.checkAll)
	}
}

func (s *sockets) checkAll(ctx context.Context) {
	for asked := int32(1); asked > 0 && s.d.checkEach(ctx, s.list()); {
		asked = s.checking.Add(-asked)
	}
}

// checkEach checks until the result of all is known; it returns false if ctx ended first.
func (d *Desk) checkEach(ctx context.Context, conns []*Conn) bool {
	for len(conns) > 0 {
		if conns = d.checkSome(ctx, conns); len(conns) > 0 && !follow.Pause(ctx, checkAgain) {
			return false
		}
	}
	return true
}

// checkSome closes the sockets whose sign-in is not valid, and returns those for which that is unknown.
func (d *Desk) checkSome(ctx context.Context, conns []*Conn) (unknown []*Conn) {
	var mu sync.Mutex
	inParallel(checkers, conns, func(c *Conn) {
		if c.Closed() || c.who.Valid == nil {
			return
		}
		within, cancel := context.WithTimeout(ctx, checkFor)
		defer cancel()
		switch valid, err := c.who.Valid(within); {
		case err != nil:
			d.Host.Failed(ctx, "sign-in not checked", "", err)
			mu.Lock()
			defer mu.Unlock()
			unknown = append(unknown, c)
		case !valid:
			c.signOut()
		}
	})
	return unknown
}

// inParallel calls f for each element, n at a time.
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
