package faults

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
)

// flooded is a room of its own, so that its sellers are in no other line.
const flooded = prefix + "flooded"

// floodJoins lets many sessions join and leave a room at once.
func floodJoins(n int) Step {
	return Step{fmt.Sprintf("%d joins at once", n), func(ctx context.Context, r *Run) error {
		p := r.victim()
		return r.fault("flood of joins", nil, func() (string, error) {
			since := r.history.Len()
			var all errgroup.Group
			all.SetLimit(64)
			var joined atomic.Int64
			for i := range n {
				s := &seller{run: r, room: flooded, name: fmt.Sprint("flood-", i), session: r.session(r.rng)}
				all.Go(func() error {
					if got, err := p.do(ctx, s.join()); err == nil && got.http < 300 {
						joined.Add(1)
					}
					return until(patience, func() error { // also what had no answer may have a place
						got, err := p.do(ctx, s.leaving())
						if err == nil && got.http >= 500 {
							err = fmt.Errorf("leave: %d", got.http)
						}
						return err
					})
				})
			}
			if err := all.Wait(); err != nil {
				return "", err
			}
			if joined.Load() == 0 {
				return "", errUnmet
			}
			return fmt.Sprintf("%d joined; slowest call of the others %s", joined.Load(),
				r.slowest(since).Round(time.Millisecond)), nil
		})
	}}
}

// manySockets opens sockets on one replica and kills it: all have to reconnect to the others.
func manySockets(n int) Step {
	return Step{fmt.Sprintf("%d sockets lose their replica", n), func(ctx context.Context, r *Run) error {
		p := r.victim()
		to := r.replicas[0]
		if to == p {
			to = r.replicas[1]
		}
		open, err := r.spectate(ctx, p, n)
		if err != nil {
			return err
		}
		return r.fault("SIGKILL "+p.name+" with "+fmt.Sprint(n)+" sockets", []*replica{p}, func() (string, error) {
			since := r.history.Len()
			r.askLast(ctx, p)
			p.process.Kill()
			closeAll(open)
			began := time.Now()
			again, err := r.spectate(ctx, to, n)
			back := time.Since(began)
			closeAll(again)
			if err != nil {
				return "", err
			}
			slowest := r.slowest(since)
			return fmt.Sprintf("%d got a true state elsewhere after %s; slowest call of the others %s",
				len(again), back.Round(time.Millisecond), slowest.Round(time.Millisecond)), p.start()
		})
	}}
}

// spectate opens sockets of spectators, and returns when each has a state.
func (r *Run) spectate(ctx context.Context, p *replica, n int) (open []*websocket.Conn, err error) {
	conns := make([]*websocket.Conn, n)
	var all errgroup.Group
	all.SetLimit(64)
	for i := range conns {
		all.Go(func() (err error) {
			conns[i], _, err = websocket.Dial(ctx, "ws://"+p.front.addr+"/api/"+r.rooms[i%len(r.rooms)]+"/ws", nil)
			if err == nil {
				_, _, err = conns[i].Read(ctx)
			}
			return err
		})
	}
	err = all.Wait()
	for _, c := range conns {
		if c != nil {
			open = append(open, c)
		}
	}
	return open, err
}

func closeAll(conns []*websocket.Conn) {
	for _, c := range conns {
		_ = c.CloseNow()
	}
}

// slowReaders opens sockets that never read.
func slowReaders(n int, d time.Duration) Step {
	return Step{fmt.Sprintf("%d sockets that never read", n), func(ctx context.Context, r *Run) error {
		p := r.victim()
		return r.fault("slow readers", nil, func() (string, error) {
			since := r.history.Len()
			client := &http.Client{Transport: &http.Transport{DialContext: dialSmall}}
			var open []*websocket.Conn
			defer func() { closeAll(open) }()
			for i := range n {
				c, _, err := websocket.Dial(ctx, "ws://"+p.addr+"/api/"+r.rooms[i%probe]+"/ws",
					&websocket.DialOptions{HTTPClient: client})
				if err != nil {
					return "", err
				}
				open = append(open, c)
			}
			err := pause(ctx, d)
			return fmt.Sprintf("%d opened; slowest call of the others %s", len(open),
				r.slowest(since).Round(time.Millisecond)), err
		})
	}}
}

// dialSmall dials with a small receive buffer.
func dialSmall(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, addr)
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetReadBuffer(1 << 10)
	}
	return conn, err
}

// floodPings opens sockets that send pings without pause.
func floodPings(n int, d time.Duration) Step {
	return Step{fmt.Sprintf("%d sockets that ping without end", n), func(ctx context.Context, r *Run) error {
		p := r.victim()
		return r.fault("flood of pings", nil, func() (string, error) {
			since := r.history.Len()
			flooding, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			open, err := r.spectate(ctx, p, n)
			defer closeAll(open)
			if err != nil {
				return "", err
			}
			var all errgroup.Group
			var sent atomic.Int64
			for _, c := range open {
				go func() { _, _, _ = c.Read(flooding) }() // takes in the pongs until it is closed
				all.Go(func() error {
					for c.Ping(flooding) == nil {
						sent.Add(1)
					}
					return nil
				})
			}
			_ = all.Wait() // none returns one
			if sent.Load() == 0 {
				return "", errUnmet
			}
			return fmt.Sprintf("%d pings; slowest call of the others %s", sent.Load(),
				r.slowest(since).Round(time.Millisecond)), nil
		})
	}}
}
