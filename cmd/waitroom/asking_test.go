package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/room"
)

// quarantine of the asks: leases are short here, so that codes come within it and after it.
const quarantine = 400 * time.Millisecond

// ask records one ask or two, and lets the marketplace send a code for each. Some sellers then wait for their
// lease to end.
func (s *seller) ask(ctx context.Context, p *stay) error {
	for again := false; ; again = true {
		of := shops[s.rng.IntN(len(shops))]
		r, err := s.expect(ctx, p, s.filter(of))
		if err != nil || r.number == 0 {
			return err
		}
		s.fate(ctx, &cause{p, r}, of)
		if again || s.chance(85) {
			break
		}
		if err := linger(ctx, s.upTo(80)); err != nil {
			return err
		}
	}
	switch n := s.rng.IntN(100); {
	case n < 62:
		return nil
	case n < 82:
		return s.leave(ctx, p, "completed")
	}
	return s.leave(ctx, p, "cancelled")
}

func (s *seller) filter(of shop) (f filter) {
	if s.chance(30) {
		f.From = []string{of.sender}
		if s.chance(50) {
			f.From = []string{"1544-1111", "+82 " + of.sender[1:]}
		}
		if of.sender[0] != '0' {
			f.From[len(f.From)-1] = "15880000"
		}
	}
	if s.chance(30) {
		f.Contains = of.name
	}
	return f
}

// fate decides what happens to the code.
func (s *seller) fate(ctx context.Context, by *cause, of shop) {
	l, how := s.carrier.codeContent(of), s.stamp()
	if s.chance(6) {
		l = s.carrier.alike(s.room, l)
	}
	switch n := s.rng.IntN(100); {
	case n < 52:
		s.dispatch(ctx, l, s.upTo(15), how, 0, by)
	case n < 62:
		s.dispatch(ctx, l, s.upTo(15), how, 1+s.rng.IntN(3), by)
	case n < 68:
		s.dispatchLong(ctx, s.carrier.longContent(of, s.rng.IntN(10)), by)
	case n < 80:
		s.dispatch(ctx, l, s.upTo(int(quarantine.Milliseconds())), how, s.rng.IntN(2), by)
	case n < 90:
		s.dispatch(ctx, l, quarantine+s.upTo(1200), how, 0, by)
	case n < 93: // its sender may differ from the filter
		s.dispatch(ctx, s.carrier.codeContent(shops[s.rng.IntN(len(shops))]), s.upTo(15), how, 0, by)
	default: // lost
	}
}

func (s *seller) stamp() stamp {
	switch n := s.rng.IntN(100); {
	case n < 75:
		return milliseconds
	case n < 85:
		return wholeSecond
	case n < 96:
		return noTime
	}
	return clockAhead
}

// expect records an ask, and again when the number is free, until it may ask or its lease is over.
func (s *seller) expect(ctx context.Context, p *stay, f filter) (*request, error) {
	for {
		r := &request{filter: f}
		p.requests = append(p.requests, r)
		got, err := s.postAsk(ctx, p, r)
		if err != nil || r.until == 0 {
			return r, err
		}
		if err := busyFor(got, r); err != nil {
			return r, err
		}
		if err := linger(ctx, time.Until(time.UnixMilli(r.until))); err != nil {
			return r, err
		}
	}
}

// postAsk sends one POST …/expect.
func (s *seller) postAsk(ctx context.Context, p *stay, r *request) (reply, error) {
	body, _ := json.Marshal(struct { // it always marshals
		filter
		Fence int64 `json:"fence"`
	}{r.filter, p.fence})
	c := call{method: http.MethodPost, path: "/api/" + s.room + "/lock/expect", body: string(body),
		session: s.session}
	if s.chance(90) {
		key := room.NewSession()
		c.header = func() http.Header { return http.Header{"Idempotency-Key": {key}} }
	}
	got, err := s.fleet.insist(ctx, s.rng.IntN(len(s.fleet.members)), c)
	if err != nil {
		return got, err
	}
	r.span, r.again = span{got.asked, got.answered}, got.attempts > 1
	var answer struct {
		Status                     any // of a problem it is a number
		Code                       string
		Asked, Open, Ticket, Fence int64
		AskAfter                   time.Time `json:"ask_after"`
	}
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
		return got, fmt.Errorf("expect: %d %s", got.status, got.body)
	}
	switch {
	case got.status == http.StatusOK && answer.Status == "expecting" && answer.Ticket == p.ticket &&
		answer.Fence == p.fence:
		r.number = answer.Asked
	case got.status == http.StatusConflict && answer.Code == "number_busy":
		r.until = answer.AskAfter.UnixMilli()
	case answer.Code == "stale_fence" || answer.Code == "no_place":
		r.late = true
	default:
		return got, fmt.Errorf("expect: %d %s", got.status, got.body)
	}
	return got, nil
}

// busyFor returns an error if the header and the body of a number_busy answer give different waits.
func busyFor(got reply, r *request) error {
	seconds, err := strconv.ParseInt(got.header.Get("Retry-After"), 10, 64)
	least, most := float64(r.until-r.to)/1000, float64(r.until-r.from)/1000
	if err != nil || seconds < 1 || float64(seconds) < math.Ceil(least) ||
		float64(seconds) > max(math.Ceil(most), 1) ||
		least > quarantine.Seconds() {
		return fmt.Errorf("the number is busy for %q or until %d, asked %d, answered %d",
			got.header.Get("Retry-After"), r.until, r.from, r.to)
	}
	return nil
}
