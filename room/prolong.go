package room

import (
	"context"
	"math"
	"time"
)

// Prolong gives the session's own lease, the one with this fence, more time, without a limit to what that makes in all.
// The view tells its new end. Refusal: ErrStaleFence.
func (e *Engine) Prolong(ctx context.Context, id ID, request, session string, fence int64, more time.Duration) (Standing, error) {
	return e.standing(ctx, extendVerb.with(extendArgs{fence, more, math.MaxInt64, "", session}), id, requestKey(request))
}
