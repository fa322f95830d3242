package room

import (
	"context"
	"math"
	"time"
)

// Prolong gives the session's own lease with this fence more time, however long it then is in all.
//
// The returned view has the lease's new end. Errors: ErrStaleFence, ErrStore.
func (e *Engine) Prolong(
	ctx context.Context, id ID, request, session string, fence int64, more time.Duration,
) (Standing, error) {
	args := extendArgs{fence, more, math.MaxInt64, "", session}
	return e.standing(ctx, extendVerb.with(args).keptIn(requestKey(request)), id)
}
