package room

import (
	"context"
	"time"
)

var seenScript = script("seen", "back")

// SeenBatch is how many sessions one Seen may name.
const SeenBatch = 500

// Seen tells presence that has to be told again and again: the sessions here are vouched for until `vouch` from now, those gone are there
// no more. It is for who has no host number (see Presence). Sessions that do not wait are passed by. A session nobody ever vouched for is never
// away. At most SeenBatch sessions in all.
func (e *Engine) Seen(ctx context.Context, id ID, vouch time.Duration, here, gone []string) (View, error) {
	args := make([]any, 0, 2+len(here)+len(gone))
	args = append(args, vouch.Milliseconds(), len(here))
	for _, s := range here {
		args = append(args, s)
	}
	for _, s := range gone {
		args = append(args, s)
	}
	st, err := e.standing(ctx, seenScript, id, "seen", args...)
	return st.View, err
}
