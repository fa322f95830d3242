package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	otherKeys     = 10_000
	shortLease    = time.Second // the shortest there is
	expiryRooms   = 20
	expiryWaiters = 12
	eventKeys     = 20
	eventsWithin  = 15 * time.Second
)

// expiry measures leases that expire, in a Redis with many other keys that have a TTL.
func (b *bench) expiry(ctx context.Context) error {
	events, err := b.keyspaceEvents(ctx)
	if err != nil {
		return err
	}
	s, err := b.open(ctx, layout{replicas: 2, lease: shortLease})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := fillTTL(ctx, s.rdb); err != nil {
		return err
	}
	took, err := b.expire(ctx, s)
	if err != nil {
		return err
	}
	b.add(row{what: "`expires_at` → next holder's frame, with 10,000 other keys that have a TTL",
		bar:    "p99 ≤ 20 ms",
		checks: []check{{"p99", took.at(.99), " ms", 20, false}},
		how: fmt.Sprintf("%d leases of 1 s in %d rooms, two replicas; the clock is the machine's, which is "+
			"Redis's; p50 %s ms, %s. Keyspace events alone: %s.",
			len(took), expiryRooms, number(took.median()), took.spread(" ms"), events)})
	return nil
}

func fillTTL(ctx context.Context, rdb *redis.Client) error {
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range otherKeys {
			p.Set(ctx, "other:"+strconv.Itoa(i), i, time.Hour)
		}
		return nil
	})
	return err
}

// expire returns, for each expired lease, how many ms after its end the next holder's frame arrived.
func (b *bench) expire(ctx context.Context, s *site) (sample, error) {
	rooms := b.n(expiryRooms)
	room := func(i int) string { return fmt.Sprint("bench:", i%rooms) }
	people := make([]person, rooms*expiryWaiters)
	for i := range people {
		people[i] = newPerson()
	}
	a, e := newAudience(ctx, seats(s.replicas[1].URL(), room, people)), newEndings(rooms)
	defer a.close()
	a.heard = e.heard
	if err := a.grow(ctx, len(people)); err != nil {
		return nil, err
	}
	if err := joinInTurn(ctx, s.replicas[0].Addr, people, rooms, room); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*expiryWaiters*shortLease)
	defer cancel()
	select {
	case <-e.done:
		return e.took, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("leases that ran out handed the lock to no one: %w", ctx.Err())
	}
}

// endings has the leases that are expected to end, by room.
type endings struct {
	mu     sync.Mutex
	ends   []int64 // of the lease that runs in each room, unix ms
	fences []int64
	left   int
	took   sample
	done   chan struct{}
}

func newEndings(rooms int) *endings {
	return &endings{ends: make([]int64, rooms), fences: make([]int64, rooms), left: rooms * (expiryWaiters - 1),
		done: make(chan struct{})}
}

// heard handles a frame of any socket. A room's first lease follows no other and is not counted.
func (e *endings) heard(n int, s crowd.State, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := n % len(e.ends)
	if s.Status != "locked" || s.Fence <= e.fences[r] {
		return
	}
	before := e.ends[r]
	e.fences[r], e.ends[r] = s.Fence, s.ExpiresAt
	if before == 0 {
		return
	}
	e.took = append(e.took, ms(at.Sub(time.UnixMilli(before))))
	if e.left--; e.left == 0 {
		close(e.done)
	}
}

// joinInTurn fills one room after the other, so that their leases do not end at the same time.
func joinInTurn(ctx context.Context, addr string, people []person, rooms int, room func(int) string) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for r := range rooms {
		for i := r; i < len(people); i += rooms {
			if _, err := c.join(room(i), people[i]); err != nil {
				return err
			}
		}
		if !stack.Pause(ctx, shortLease/time.Duration(rooms)) {
			return ctx.Err()
		}
	}
	return nil
}

// keyspaceEvents measures how late Redis's own notifications of expired keys are with so many keys.
func (b *bench) keyspaceEvents(ctx context.Context) (string, error) {
	s, err := stack.New("waitroom-bench-")
	if err != nil {
		return "", err
	}
	defer s.Stop()
	_, addr, err := s.Redis(ctx, "--notify-keyspace-events", "Ex")
	if err != nil {
		return "", err
	}
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { _ = rdb.Close() }()
	if err := fillTTL(ctx, rdb); err != nil {
		return "", err
	}
	sub := rdb.PSubscribe(ctx, "__keyevent@0__:expired")
	defer func() { _ = sub.Close() }()
	if _, err := sub.Receive(ctx); err != nil {
		return "", err
	}
	for i := range eventKeys {
		if err := rdb.Set(ctx, "mine:"+strconv.Itoa(i), i, shortLease).Err(); err != nil {
			return "", err
		}
	}
	due, late := time.Now().Add(shortLease), sample{}
	end := time.NewTimer(shortLease + b.span(eventsWithin))
	defer end.Stop()
	for messages := sub.Channel(); len(late) < eventKeys; {
		select {
		case <-messages:
			late = append(late, ms(time.Since(due)))
			continue
		case <-end.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		break
	}
	text := fmt.Sprintf("%d of %d came within %s", len(late), eventKeys, b.span(eventsWithin))
	if len(late) > 0 {
		text += fmt.Sprintf(", the median of those after %s ms", number(late.median()))
	}
	return text, nil
}
