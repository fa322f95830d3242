package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

// serve starts one of lab/peers's servers.
func (b *bench) serve(ctx context.Context, home *stack.Stack, name, what string, args ...string) (addr string,
	child *stack.Child, err error) {
	if addr, err = stack.Address(); err != nil {
		return "", nil, err
	}
	if child, err = home.Launch(name, exec.Command(b.peers,
		append([]string{"-serve", what, "-addr", addr}, args...)...)); err != nil {
		return "", nil, err
	}
	return addr, child, child.Until(ctx, func() error { return stack.Ready("http://" + addr) })
}

// relay measures the least time from a request at one process to a socket of another process through Redis.
// Nothing is decided on the way, and no other socket is written to.
type relay struct {
	ask    *conn
	socket *crowd.Socket
}

func (b *bench) startRelay(ctx context.Context, s *site) (*relay, error) {
	var addrs [2]string
	for i := range addrs {
		var err error
		if addrs[i], _, err = b.serve(ctx, s.Stack, fmt.Sprint("relay ", i), "relay", "-redis",
			s.addr); err != nil {
			return nil, err
		}
	}
	socket, err := crowd.Dialer{}.Open(ctx, "http://"+addrs[1], "/ws", "")
	if err != nil {
		return nil, err
	}
	ask, err := dial(addrs[0])
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	return &relay{ask, socket}, nil
}

func (r *relay) close() {
	_ = r.socket.Close()
	_ = r.ask.Close()
}

// once returns the time from the first byte of the request until the frame was read.
func (r *relay) once(n int) (time.Duration, error) {
	heard := make(chan error, 1)
	var at time.Time
	go func() {
		_, err := r.socket.Read(time.Now().Add(frameWithin))
		at = time.Now()
		heard <- err
	}()
	time.Sleep(time.Millisecond) // the reader waits
	began := time.Now()
	if _, err := r.ask.ask("POST", "/push", "", fmt.Sprintf(frame, n)); err != nil {
		return 0, err
	}
	if err := <-heard; err != nil {
		return 0, err
	}
	return at.Sub(began), nil
}
