package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
)

// backFirst is the longest delay of a browser before its first reconnect, by the contract; the next delays
// are twice as long each.
const backFirst = time.Second

// waiters are many sellers in a room of their own who only wait, each with a socket that reconnects. The
// first one holds the lock. They connect through haproxy, and no link of theirs is disturbed.
type waiters struct {
	run    *Run
	room   string
	door   *replica
	people []*waiter // in the order of the line
	stop   context.CancelFunc
	gone   sync.WaitGroup

	mu      sync.Mutex
	lost    int           // sockets, since the last look
	refused []string      // why tries to come back failed, likewise
	longest time.Duration // without a socket that has a state, likewise
	// the same for sellers whose first reconnect was cut off when the balancer removed the replica
	again time.Duration
}

// waiter is one of them, guarded by waiters.mu.
type waiter struct {
	session string
	ticket  int64
	last    frame     // since it has this socket
	without time.Time // since when it has none; zero while it has
	refused bool      // since then
}

// gather joins n sellers and opens their sockets. It returns when all have a state; the caller calls leave.
func (r *Run) gather(ctx context.Context, n int) (*waiters, error) {
	w := &waiters{run: r, room: prefix + "waiters", door: r.doors[0], people: make([]*waiter, n)}
	var all errgroup.Group
	all.SetLimit(32)
	for i := range w.people {
		session := r.session(r.rng)
		all.Go(func() error {
			got, err := r.insisting(ctx, w.join(session, i))
			w.people[i] = &waiter{session: session, ticket: got.Ticket, without: time.Now()}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(w.people, func(a, b *waiter) int { return int(a.ticket - b.ticket) })
	ctx, w.stop = context.WithCancel(ctx)
	for i, p := range w.people {
		if i%64 == 63 { // no more at a time than a socket's opening takes
			if err := pause(ctx, 10*time.Millisecond); err != nil {
				return w, err
			}
		}
		w.gone.Go(func() { w.wait(ctx, p) })
	}
	if err := until(patience, w.allThere); err != nil {
		return w, err
	}
	w.look()
	return w, nil
}

func (w *waiters) join(session string, n int) call {
	return call{method: http.MethodPost, path: "/api/" + w.room + "/lock", room: w.room, session: session,
		body: fmt.Sprintf(`{"seller_id":"waiter-%d"}`, n)}
}

// wait keeps a socket open until ctx ends.
func (w *waiters) wait(ctx context.Context, p *waiter) {
	for most := backFirst; ctx.Err() == nil; most *= 2 {
		if w.connection(ctx, p) {
			most = backFirst
		}
		_ = pause(ctx, rand.N(most))
	}
}

// connection reads one socket to its end; it returns false if the socket never received a state.
func (w *waiters) connection(ctx context.Context, p *waiter) (had bool) {
	opening, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, _, err := websocket.Dial(opening, "ws://"+w.door.addr+"/api/"+w.room+"/ws",
		&websocket.DialOptions{HTTPHeader: http.Header{"X-Session-Id": {p.session}}})
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.refused, p.refused = append(w.refused, err.Error()), true
		return false
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		var f frame
		_, text, err := conn.Read(ctx)
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		switch {
		case err != nil:
			if had && ctx.Err() == nil {
				w.loses(p)
			}
			return had
		case f.Type == "ping":
			// if the write fails, the next read fails too
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"pong"}`))
		case f.Type == "state":
			had = true
			w.take(p, f)
		}
	}
}

func (w *waiters) take(p *waiter, f frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !p.without.IsZero() {
		w.waited(p)
		p.without = time.Time{}
	}
	p.last = f
}

// waited records how long a seller has been without a socket. The caller holds the lock.
func (w *waiters) waited(p *waiter) {
	longest := &w.longest
	if p.refused {
		longest = &w.again
	}
	*longest = max(*longest, time.Since(p.without))
}

func (w *waiters) loses(p *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost++
	p.without, p.last, p.refused = time.Now(), frame{}, false
}

// look returns what happened since the last look: the number of lost sockets, the refused reconnects, and the
// longest time without a socket, of sellers that were not refused and of those that were.
func (w *waiters) look() (lost int, refused []string, longest, again time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.people {
		if !p.without.IsZero() {
			w.waited(p)
		}
	}
	lost, refused, longest, again = w.lost, w.refused, w.longest, w.again
	w.lost, w.refused, w.longest, w.again = 0, nil, 0, 0
	return lost, refused, longest, again
}

func (w *waiters) allThere() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, p := range w.people {
		if !p.without.IsZero() {
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d of %d have no socket", n, len(w.people))
	}
	return nil
}

// inOrder requires that every socket shows its own ticket and the right position: one holds, the others are
// 1, 2, 3 … by ticket.
func (w *waiters) inOrder() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, p := range w.people {
		status := "waiting"
		if i == 0 {
			status = "locked"
		}
		if f := p.last; f.Status != status || f.Ticket != p.ticket || f.Position != int64(i) {
			return fmt.Errorf("ticket %d, %d from the front, is shown %s with ticket %d at position %d", p.ticket, i,
				f.Status, f.Ticket, f.Position)
		}
	}
	return nil
}

// handOn lets the holder leave, and returns the next lease.
func (w *waiters) handOn(ctx context.Context) (lease, error) {
	if _, err := w.run.insisting(ctx, w.leaving(w.people[0])); err != nil {
		return lease{}, err
	}
	w.people = w.people[1:] // whose socket stays, and gets the end of its place
	return w.held(ctx)
}

// held returns the holder's lease, from the API.
func (w *waiters) held(ctx context.Context) (lease, error) {
	p := w.people[0]
	got, err := w.run.insisting(ctx, call{op: "status", method: http.MethodGet,
		path: "/api/" + w.room + "/lock/status", session: p.session})
	if err != nil {
		return lease{}, err
	}
	me := got.mine("status")
	if me.Status != "locked" || me.ExpiresAt == nil {
		return lease{}, fmt.Errorf("ticket %d does not hold the lock: it is %s", p.ticket, me.Status)
	}
	return lease{ticket: me.Ticket, fence: me.Fence, expires: me.ExpiresAt.UnixMilli()}, nil
}

func (w *waiters) leaving(p *waiter) call {
	return call{method: http.MethodDelete, path: "/api/" + w.room + "/lock", session: p.session}
}

// leave closes all sockets and gives up all places, the last one's first, so that no further waiter is
// granted.
func (w *waiters) leave(ctx context.Context) error {
	if w.stop != nil {
		w.stop()
	}
	w.gone.Wait()
	var all errgroup.Group
	all.SetLimit(32)
	for _, p := range slices.Backward(w.people) {
		all.Go(func() error {
			_, err := w.run.insisting(ctx, w.leaving(p))
			return err
		})
	}
	return all.Wait()
}

// insisting repeats a call until it is answered, without recording it.
func (r *Run) insisting(ctx context.Context, c call) (got answer, err error) {
	err = until(patience, func() error {
		if got, err = r.doors[0].do(ctx, c); err == nil && got.http >= http.StatusInternalServerError {
			err = fmt.Errorf("%s %s: %d %s", c.method, c.path, got.http, got.Code)
		}
		return err
	})
	return got, err
}
