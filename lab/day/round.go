package main

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"
)

// round plays ten minutes of one room in full use: five leases of two minutes.
func (r *room) round(ctx context.Context, n int) error {
	if r.next != nil { // the lease before was not ended by anybody: the clock did
		r.count.leases.Add(1)
		if err := r.press(ctx, r.next, http.StatusOK); err != nil {
			return err
		}
		if err := r.ended(ctx, r.next, "completed"); err != nil {
			return err
		}
	}
	coded, err := r.join(ctx, http.StatusOK)
	if err != nil {
		return err
	}
	defer coded.disconnect()
	line, err := r.line(ctx, n)
	if err != nil {
		return err
	}
	if err := r.coded(ctx, coded); err != nil {
		return err
	}
	if err := r.uncoded(ctx, line[0], n); err != nil {
		return err
	}
	if err := r.forced(ctx, line[1], n); err != nil {
		return err
	}
	return r.hold(ctx)
}

// line joins two sellers who wait, behind one who joined before them and gave up.
func (r *room) line(ctx context.Context, n int) (line [2]*seller, err error) {
	gone, err := r.join(ctx, http.StatusAccepted)
	if err != nil {
		return line, err
	}
	defer gone.disconnect()
	if err := r.connect(ctx, gone); err != nil {
		return line, err
	}
	for i := range line {
		if line[i], err = r.join(ctx, http.StatusAccepted); err != nil {
			return line, err
		}
	}
	r.count.waiters.Add(1)
	if n%6 == 1 {
		return line, r.act(ctx, "remove", fmt.Sprintf(`"ticket":%d`, gone.ticket))
	}
	return line, r.leave(ctx, gone, "cancelled")
}

// coded is a turn that ends with its code. The seller's socket connects, breaks and reconnects.
func (r *room) coded(ctx context.Context, s *seller) error {
	if err := r.connect(ctx, s); err != nil {
		return err
	}
	s.disconnect()
	if err := r.connect(ctx, s); err != nil {
		return err
	}
	if err := r.ask(ctx, s); err != nil {
		return err
	}
	result, err := r.message(ctx, s, "[마켓] 인증번호 %06d")
	if err == nil && result != "matched" {
		err = fmt.Errorf("%s: a code is %s", r.id, result)
	}
	if err != nil {
		return err
	}
	r.count.leases.Add(1)
	return s.await(`"type":"sms"`)
}

// uncoded is a turn that is given up before its code arrives, late or never.
func (r *room) uncoded(ctx context.Context, s *seller, n int) error {
	if err := r.press(ctx, s, http.StatusOK); err != nil {
		return err
	}
	if n%6 == 2 {
		if err := r.act(ctx, "extend", fmt.Sprintf(`"fence":%d,"seconds":30`, s.fence)); err != nil {
			return err
		}
	}
	if err := r.ask(ctx, s); err != nil {
		return err
	}
	if err := r.ended(ctx, s, "cancelled"); err != nil || n%2 == 0 {
		return err
	}
	result, err := r.message(ctx, s, "[마켓] 인증번호 %06d")
	if err == nil && result != "late" {
		err = fmt.Errorf("%s: a late code is %s", r.id, result)
	}
	return err
}

// forced is a turn that support ends; in some rounds support also pauses the line.
func (r *room) forced(ctx context.Context, s *seller, n int) error {
	if err := r.press(ctx, s, http.StatusOK); err != nil {
		return err
	}
	if n%6 == 3 {
		if err := r.act(ctx, "pause", ""); err != nil {
			return err
		}
		if err := r.act(ctx, "resume", ""); err != nil {
			return err
		}
	}
	r.count.leases.Add(1)
	return r.act(ctx, "release", fmt.Sprintf(`"fence":%d`, s.fence))
}

// hold lets a lease expire while another seller waits.
func (r *room) hold(ctx context.Context) (err error) {
	if _, err = r.join(ctx, http.StatusOK); err != nil {
		return err
	}
	r.next, err = r.join(ctx, http.StatusAccepted)
	return err
}

// once uses a new room that is not used again.
func (d *day) once(ctx context.Context, n int) error {
	r := &room{day: d, id: fmt.Sprint("day:once-", n)}
	s, err := r.join(ctx, http.StatusOK)
	if err != nil {
		return err
	}
	defer s.disconnect()
	if err := r.connect(ctx, s); err != nil {
		return err
	}
	return r.ended(ctx, s, "completed")
}

// round plays a round in all rooms at once.
func (d *day) round(ctx context.Context, n int) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, r := range d.rooms {
		all.Go(func() error { return r.round(ctx, n) })
	}
	all.Go(func() error { return d.once(ctx, n) })
	return all.Wait()
}
