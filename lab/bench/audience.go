package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	openers    = 64 // sockets being opened at a time
	dialWithin = 20 * time.Second
	firstRetry = time.Second // at most, as the contract has it
	centrifugo = "{}"        // its ping, and its pong
)

// opener opens the n-th socket.
type opener func(ctx context.Context, n int) (*crowd.Socket, error)

// audience is many open sockets and the last state of each.
type audience struct {
	open  opener
	heard func(n int, s crowd.State, at time.Time) // in the socket's goroutine; may be nil
	again opener                                   // where who loses its socket goes; nil = nowhere

	mu      sync.Mutex
	sockets []*crowd.Socket
	last    []crowd.State
	at      []time.Time
	lost    int
	want    int64 // the version that all are waited for with; 0 = none
	missing int
	full    chan struct{}
	closed  bool
	ctx     context.Context // of those who come back
	end     context.CancelFunc
	readers sync.WaitGroup
}

func newAudience(ctx context.Context, open opener) *audience {
	a := &audience{open: open}
	a.ctx, a.end = context.WithCancel(ctx)
	return a
}

// grow opens sockets until there are n.
func (a *audience) grow(ctx context.Context, n int) error {
	from := len(a.sockets)
	a.mu.Lock()
	a.sockets = slices.Grow(a.sockets, n-from)[:n]
	a.last, a.at = slices.Grow(a.last, n-from)[:n], slices.Grow(a.at, n-from)[:n]
	a.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(openers)
	for i := from; i < n; i++ {
		group.Go(func() (err error) {
			for try := range joinTries {
				if err = a.seat(ctx, a.open, i); !busy(err) || !stack.Pause(ctx, time.Duration(try)*time.Second) {
					break
				}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("open %d sockets: %w", n, err)
	}
	return nil
}

// seat opens a socket and starts the goroutine that reads it.
func (a *audience) seat(ctx context.Context, open opener, i int) error {
	socket, err := a.dial(ctx, open, i)
	if err == nil {
		a.readers.Go(func() { a.follow(i, socket) })
	}
	return err
}

func (a *audience) dial(ctx context.Context, open opener, i int) (*crowd.Socket, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	socket, err := open(ctx, i)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		_ = socket.Close() // its reader finds out
	}
	a.sockets[i] = socket
	return socket, nil
}

// follow reads a socket to its end and then, if the client reconnects, the next socket. One goroutine does
// both, so that its stack has to grow only once.
func (a *audience) follow(i int, socket *crowd.Socket) {
	for socket != nil {
		a.read(i, socket)
		socket = a.back(i)
	}
}

// back opens a new socket for a lost one; nil if the client does not reconnect.
func (a *audience) back(i int) *crowd.Socket {
	if !a.gone(i) {
		return nil
	}
	for most := firstRetry; stack.Pause(a.ctx, rand.N(most)); most *= 2 {
		if socket, err := a.dial(a.ctx, a.again, i); err == nil {
			return socket
		}
	}
	return nil
}

func (a *audience) read(i int, socket *crowd.Socket) {
	defer func() { _ = socket.Close() }()
	for {
		text, err := socket.Read(time.Time{})
		if err != nil {
			return
		}
		now := time.Now()
		state, ok := crowd.ReadState(text)
		switch {
		case ok:
			a.received(i, state, now)
		case crowd.IsPing(text):
			_ = socket.Pong()
		}
		if pinged(text) {
			_ = socket.Send(centrifugo)
		}
	}
}

// pinged reports whether Centrifugo expects a pong. A frame of Centrifugo may hold several messages, one on
// each line.
func pinged(text []byte) bool {
	line := []byte(centrifugo)
	return bytes.Equal(text, line) || bytes.HasPrefix(text, append(line, '\n')) ||
		bytes.HasSuffix(text, []byte("\n"+centrifugo))
}

func (a *audience) received(i int, s crowd.State, at time.Time) {
	a.mu.Lock()
	before := a.last[i].Version
	a.last[i], a.at[i] = s, at
	if a.want > 0 && before < a.want && s.Version >= a.want {
		if a.missing--; a.missing == 0 {
			close(a.full)
		}
	}
	a.mu.Unlock()
	if a.heard != nil {
		a.heard(i, s, at)
	}
}

// gone counts a lost socket, and reports whether its client reconnects.
func (a *audience) gone(i int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.lost++
	if a.again == nil {
		return false
	}
	a.last[i] = crowd.State{}
	return true
}

// until waits until every socket has this version or a later one. It returns the time at which the last
// socket had it.
func (a *audience) until(ctx context.Context, version int64) (last time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	full := make(chan struct{})
	a.mu.Lock()
	a.want, a.missing, a.full = version, 0, full
	for _, s := range a.last {
		if s.Version < version {
			a.missing++
		}
	}
	if a.missing == 0 {
		close(full)
	}
	a.mu.Unlock()
	select {
	case <-full:
	case <-ctx.Done():
		err = ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.want = 0
	if err != nil {
		return last, fmt.Errorf("%d of %d did not get version %d (%d lost their socket): %w", a.missing,
			len(a.last), version, a.lost, err)
	}
	return slices.MaxFunc(a.at, time.Time.Compare), nil
}

// truly returns an error unless the waiters' positions are 1, 2, 3 …, each once.
func (a *audience) truly() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var positions []int64
	for _, s := range a.last {
		if s.Status == "waiting" {
			positions = append(positions, s.Position)
		}
	}
	slices.Sort(positions)
	for i, p := range positions {
		if p != int64(i+1) {
			return fmt.Errorf("positions are wrong: %d stands where %d must, of %d", p, i+1, len(positions))
		}
	}
	if len(positions) == 0 {
		return errors.New("no seller waits")
	}
	return nil
}

// close ends all sockets.
func (a *audience) close() {
	a.end()
	a.mu.Lock()
	a.closed = true
	sockets := slices.Clone(a.sockets)
	a.mu.Unlock()
	for _, s := range sockets {
		if s != nil {
			_ = s.Close()
		}
	}
	a.readers.Wait()
}

// seats returns an opener of waitroom's sockets, which picks each person's room.
func seats(url string, room func(int) string, all []person) opener {
	return func(ctx context.Context, i int) (*crowd.Socket, error) {
		return crowd.Dialer{}.Dial(ctx, url, room(i), all[i].session)
	}
}

// one returns a function that puts every person into the same room.
func one(room string) func(int) string { return func(int) string { return room } }
