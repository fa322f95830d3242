package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/room"
)

// offer looks whether the engine offers a code that it gave to nobody to the holder, and has that one answer.
//
// The holder does not see the code: it is asked whether it has just requested one. So a seller that had pressed by then and still
// waits says yes, whether or not the code is its own; one that had not says no. Programs that never ask do not claim either.
func (s *shift) offer(ctx context.Context, m message) error {
	g := s.holder
	s.tally.Calls++
	_, seats, err := s.engine.Look(ctx, integration, g.session)
	if err != nil {
		return fmt.Errorf("look: %w", err)
	}
	if !slices.ContainsFunc(seats[0].Offers, func(o room.Offer) bool { return o.MessageID == m.id }) {
		return nil
	}
	s.tally.Offered++
	if !g.asks || !g.pressed || g.verified {
		return nil
	}
	s.after(s.Answer.Milliseconds(), func(ctx context.Context) error { return s.claim(ctx, g, m) })
	return nil
}

// claim says that a code is the holder's own, unless its own came meanwhile.
func (s *shift) claim(ctx context.Context, g *seller, m message) error {
	if s.holder != g || g.verified {
		return nil
	}
	x, refused := s.engine.Expect(ctx, integration, room.ExpectRequest{Session: g.session, Fence: g.fence, MessageID: m.id, Keep: s.Keep})
	s.tally.Calls++
	switch {
	case room.Refused(refused): // it is another's by now, or may be
		return nil
	case refused != nil:
		return fmt.Errorf("claim: %w", refused)
	}
	s.tally.Claimed++
	return s.settle(ctx, m, x.Claim, true, true)
}
