package room

import (
	"context"
	"fmt"
	"strings"
	"time"
)

var rosterQuestion = newVerb[rosterArgs]("roster")

type rosterArgs struct {
	Most int // waiters that are listed; 0 = all
}

// Waiter is a waiter for support's pages, without its session, which is a credential.
type Waiter struct {
	Ticket   int64
	Seller   string
	Rank     float64 // orders the line
	JoinedAt int64   // unix ms
	// AwaySince is since when the waiter has been gone (unix ms); 0 = it is not away. For a waiter that did
	// not claim its lease, it is when that lease ended.
	AwaySince int64
}

// Roster is the whole line with its sellers, at one version.
type Roster struct {
	View
	Holder   string // the seller that holds the lock; "" while the lock is free
	JoinedAt int64  // unix ms: when the holder joined; 0 = not known
	Line     []Waiter
}

// Roster returns the whole line, for a mirror of support's pages that missed an event. Error: ErrStore.
func (e *Engine) Roster(ctx context.Context, id ID) (Roster, error) { return e.roster(ctx, id, 0) }

// Head is Roster with the first waiters of the line only, at most `most`; most is above 0.
func (e *Engine) Head(ctx context.Context, id ID, most int) (Roster, error) {
	return e.roster(ctx, id, most)
}

func (e *Engine) roster(ctx context.Context, id ID, most int) (Roster, error) {
	list, err := e.list(ctx, rosterQuestion.with(rosterArgs{most}), id)
	if err != nil {
		return Roster{}, err
	}
	if len(list)%3 != 2 {
		return Roster{}, fmt.Errorf("%w: roster of %d strings", ErrStore, len(list))
	}
	a, err := e.read(id, list[0])
	if err != nil {
		return Roster{}, err
	}
	head := reader{fields: strings.Fields(list[1])}
	r := Roster{View: a.standing.View, Holder: head.seller(), JoinedAt: head.int(),
		Line: make([]Waiter, 0, listed(a.standing.Waiting, most))}
	for i := 2; i < len(list); i += 3 {
		places, ranks, away := strings.Fields(list[i]), strings.Fields(list[i+1]), strings.Fields(list[i+2])
		if r.Line, err = addWaiters(r.Line, places, ranks, away, e.cfg.AwayAfter); err != nil {
			return Roster{}, err
		}
	}
	return r, nil
}

// listed returns how many of `waiting` waiters a roster lists, at most `most`; most 0 = all.
func listed(waiting, most int) int {
	if most == 0 {
		return waiting
	}
	return min(waiting, most)
}

// addWaiters appends a part of the line, from places, ranks and times since when waiters are away. away is
// empty if none is.
func addWaiters(line []Waiter, places, ranks, away []string, awayAfter time.Duration) ([]Waiter, error) {
	if len(ranks) != len(places) || len(away) != len(places) && len(away) != 0 {
		return nil, fmt.Errorf("%w: roster has %d places, %d ranks", ErrStore, len(places), len(ranks))
	}
	for i, place := range places {
		p := strings.SplitN(place, "|", 5) // live, ticket, seller, joined
		if len(p) < 5 {
			return nil, fmt.Errorf("%w: a place is not readable", ErrStore)
		}
		r := reader{fields: []string{p[1], p[3], ranks[i]}}
		w := Waiter{Seller: p[2], Ticket: r.int(), JoinedAt: r.int(), Rank: r.float()}
		if len(away) > 0 {
			since := reader{fields: away[i : i+1]}
			w.AwaySince = int64(since.float()) // a score in the sorted set
			if unclaimed(p[4]) {
				w.AwaySince += awayAfter.Milliseconds()
			}
		}
		line = append(line, w)
	}
	return line, nil
}

// unclaimed reports whether a place is away because its lease was not claimed. rest has the place's fields
// from its channel on; see places.lua.
func unclaimed(rest string) bool {
	p := strings.SplitN(rest, "|", 4) // channel, lease, asks
	return len(p) == 4 && strings.HasPrefix(p[3], "u")
}
