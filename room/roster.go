package room

import (
	"context"
	"fmt"
)

var rosterQuestion = newVerb[rosterArgs]("roster")

type rosterArgs struct {
	Most int // waiters that are listed; 0 = all
}

// Roster returns the whole line, for a mirror of support's pages that missed an event. Error: ErrStore.
func (e *Engine) Roster(ctx context.Context, id ID) (Roster, error) { return e.roster(ctx, id, 0) }

// Head is Roster with the first waiters of the line only, at most `most`; most is above 0.
func (e *Engine) Head(ctx context.Context, id ID, most int) (Roster, error) {
	return e.roster(ctx, id, most)
}

func (e *Engine) roster(ctx context.Context, id ID, most int) (Roster, error) {
	a, err := e.ask(ctx, rosterQuestion.with(rosterArgs{most}), id)
	if err != nil {
		return Roster{}, err
	}
	if len(a.Ranks) != len(a.Places) || len(a.Away) != len(a.Places) && len(a.Away) != 0 {
		return Roster{}, fmt.Errorf("%w: roster has %d places, %d ranks", ErrStore, len(a.Places), len(a.Ranks))
	}
	r := Roster{View: a.View, Holder: a.Holder, JoinedAt: a.HolderJoined, Line: make([]Waiter, len(a.Places))}
	for i := range a.Places {
		p := &a.Places[i]
		w := Waiter{Seller: p.Seller, Ticket: p.Ticket, JoinedAt: p.Joined, Rank: a.Ranks[i],
			Address: p.Address}
		if len(a.Away) > 0 {
			w.AwaySince = int64(a.Away[i])
		}
		if p.Unclaimed && w.AwaySince != 0 { // Redis has it AwayAfter early: see leases.finish_unclaimed
			w.AwaySince += e.cfg.AwayAfter.Milliseconds()
		}
		r.Line[i] = w
	}
	return r, nil
}
