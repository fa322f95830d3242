package sim

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// Store is a Redis with a clock that is set by hand. It is emptied before every shift.
type Store struct {
	Client  redis.UniversalClient
	SetTime func(time.Time)
}

const (
	integration = room.ID("integration")
	shiftLeases = 500                      // a store that keeps everything for a day gets slow
	opening     = int64(1_800_000_000_123) // unix ms
)

// Run plays shifts until enough leases were granted.
func Run(ctx context.Context, store Store, w World, seed uint64, leases int) (Counts, error) {
	var all Counts
	for n := uint64(0); all.Leases < leases; n++ {
		t, err := play(ctx, store, w, rand.New(rand.NewPCG(seed, n)), min(leases-all.Leases, shiftLeases))
		all.add(t)
		if err != nil {
			return all, fmt.Errorf("seed %d, shift %d: %w", seed, n, err)
		}
	}
	return all, nil
}

// shift is one room during a run. Times are unix ms.
type shift struct {
	World
	store  Store
	engine *room.Engine
	r      *rand.Rand
	counts Counts

	now      int64
	events   events
	sellers  map[int64]*seller  // by ticket
	holder   *seller            // nil = none
	texts    map[string]carried // the last recipient of each text
	messages int
}

// carried is the lease that got a text.
type carried struct {
	to *seller
	at int64
}

func play(ctx context.Context, store Store, w World, r *rand.Rand, leases int) (Counts, error) {
	if err := store.Client.FlushAll(ctx).Err(); err != nil {
		return Counts{}, fmt.Errorf("empty the store: %w", err)
	}
	quarantine := w.Quarantine
	if quarantine == 0 {
		quarantine = -1
	}
	s := &shift{World: w, store: store, r: r, now: opening, sellers: map[int64]*seller{},
		texts: map[string]carried{},
		engine: room.New(store.Client, room.Config{Quarantine: quarantine, Required: w.Required,
			Leases: 2 * time.Hour, Silent: true})}
	s.store.SetTime(room.Time(s.now))
	if err := s.join(ctx); err != nil {
		return s.counts, err
	}
	s.nextAdvert()
	for s.counts.Leases < leases {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		s.store.SetTime(room.Time(s.now))
		if err := e.do(ctx); err != nil {
			return s.counts, fmt.Errorf("at %d ms: %w", s.now-opening, err)
		}
	}
	s.counts.Played += time.Duration(s.now-opening) * time.Millisecond
	return s.counts, nil
}

// after schedules a function.
func (s *shift) after(ms int64, do func(context.Context) error) {
	s.events.count++
	heap.Push(&s.events, event{at: s.now + max(ms, 0), n: s.events.count, do: do})
}

// chance returns true in a share of all calls.
func (s *shift) chance(share float64) bool { return s.r.Float64() < share }

// between returns a random time between two numbers of seconds, in ms.
func (s *shift) between(from, to float64) int64 {
	return int64(1000 * (from + (to-from)*s.r.Float64()))
}

// see records the room's state: the holder, the end of its lease, and whether the line is full. A refusal has
// the state as well; a store's error ends the shift.
func (s *shift) see(ctx context.Context, v room.View, err error) error {
	s.counts.Calls++
	if err != nil && !room.Refused(err) {
		return err
	}
	if v.Lease == nil {
		return errors.New("no seller holds the lock though there is a line")
	}
	if s.holder == nil || s.holder.ticket != v.Lease.Ticket {
		if s.holder != nil {
			s.holder.ended = s.now
		}
		if s.holder = s.sellers[v.Lease.Ticket]; s.holder == nil {
			return fmt.Errorf("no seller has the holder's ticket %d", v.Lease.Ticket)
		}
		s.granted(s.holder, v.Lease)
	}
	if at := v.Lease.ExpiresAt; at != s.holder.expires {
		s.expires(s.holder, at)
	}
	if v.Waiting < s.LineLength {
		return s.join(ctx)
	}
	return nil
}

// expires ends the lease on time, unless its end is moved.
func (s *shift) expires(g *seller, at int64) {
	g.expires = at
	s.after(at-s.now, func(ctx context.Context) error {
		if s.holder != g || g.expires != at {
			return nil
		}
		checked, err := s.engine.Expire(ctx, integration)
		if err = s.see(ctx, checked.View, err); err == nil && s.holder == g {
			err = errors.New("a lease that is over goes on")
		}
		return err
	})
}

// event is a scheduled function; of two at one time, the one that was scheduled first runs first.
type event struct {
	at int64
	n  int
	do func(context.Context) error
}

// events is a heap.
type events struct {
	list  []event
	count int
}

func (e events) Len() int { return len(e.list) }
func (e events) Less(i, j int) bool {
	a, b := e.list[i], e.list[j]
	return a.at < b.at || a.at == b.at && a.n < b.n
}
func (e events) Swap(i, j int) { e.list[i], e.list[j] = e.list[j], e.list[i] }
func (e *events) Push(x any)   { e.list = append(e.list, x.(event)) }
func (e *events) Pop() any {
	last := e.list[len(e.list)-1]
	e.list = e.list[:len(e.list)-1]
	return last
}
