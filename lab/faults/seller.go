package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// seller is one browser or API client in one room. It joins again and again, and decides with a random source
// of its own.
type seller struct {
	run     *Run
	room    string
	session string
	name    string
	rng     *rand.Rand
	socket  *socket // nil: an API client, that asks again and again
	hurries bool    // joins and leaves all the time
	asked   int
}

// come takes places until the sellers have to leave, and then gives up the place that it has.
func (s *seller) come(ctx context.Context) error {
	for !s.run.leaving() {
		if err := s.place(ctx); err != nil {
			return fmt.Errorf("%s in %s: %w", s.name, s.room, err)
		}
		if err := s.rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *seller) rest(ctx context.Context) error {
	if s.hurries {
		return s.linger(ctx, 20*time.Millisecond, 60*time.Millisecond)
	}
	return s.linger(ctx, 0, 300*time.Millisecond)
}

// place takes one place from its beginning to its end.
func (s *seller) place(ctx context.Context) error {
	now, err := s.insist(ctx, s.join())
	if err != nil {
		return err
	}
	var handled int64 // the fence of the turn that was had
	gives := s.rng.IntN(100) < 3
	for {
		switch {
		case now.Status == "waiting" && (s.run.leaving() || gives):
			gives = false
			err = s.leave(ctx, "cancelled", 0)
		case now.Status == "waiting" && now.Unclaimed:
			err = s.back(ctx)
		case now.Status == "waiting":
			err = s.wait(ctx)
		case now.Status == "locked" && now.Fence != handled:
			handled = now.Fence
			err = s.hold(ctx, now)
		case now.Status == "locked" && s.run.leaving():
			err = s.leave(ctx, "cancelled", now.Fence)
		case now.Status == "locked":
			err = s.wait(ctx)
		default: // ended, or nothing is known of it any more
			return nil
		}
		if err != nil {
			return err
		}
		if now, err = s.insist(ctx, s.status()); err != nil {
			return err
		}
	}
}

// wait returns after a frame or after a while. Some sellers join again meanwhile, or reload.
func (s *seller) wait(ctx context.Context) error {
	switch n := s.rng.IntN(100); {
	case n < 4:
		_, err := s.insist(ctx, s.join())
		return err
	case n < 7 && s.socket != nil:
		s.socket.reload()
	}
	if s.socket == nil {
		return s.linger(ctx, 100*time.Millisecond, 200*time.Millisecond)
	}
	select {
	case <-s.socket.wake:
		return s.linger(ctx, 0, 20*time.Millisecond)
	case <-s.run.left:
	case <-time.After(s.between(800*time.Millisecond, 1200*time.Millisecond)):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// hold plays a seller's turn.
func (s *seller) hold(ctx context.Context, now answer) error {
	if s.hurries {
		return s.leave(ctx, "completed", now.Fence)
	}
	if err := s.linger(ctx, 30*time.Millisecond, 500*time.Millisecond); err != nil {
		return err
	}
	if s.run.plan.ClaimWithin > 0 {
		switch n := s.rng.IntN(100); {
		case n < 45:
			return nil // it is not there: its lease ends unclaimed, if it was to claim it
		case n < 75:
			if err := s.claim(ctx, now.Fence); err != nil {
				return err
			}
		}
	}
	switch n := s.rng.IntN(100); {
	case n < 40:
		return s.ask(ctx, now.Fence)
	case n < 75:
		return s.leave(ctx, "completed", now.Fence)
	case n < 88:
		return s.leave(ctx, "cancelled", now.Fence)
	}
	return nil // lets it expire
}

// back claims the place after a while if the session did not claim its turn.
func (s *seller) back(ctx context.Context) error {
	if err := s.linger(ctx, 0, time.Second); err != nil {
		return err
	}
	return s.claim(ctx, 0)
}

// claim confirms that the session is there; fence 0 = without one.
func (s *seller) claim(ctx context.Context, fence int64) error {
	body := "{}"
	if fence != 0 {
		body = fmt.Sprintf(`{"fence":%d}`, fence)
	}
	_, err := s.insist(ctx, call{op: "claim", method: http.MethodPost, path: s.path("/lock/claim"), body: body,
		room: s.room, session: s.session, fence: fence})
	return err
}

// ask announces an ask, and lets the carrier deliver a code.
func (s *seller) ask(ctx context.Context, fence int64) error {
	s.asked++
	got, err := s.insist(ctx, call{op: "expect", method: http.MethodPost, path: s.path("/lock/expect"),
		body: fmt.Sprintf(`{"fence":%d}`, fence),
		room: s.room, session: s.session, fence: fence, key: fmt.Sprint(s.name, "-", s.asked)})
	if err != nil {
		return err
	}
	if got.http != http.StatusOK {
		return s.leave(ctx, "completed", fence)
	}
	s.run.carrier.send(ctx, s.room, s.session, fence, s.rng)
	return nil
}

func (s *seller) leave(ctx context.Context, reason string, fence int64) error {
	path := s.path("/lock?reason=" + reason)
	if fence != 0 {
		path += fmt.Sprint("&fence=", fence)
	}
	_, err := s.insist(ctx, call{op: "leave", method: http.MethodDelete, path: path, room: s.room,
		session: s.session, fence: fence})
	return err
}

func (s *seller) path(rest string) string { return "/api/" + s.room + rest }

func (s *seller) join() call {
	return call{op: "join", method: http.MethodPost, path: s.path("/lock"), room: s.room, session: s.session,
		body: fmt.Sprintf(`{"seller_id":%q,"asks":true}`, s.name)}
}

// leaving returns the call that gives up the session's place.
func (s *seller) leaving() call {
	return call{op: "leave", method: http.MethodDelete, path: s.path("/lock"), room: s.room, session: s.session}
}

func (s *seller) status() call {
	return call{op: "status", method: http.MethodGet, path: s.path("/lock/status"), room: s.room,
		session: s.session}
}

// insist asks one replica after the other until one answers.
func (s *seller) insist(ctx context.Context, c call) (answer, error) {
	return s.run.insist(ctx, s.rng, c)
}

func (s *seller) linger(ctx context.Context, least, most time.Duration) error {
	return pause(ctx, s.between(least, most))
}

func (s *seller) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.rng.Int64N(int64(most-least)))
}

// insist asks the replicas in turn, from a random one on, until an answer is no server error and no 429.
func (r *Run) insist(ctx context.Context, rng *rand.Rand, c call) (answer, error) {
	for n := rng.IntN(len(r.doors)); ; n++ {
		got, err := r.doors[n%len(r.doors)].ask(ctx, c)
		if err == nil && got.http < http.StatusInternalServerError && got.http != http.StatusTooManyRequests {
			return got, nil
		}
		if err := pause(ctx, 20*time.Millisecond+
			time.Duration(rng.Int64N(int64(80*time.Millisecond)))); err != nil {
			return answer{}, fmt.Errorf("%s: no answer: %w", c.op, err)
		}
	}
}

// pause waits, for a person's delay or a fault's duration.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
