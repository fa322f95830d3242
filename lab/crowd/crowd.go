package crowd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// crowd is one run.
type crowd struct {
	cfg     Config
	dialer  Dialer
	api     *api
	carrier *carrier
	stats   *stats
	halls   []*hall
	sellers []*seller
	people  sync.WaitGroup
	offset  atomic.Int64 // of Redis's clock from ours, ms
	clocked atomic.Bool
	codes   atomic.Int64
}

// hall is one room.
type hall struct {
	id    string
	model *Model

	mu    sync.Mutex
	fence int64     // of the lease to end
	since time.Time // when it did so
}

// Run sends sellers to a server for a duration or until ctx ends, and then lets them leave. At the end it
// asks the server for the state of each seller with a place. The summary has the broken rules; the error
// means that the run could not take place.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	c, err := gather(cfg)
	if err != nil {
		return Summary{}, err
	}
	defer c.api.close()
	if err := c.begin(); err != nil {
		return Summary{}, err
	}
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, c.cfg.Duration)
	defer stop()
	for _, s := range c.sellers {
		c.people.Go(func() { s.run(ctx) })
	}
	c.watch(ctx, began)
	took := time.Since(began)
	c.interrupt()
	c.people.Wait()
	c.carrier.way.Wait()
	unaudited := c.audit()
	summary := c.summary(took, unaudited)
	if !c.cfg.Stay {
		c.leave()
	}
	return summary, nil
}

// gather makes all sellers, each from its seed.
func gather(cfg Config) (*crowd, error) {
	if err := cfg.finish(); err != nil {
		return nil, err
	}
	c := &crowd{cfg: cfg, dialer: Dialer{Anywhere: cfg.Anywhere}, stats: newStats()}
	run := uuid.NewString()
	c.codes.Store(rand.Int64N(codeSpan))
	var err error
	if c.carrier, err = newCarrier(c, run); err != nil {
		return nil, err
	}
	n := 0
	for _, r := range cfg.Rooms {
		h := &hall{id: r.Room, model: NewModel(r.Room, cfg.Rules)}
		h.model.granted = func(session string, s State, at time.Time) { c.stats.granted(h, session, s, at) }
		c.halls = append(c.halls, h)
		for range r.People {
			c.sellers = append(c.sellers, c.seller(h, n, run[:8]))
			n++
		}
	}
	shuffle := rand.New(rand.NewPCG(cfg.Seed, 0))
	shuffle.Shuffle(n, func(i, j int) {
		c.sellers[i].start, c.sellers[j].start = c.sellers[j].start, c.sellers[i].start
	})
	c.api = newAPI(c.dialer)
	return c, nil
}

func (c *crowd) seller(h *hall, n int, run string) *seller {
	rng := rand.New(rand.NewPCG(c.cfg.Seed, uint64(n)+1))
	s := &seller{kind: c.cfg.Mix.kind(rng.IntN(100)), name: fmt.Sprintf("crowd-%s-%d", run, n),
		codes: map[string]bool{},
		start: time.Duration(float64(n) / c.cfg.Arrivals * float64(time.Second))}
	s.line = line{c: c, hall: h, rng: rng, session: uuid.NewString(), replica: rng.IntN(len(c.cfg.URLs))}
	if s.kind == tabbed {
		for i := range 1 + rng.IntN(3) {
			s.extra = append(s.extra, &line{c: c, hall: h, session: s.session, replica: n + i,
				rng: rand.New(rand.NewPCG(c.cfg.Seed, uint64(n)+1+uint64(i+1)<<32))})
		}
	}
	return s
}

// kind returns the behaviour of the n-th of a hundred sellers.
func (m Mix) kind(n int) kind {
	for _, k := range []struct {
		of   kind
		many int
	}{{impatient, m.Impatient}, {sleeping, m.Sleeping}, {reloading, m.Reloading}, {tabbed, m.Tabs},
		{forgetful, m.Forgetful}} {
		if n -= k.many; n < 0 {
			return k.of
		}
	}
	return steady
}

// begin reads the state of each room before the first seller joins.
func (c *crowd) begin() error {
	for _, h := range c.halls {
		got, err := c.api.do(c.cfg.URLs[0], call{method: http.MethodGet, path: "/api/" + h.id + "/lock/status"})
		if err != nil {
			return fmt.Errorf("room %s: %w", h.id, err)
		}
		if got.status != http.StatusOK {
			return fmt.Errorf("room %s: %d %s", h.id, got.status, got.Code)
		}
		h.model.Begin(got.Epoch, got.Version, got.Length)
	}
	return nil
}

const settleEvery = 250 * time.Millisecond

// watch judges what has settled and reports progress, until ctx ends.
func (c *crowd) watch(ctx context.Context, began time.Time) {
	settle, report := time.NewTicker(settleEvery), time.NewTicker(time.Second)
	defer settle.Stop()
	defer report.Stop()
	before := Line{}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-settle.C:
			for _, h := range c.halls {
				h.model.Settle(now)
			}
		case now := <-report.C:
			l := c.line(now.Sub(began))
			if c.cfg.Every != nil {
				c.cfg.Every(l.since(before))
			}
			before = l
		}
	}
}

// interrupt ends every read, once ctx has ended.
func (c *crowd) interrupt() {
	for _, s := range c.sellers {
		s.interrupt()
		for _, tab := range s.extra {
			tab.interrupt()
		}
	}
}

// audit asks for the state of every seller with a place and judges the rest. It returns how many sellers got
// no answer.
func (c *crowd) audit() (unaudited int) {
	var failed atomic.Int64
	c.each(func(s *seller) {
		if err := s.standing(); err != nil {
			failed.Add(1)
			c.stats.failed("audit: " + briefly(err))
		}
	})
	for _, h := range c.halls {
		h.model.Finish()
	}
	return int(failed.Load())
}

// leave ends every place, the last in line first, so that no waiter is granted meanwhile.
func (c *crowd) leave() {
	c.each(func(s *seller) {
		_, _ = c.api.do(s.base(), call{method: http.MethodDelete, path: "/api/" + s.hall.id + "/lock",
			session: s.session})
	})
}

// each runs a function for all sellers with a place, several at a time, the latest first.
func (c *crowd) each(f func(*seller)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, requesters)
	for i := range c.sellers {
		s := c.sellers[len(c.sellers)-1-i]
		if !s.hall.model.has(s.session) {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			f(s)
			<-slots
		})
	}
	all.Wait()
}

// has reports whether a session has a live place.
func (m *Model) has(session string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.person(session).ticket != 0
}

// heard estimates the difference between Redis's clock and this machine's. The frame with the shortest way is
// the most exact.
func (c *crowd) heard(serverTime int64, now time.Time) {
	offset := serverTime - now.UnixMilli()
	if c.clocked.CompareAndSwap(false, true) {
		c.offset.Store(offset)
		return
	}
	for before := c.offset.Load(); offset > before && !c.offset.CompareAndSwap(before, offset); {
		before = c.offset.Load()
	}
}

// redisNow returns an estimate of Redis's time.
func (c *crowd) redisNow() time.Time {
	return time.Now().Add(time.Duration(c.offset.Load()) * time.Millisecond)
}

const codeSpan = 90_000_000

// code returns a new code. The same text within ten minutes would count as the same message.
func (c *crowd) code() string { return fmt.Sprint(10_000_000 + c.codes.Add(1)%codeSpan) }
