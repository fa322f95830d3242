package main

import (
	"context"
	"time"
)

// journey is how a message travels.
type journey struct {
	route
	resend time.Duration // after its answer the same text comes with another id; 0 if not
	reuse  bool          // another text comes with its id
}

func (s *seller) journey(leases int) journey {
	j := journey{route: route{replica: s.rng.IntN(3), leases: leases, twins: s.chance(20), again: s.chance(20)},
		reuse: s.chance(4)}
	if s.chance(8) {
		j.resend = time.Millisecond + s.upTo(120)
	}
	return j
}

// send sends a code now, which arrives some leases later.
func (s *seller) send(ctx context.Context, by *cause, how stamp, leases int) {
	s.travel(ctx, s.message(s.carrier.codeContent(shops[s.rng.IntN(len(shops))]), time.Now(), how, by), how,
		s.journey(leases))
}

// dispatch sends a message after a while; it arrives some leases later.
func (s *seller) dispatch(ctx context.Context, l content, after time.Duration, how stamp, leases int,
	by *cause) {
	j := s.journey(leases)
	s.post.Go(func() error {
		if err := linger(ctx, after); err != nil {
			return err
		}
		return s.carry(ctx, s.message(l, time.Now(), how, by), how, j)
	})
}

// dispatchLong sends the parts of a long message, which come in any order.
func (s *seller) dispatchLong(ctx context.Context, parts [2]content, by *cause) {
	if s.chance(40) {
		parts[0], parts[1] = parts[1], parts[0]
	}
	between, one, two := s.upTo(40), s.journey(0), s.journey(0)
	one.resend, two.resend, one.reuse, two.reuse = 0, 0, false, false
	s.post.Go(func() error {
		now := time.Now()
		if err := s.carry(ctx, s.message(parts[0], now, milliseconds, by), milliseconds, one); err != nil {
			return err
		}
		if err := linger(ctx, between); err != nil {
			return err
		}
		return s.carry(ctx, s.message(parts[1], now, milliseconds, by), milliseconds, two)
	})
}

// stray is a code that no seller asked for.
func (s *seller) stray(ctx context.Context, at time.Time, leases int) {
	s.travel(ctx, s.message(s.carrier.codeContent(shops[0]), at, milliseconds, nil), milliseconds,
		s.journey(leases))
}

// noise sends the number's other messages.
func (s *seller) noise(ctx context.Context) {
	if s.chance(10) {
		s.dispatch(ctx, s.carrier.advert(shops[s.rng.IntN(len(shops))]), s.upTo(60), s.stamp(), 0, nil)
	}
	if s.chance(6) {
		s.dispatch(ctx, s.carrier.codelike(), s.upTo(60), s.stamp(), 0, nil)
	}
}

func (s *seller) message(l content, at time.Time, how stamp, by *cause) *message {
	m := s.carrier.compose(s.room, l, at, how)
	m.cause = by
	return m
}

func (s *seller) travel(ctx context.Context, m *message, how stamp, j journey) {
	s.post.Go(func() error { return s.carry(ctx, m, how, j) })
}

func (s *seller) carry(ctx context.Context, m *message, how stamp, j journey) error {
	if err := s.carrier.deliver(ctx, m, j.route, s.pace); err != nil {
		return err
	}
	if j.reuse {
		if err := s.carrier.reuse(ctx, m); err != nil {
			return err
		}
	}
	if j.resend == 0 {
		return nil
	}
	if err := linger(ctx, j.resend); err != nil {
		return err
	}
	again := s.message(m.content, time.Now(), how, m.cause)
	again.resent = true
	return s.carrier.deliver(ctx, again, route{replica: j.replica + 1}, s.pace)
}
