package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
	"github.com/waitroom/waitroom/lab/stack"
)

const (
	roundIs     = 10 * time.Minute // by Redis's clock
	rounds      = int(time.Hour / roundIs)
	quietWithin = time.Minute
)

// play plays all hours and returns the measurements of each.
func (d *day) play(ctx context.Context) (hours []sample, err error) {
	for i := range d.config.rooms {
		d.rooms = append(d.rooms, &room{day: d, id: fmt.Sprint("day:", i+1)})
	}
	for h := range d.hours {
		if h%signInFor == 0 {
			if err := d.signIn(ctx); err != nil {
				return nil, err
			}
		}
		hour, err := d.hour(ctx, h)
		if err != nil {
			return nil, fmt.Errorf("hour %d: %w", h+1, err)
		}
		hours = append(hours, hour)
	}
	return hours, nil
}

// hour plays six rounds of ten minutes, each followed by a measurement.
func (d *day) hour(ctx context.Context, h int) (sample, error) {
	began := time.Now()
	watchers, err := d.watch(ctx)
	defer func() {
		for _, w := range watchers {
			_ = w.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	var list []sample
	for n := h * rounds; n < (h+1)*rounds; n++ {
		if err := d.round(ctx, n); err != nil {
			return nil, err
		}
		s, err := d.sample(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
		if err := d.until(time.Duration(n+1) * roundIs); err != nil {
			return nil, err
		}
	}
	if !stack.Pause(ctx, d.pace-time.Since(began)) {
		return nil, ctx.Err()
	}
	m := mean(list)
	if (h+1)%5 == 0 {
		log.Printf("hour %d: %.0f keys, %.1f MiB of Redis, %.1f and %.1f MiB of replicas, %s", h+1, m["keys"],
			m["used"], m["rss 1"], m["rss 2"],
			time.Since(began).Round(10*time.Millisecond))
	}
	return m, nil
}

// watch opens sockets of spectators for an hour.
func (d *day) watch(ctx context.Context) (list []*crowd.Socket, err error) {
	for _, r := range d.rooms {
		for _, replica := range d.replicas {
			socket, err := (crowd.Dialer{}).Dial(ctx, replica.URL(), r.id, "")
			if err != nil {
				return list, err
			}
			d.count.sockets.Add(1)
			list = append(list, socket)
			go drain(socket)
		}
	}
	return list, nil
}

// drain reads until the socket is closed.
func drain(socket *crowd.Socket) {
	for {
		if _, err := socket.Read(time.Time{}); err != nil {
			return
		}
	}
}

// quiet waits until no more is open than was before the first seller came. wrong names what is still open
// after the longest wait; nil = nothing is.
func (d *day) quiet(ctx context.Context) (wrong, err error) {
	d.client.CloseIdleConnections()
	deadline := time.Now().Add(quietWithin)
	for {
		after, err := d.sample(ctx)
		if err != nil {
			return nil, err
		}
		wrong = left(d.atStart, after)
		if wrong == nil || time.Now().After(deadline) {
			log.Printf("goroutines of the replicas: %.0f and %.0f before anybody came, %.0f and %.0f now; open "+
				"files: %.0f and %.0f, %.0f and %.0f",
				d.atStart["goroutines 1"], d.atStart["goroutines 2"], after["goroutines 1"], after["goroutines 2"],
				d.atStart["files 1"], d.atStart["files 2"], after["files 1"], after["files 2"])
			return wrong, nil
		}
		if !stack.Pause(ctx, time.Second) {
			return nil, ctx.Err()
		}
	}
}
