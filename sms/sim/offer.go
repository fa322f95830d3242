package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/room"
)

// offer shows the holder a code that the engine gave to no lease, and takes the holder's answer.
//
// The holder does not see the code: it is asked whether it has just requested one. A seller that has pressed
// and still waits answers yes, whether or not the code is its own, and so does a hostile one; any other
// answers no. Programs that never ask do not claim either.
func (s *shift) offer(ctx context.Context, m message) error {
	g := s.holder
	s.counts.Calls++
	_, seats, err := s.engine.Look(ctx, integration, g.session)
	if err != nil {
		return fmt.Errorf("look: %w", err)
	}
	if !slices.ContainsFunc(seats[0].Offers, func(o room.Offer) bool { return o.MessageID == m.id }) {
		return nil
	}
	s.counts.Offered++
	if !g.hostile && (!g.asks || !g.pressed || g.got) {
		return nil
	}
	s.after(s.Answer.Milliseconds(), func(ctx context.Context) error { return s.claim(ctx, g, m) })
	return nil
}

// claim claims a code for the holder, unless its own has arrived meanwhile.
func (s *shift) claim(ctx context.Context, g *seller, m message) error {
	if s.holder != g || g.got {
		return nil
	}
	x, refused := s.engine.Expect(ctx, integration,
		room.ExpectRequest{Session: g.session, Fence: g.fence, MessageID: m.id, Keep: s.Keep})
	s.counts.Calls++
	switch {
	case room.Refused(refused): // it belongs, or may belong, to another seller by now
		return nil
	case refused != nil:
		return fmt.Errorf("claim: %w", refused)
	}
	s.counts.Claimed++
	return s.settle(ctx, m, x.Claim, true, true)
}
