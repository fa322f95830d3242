package room

import (
	"context"
	"slices"
	"time"
)

var seenVerb = newVerb[seenArgs]("seen")

type seenArgs struct {
	Vouch    time.Duration // from now
	Stay     int           // so many of the sessions are here; the others have gone
	Sessions []string
}

// SeenBatch is how many sessions one Seen may name.
const SeenBatch = 500

// Seen tells presence that has to be told again and again: the sessions here are vouched for until `vouch` from now, those gone are there
// no more. It is for who has no host number (see Presence). Sessions that do not wait are passed by. A session nobody ever vouched for is never
// away. At most SeenBatch sessions in all.
func (e *Engine) Seen(ctx context.Context, id ID, vouch time.Duration, here, gone []string) (View, error) {
	st, err := e.standing(ctx, seenVerb.with(seenArgs{vouch, len(here), slices.Concat(here, gone)}), id, "seen")
	return st.View, err
}
