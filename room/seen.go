package room

import (
	"context"
	"slices"
	"time"
)

var seenVerb = newVerb[seenArgs]("seen")

type seenArgs struct {
	Vouch    time.Duration // how long the sessions that are connected count as so, from now
	Stay     int           // number of sessions that are connected, from the first; the others have gone
	Sessions []string
}

// SeenBatch is the most sessions of one Seen.
const SeenBatch = 500

// Seen records that the sessions in `here` are connected for the time `vouch`, and that those in `gone` are
// not.
//
// It is for callers without a replica number (see Presence), which call it again before that time is over.
// Together the sessions are at most SeenBatch. Sessions that do not wait are ignored, and a session that was
// never vouched for is never away (rule 2 of docs/contract.md). Error: ErrStore.
func (e *Engine) Seen(ctx context.Context, id ID, vouch time.Duration, here, gone []string) (View, error) {
	st, err := e.standing(ctx, seenVerb.with(seenArgs{vouch, len(here), slices.Concat(here, gone)}), id)
	return st.View, err
}
