package server

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

const (
	pacesKept    = 1000 // rooms
	pacesAtOnce  = 4    // reads of the database
	paceFresh    = time.Hour
	paceRetry    = time.Minute            // after a failure
	paceTimeout  = 5 * time.Second        // of a read
	pacePatience = 100 * time.Millisecond // of a page, from the read's beginning
)

// paces remembers how long each room's leases were held, by the ledger. The database is asked once an hour
// and room, and no page waits long for it.
type paces struct {
	read  func(ctx context.Context, id room.ID, now int64) (read.Pace, error)
	slots chan struct{}

	mu    sync.Mutex
	known *lru.Cache[room.ID, *paceRead]
}

// paceRead is one read of the ledger. Its results are set before done is closed.
type paceRead struct {
	began time.Time
	done  chan struct{}
	pace  read.Pace
	err   error
}

func newPaces(from func(ctx context.Context, id room.ID, now int64) (read.Pace, error)) *paces {
	known, err := lru.New[room.ID, *paceRead](pacesKept)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return &paces{read: from, slots: make(chan struct{}, pacesAtOnce), known: known}
}

// pace returns how long a room's leases were held, by the ledger; see web.Config.
func (s *Server) pace() func(id room.ID, now int64) (hold, spread time.Duration) {
	p := newPaces(func(ctx context.Context, id room.ID, now int64) (read.Pace, error) {
		return s.ledger.Pace(ctx, id, now, s.engine.Terms(id).Lease)
	})
	return func(id room.ID, now int64) (hold, spread time.Duration) {
		known := p.of(id, now)
		return known.Hold, known.Spread
	}
}

// of returns a room's pace at the time `now`, in unix ms of Redis's clock. It is zero if it is not known.
func (p *paces) of(id room.ID, now int64) read.Pace {
	r := p.current(id, now)
	if r == nil {
		return read.Pace{}
	}
	patience := time.NewTimer(time.Until(r.began.Add(pacePatience)))
	defer patience.Stop()
	select {
	case <-r.done:
	case <-patience.C:
		if !r.over() {
			return read.Pace{}
		}
	}
	return r.pace
}

// current returns the room's last read, or begins another. It returns nil if too many are in progress.
func (p *paces) current(id room.ID, now int64) *paceRead {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.known.Get(id); ok && r.counts() {
		return r
	}
	select {
	case p.slots <- struct{}{}:
	default:
		return nil
	}
	r := &paceRead{began: time.Now(), done: make(chan struct{})}
	p.known.Add(id, r)
	go func() {
		defer func() { <-p.slots }()
		defer close(r.done)
		ctx, cancel := context.WithTimeout(context.Background(), paceTimeout)
		defer cancel()
		r.pace, r.err = p.read(ctx, id, now)
	}()
	return r
}

// over reports whether the read has its results.
func (r *paceRead) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// counts reports whether a read is in progress, or recent enough.
func (r *paceRead) counts() bool {
	switch age := time.Since(r.began); {
	case !r.over():
		return true
	case r.err != nil:
		return age < paceRetry
	default:
		return age < paceFresh
	}
}
