package sim

import (
	"context"
	"errors"

	"github.com/waitroom/waitroom/room"
)

// seller is one standing in the line and its lease.
type seller struct {
	session  string
	ticket   int64
	fence    int64
	expires  int64 // its lease's end, as the engine said last
	asks     bool  // it says before it asks
	code     string
	pressed  bool // it waits for a code, or did
	verified bool // its own code came while it held the lock
	robbed   bool // another's code came for it
	asked    []ask
	foreign  int // codes not caused by it that were attributed to it
	repeated int // second copies of its own codes that were
}

// join adds one to the line.
func (s *shift) join(ctx context.Context) error {
	g := &seller{session: room.NewSession(), asks: s.chance(s.Asking)}
	st, err := s.engine.Join(ctx, integration, room.JoinRequest{Session: g.session, Fresh: true, Asks: g.asks})
	if err == nil {
		g.ticket = st.Ticket
		s.sellers[g.ticket] = g
	}
	return s.see(ctx, st.View, err)
}

// granted has the holder do what holders do.
func (s *shift) granted(g *seller, l *room.Lease) {
	s.tally.Leases++
	g.fence = l.Fence
	s.after(s.Press.draw(s.r), func(ctx context.Context) error { return s.press(ctx, g, 0) })
	if s.chance(s.Cancel) {
		s.after(s.between(45, 110), func(ctx context.Context) error { return s.leave(ctx, g, room.Cancelled) })
	}
}

// leave ends the lease, if it still goes on.
func (s *shift) leave(ctx context.Context, g *seller, outcome room.Outcome) error {
	if s.holder != g {
		return nil
	}
	st, err := s.engine.Leave(ctx, integration, room.LeaveRequest{Session: g.session, Outcome: outcome, Fence: g.fence})
	return s.see(ctx, st.View, err)
}

// press is "send me the code", for the nth time from 0. Who asks says so before, and waits while the number is busy. Who lost
// the lock to another's code before it pressed may press all the same: it believes that it holds it, and nobody can stop it.
func (s *shift) press(ctx context.Context, g *seller, nth int) error {
	switch {
	case s.holder != g:
		if nth > 0 || !g.robbed || !s.chance(s.StillTry) {
			return nil
		}
	case g.verified:
		return nil
	case g.asks:
		if said, err := s.expect(ctx, g, nth); !said || err != nil {
			return err
		}
	}
	g.pressed = true
	s.send(g)
	if nth < s.AgainMost && s.chance(s.Again) {
		s.after(s.between(15, 35), func(ctx context.Context) error {
			if s.holder != g {
				return nil
			}
			return s.press(ctx, g, nth+1)
		})
	}
	return nil
}

// expect says that the holder asks; where the number is busy it comes again.
func (s *shift) expect(ctx context.Context, g *seller, nth int) (said bool, err error) {
	q := room.ExpectRequest{Session: g.session, Fence: g.fence}
	if !s.Unfiltered {
		q.Filter.From = []string{marketplace}
	}
	x, refused := s.engine.Expect(ctx, integration, q)
	if err := s.see(ctx, x.View, refused); err != nil {
		return false, err
	}
	if errors.Is(refused, room.ErrNumberBusy) {
		wait := min(x.AskAfter-s.now, s.BusyEvery.Milliseconds())
		s.tally.BusyMS += wait
		s.after(wait, func(ctx context.Context) error { return s.press(ctx, g, nth) })
		return false, nil
	}
	if refused != nil { // the lease ended in this very millisecond
		return false, nil
	}
	g.asked = append(g.asked, ask{at: s.now})
	return true, nil
}

// ask is one that the engine knows of.
type ask struct {
	at       int64
	answered bool
}

// lastAsked is when the seller last asked, at or before a time; of the open asks alone, or of all.
func (g *seller) lastAsked(by int64, open bool) (at int64, ok bool) {
	for _, a := range g.asked {
		if a.at <= by && !(open && a.answered) {
			at, ok = a.at, true
		}
	}
	return at, ok
}

// answer closes the earliest open ask that was made at or before a time.
func (g *seller) answer(by int64) {
	for i, a := range g.asked {
		if a.at <= by && !a.answered {
			g.asked[i].answered = true
			return
		}
	}
}
