package sim

import (
	"context"
	"errors"

	"github.com/waitroom/waitroom/room"
)

// seller is one place in the line, and its lease.
type seller struct {
	session  string
	ticket   int64
	fence    int64
	expires  int64 // end of its lease, by the engine's last answer
	ended    int64 // when its lease was over, 0 = it is not
	asks     bool  // it registers an ask before it presses
	hostile  bool  // it is after another's code
	code     string
	pressed  bool // it has pressed
	unasked  bool // it has pressed without an ask for that
	left     bool // it ended its lease by itself
	got      bool // it was shown its own code
	verified bool // its own code came while it held the lock
	robbed   bool // another's code ended its lease
	asked    []ask
	foreign  int // others' codes that it got
	repeated int // second copies of its own codes that it got
}

// join adds a seller to the line.
func (s *shift) join(ctx context.Context) error {
	g := &seller{session: room.NewSession(), hostile: s.chance(s.Hostile)}
	g.asks = g.hostile || s.chance(s.Asking)
	st, err := s.engine.Join(ctx, integration, room.JoinRequest{Session: g.session, Fresh: true, Asks: g.asks})
	if err == nil {
		g.ticket = st.Ticket
		s.sellers[g.ticket] = g
	}
	return s.see(ctx, st.View, err)
}

// granted schedules a holder's actions.
func (s *shift) granted(g *seller, l *room.Lease) {
	s.counts.Leases++
	g.fence = l.Fence
	s.after(s.Press.draw(s.r), func(ctx context.Context) error { return s.press(ctx, g, 0) })
	if g.hostile || s.chance(s.Cancel) {
		s.after(s.between(45, 110), func(ctx context.Context) error { return s.leave(ctx, g, room.Cancelled) })
	}
	if next := s.sellers[g.ticket+1]; next != nil && next.hostile {
		s.after(s.between(2, 20), func(context.Context) error {
			if s.holder == g {
				s.forge()
			}
			return nil
		})
	}
}

// leave ends the lease, if it is live.
func (s *shift) leave(ctx context.Context, g *seller, outcome room.Outcome) error {
	if s.holder != g {
		return nil
	}
	g.left = true
	st, err := s.engine.Leave(ctx, integration,
		room.LeaveRequest{Session: g.session, Outcome: outcome, Fence: g.fence})
	return s.see(ctx, st.View, err)
}

// press requests a code, for the nth time from 0. A seller that asks registers first, and waits while the
// number is busy. A seller that lost the lock to another's code before it asked may press all the same, since
// it does not know that.
func (s *shift) press(ctx context.Context, g *seller, nth int) error {
	switch {
	case g.got:
		return nil
	case s.holder != g:
		if nth == 0 && g.robbed {
			return s.button(ctx, g, nth, false)
		}
		return nil
	case !g.asks:
		return s.walk(ctx, g, nth, false)
	case !g.hostile && nth == 0 && s.chance(s.PressFirst):
		s.after(s.AskToPress.draw(s.r), func(ctx context.Context) error { return s.ask(ctx, g, nil) })
		return s.button(ctx, g, nth, false)
	case nth > 0 && s.chance(s.Unasked):
		return s.button(ctx, g, nth, false)
	}
	return s.ask(ctx, g, func(ctx context.Context) error {
		if g.hostile {
			return nil
		}
		return s.walk(ctx, g, nth, true)
	})
}

// walk presses the marketplace's button as soon as the seller has found it.
func (s *shift) walk(ctx context.Context, g *seller, nth int, asked bool) error {
	wait := s.AskToPress.draw(s.r)
	if wait == 0 {
		return s.button(ctx, g, nth, asked)
	}
	s.after(wait, func(ctx context.Context) error { return s.button(ctx, g, nth, asked) })
	return nil
}

// button presses the marketplace's button. A seller does that after its turn's end as well, unless it ended
// the turn itself or notices the end in time.
func (s *shift) button(_ context.Context, g *seller, nth int, asked bool) error {
	if g.left || g.got || s.holder != g && !s.chance(s.StillTry) {
		return nil
	}
	g.pressed = true
	g.unasked = g.unasked || !asked
	s.send(g)
	if s.holder == g && nth < s.AgainMost && s.chance(s.Again) {
		s.after(s.between(15, 35), func(ctx context.Context) error { return s.press(ctx, g, nth+1) })
	}
	return nil
}

// ask registers the holder's ask, and does the next thing then. It retries while the number is busy.
func (s *shift) ask(ctx context.Context, g *seller, then func(context.Context) error) error {
	if s.holder != g || g.got {
		return nil
	}
	q := room.ExpectRequest{Session: g.session, Fence: g.fence}
	if !s.Unfiltered {
		q.Filter.From = []string{marketplace}
	}
	x, refused := s.engine.Expect(ctx, integration, q)
	if err := s.see(ctx, x.View, refused); err != nil {
		return err
	}
	if errors.Is(refused, room.ErrNumberBusy) {
		wait := min(x.AskAfter-s.now, s.BusyEvery.Milliseconds())
		s.counts.BusyMS += wait
		s.after(wait, func(ctx context.Context) error { return s.ask(ctx, g, then) })
		return nil
	}
	if refused != nil { // the lease ended in this millisecond
		return nil
	}
	g.asked = append(g.asked, ask{at: s.now})
	if then == nil {
		return nil
	}
	return then(ctx)
}

// ask is an ask that the engine has.
type ask struct {
	at       int64
	answered bool
}

// lastAsked returns the seller's last ask at or before a time, of all asks or of the open ones.
func (g *seller) lastAsked(by int64, open bool) (at int64, ok bool) {
	for _, a := range g.asked {
		if a.at <= by && !(open && a.answered) {
			at, ok = a.at, true
		}
	}
	return at, ok
}

// answer closes the earliest open ask at or before a time.
func (g *seller) answer(by int64) {
	for i, a := range g.asked {
		if a.at <= by && !a.answered {
			g.asked[i].answered = true
			return
		}
	}
}
