package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// seller is one browser or API client in one room. It comes again and again.
type seller struct {
	fleet   *fleet
	carrier *carrier
	book    *book
	pace    *pace
	rng     *rand.Rand
	post    *errgroup.Group // messages on their way
	room    string
	session string
	name    string
	socket  *socket  // nil: it polls instead
	manners []manner // those of its room
	places  int
	as      string // the seller_id of its last place
}

// manner of the next place.
func (s *seller) manner() manner { return s.manners[s.rng.IntN(len(s.manners))] }

// standing is a session's place by the API.
type standing struct {
	Status    string
	Outcome   string
	Ticket    int64
	Fence     int64
	GrantedAt time.Time `json:"granted_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *seller) insist(ctx context.Context, method, path, body string) (reply, error) {
	return s.fleet.insist(ctx, s.rng.IntN(len(s.fleet.members)),
		call{method: method, path: "/api/" + s.room + path, body: body, session: s.session})
}

func (s *seller) chance(percent int) bool { return s.rng.IntN(100) < percent }

// stay is one place from its beginning to its end.
func (s *seller) stay(ctx context.Context) error {
	s.places++
	if s.as == "" || s.chance(30) { // another seller comes with the same session
		s.as = fmt.Sprintf("%s-%d", s.name, s.places)
	}
	p := newStay(s, s.as)
	now, err := s.join(ctx, p)
	if err != nil {
		return err
	}
	if now.Status == "waiting" && s.chance(4) {
		err = s.release(ctx, p, "cancelled")
	} else if now, err = s.await(ctx, p, func(now standing) bool {
		return now.Status != "waiting"
	}); err == nil && now.Status == "locked" {
		s.pace.granted()
		err = s.hold(ctx, p)
	}
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, p, func(now standing) bool { return now.Status == "ended" }); err != nil {
		return err
	}
	s.book.add(p)
	return s.afterwards(ctx)
}

// hold plays a seller's turn.
func (s *seller) hold(ctx context.Context, p *stay) error {
	if err := linger(ctx, s.upTo(8)); err != nil {
		return err
	}
	s.noise(ctx)
	if p.manner == asks || p.manner == calls {
		return s.ask(ctx, p)
	}
	by := &cause{place: p}
	switch n := s.rng.IntN(100); {
	case n < 48:
		s.send(ctx, by, milliseconds, 0)
	case n < 66:
		s.send(ctx, by, milliseconds, s.rng.IntN(4))
		return s.leave(ctx, p, "completed")
	case n < 76:
		s.send(ctx, by, milliseconds, 1+s.rng.IntN(3))
		return s.leave(ctx, p, "cancelled")
	case n < 80:
		return s.leave(ctx, p, "completed")
	case n < 86:
		s.send(ctx, by, wholeSecond, s.rng.IntN(2))
	case n < 91:
		s.send(ctx, by, noTime, 0)
	case n < 95:
		s.send(ctx, by, clockAhead, 0)
	default: // the SMS comes only after the lease has expired, or not even then
		s.send(ctx, by, milliseconds, 1+s.rng.IntN(3))
	}
	return nil
}

func (s *seller) leave(ctx context.Context, p *stay, reason string) error {
	if err := linger(ctx, time.Duration(1+s.rng.IntN(15))*time.Millisecond); err != nil {
		return err
	}
	return s.release(ctx, p, reason)
}

func (s *seller) upTo(ms int) time.Duration { return time.Duration(s.rng.IntN(ms)) * time.Millisecond }

// afterwards sends a message for any party, or none, and rests.
func (s *seller) afterwards(ctx context.Context) error {
	if s.chance(15) {
		s.stray(ctx, time.Now().Add(-s.upTo(400)), s.rng.IntN(4))
	}
	if err := linger(ctx, time.Duration(1+s.rng.IntN(6))*time.Millisecond); err != nil {
		return err
	}
	if s.chance(10) { // in a room of one seller: an unasked one
		s.stray(ctx, time.Now(), s.rng.IntN(3))
		return linger(ctx, 2*time.Millisecond)
	}
	return nil
}

func (s *seller) join(ctx context.Context, p *stay) (standing, error) {
	r, err := s.insist(ctx, http.MethodPost, "/lock", fmt.Sprintf(`{"seller_id":%q,"asks":%t}`, p.seller,
		p.manner.joinsAsking()))
	if err != nil {
		return standing{}, err
	}
	var now standing
	if err := json.Unmarshal([]byte(r.body), &now); err != nil || r.status > http.StatusAccepted {
		return standing{}, fmt.Errorf("join: %d %s", r.status, r.body)
	}
	p.joined(r, now)
	return now, nil
}

// release ends the lease, or the place in line where the seller does not hold the lock.
func (s *seller) release(ctx context.Context, p *stay, reason string) error {
	path := "/lock?reason=" + reason
	if p.fence != 0 {
		path += fmt.Sprint("&fence=", p.fence)
	}
	r, err := s.insist(ctx, http.MethodDelete, path, "")
	if err != nil {
		return err
	}
	return p.released(r)
}

// await asks how the place stands until the condition holds. A seller with a socket asks only after a frame.
func (s *seller) await(ctx context.Context, p *stay, so func(standing) bool) (standing, error) {
	for {
		r, err := s.insist(ctx, http.MethodGet, "/lock/status", "")
		if err != nil {
			return standing{}, err
		}
		var status struct{ Me *standing }
		if err := json.Unmarshal([]byte(r.body), &status); err != nil || r.status != http.StatusOK ||
			status.Me == nil {
			return standing{}, fmt.Errorf("status of ticket %d: %d %s", p.ticket, r.status, r.body)
		}
		if err := p.seen(r, *status.Me); err != nil {
			return standing{}, err
		}
		if so(*status.Me) {
			return *status.Me, nil
		}
		if err := s.wake(ctx); err != nil {
			return standing{}, fmt.Errorf("ticket %d in %s is still %s: %w", p.ticket, s.room, status.Me.Status, err)
		}
	}
}

func (s *seller) wake(ctx context.Context) error {
	if s.socket == nil {
		return linger(ctx, 10*time.Millisecond)
	}
	select {
	case <-s.socket.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
