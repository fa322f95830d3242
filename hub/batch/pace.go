package batch

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

const (
	restFor  = 4                     // times as long as the call before took
	restMost = 20 * time.Millisecond // too short to be noticed
)

// pace limits how often calls are made. A call costs about the same for one item as for many: without a
// pause, each of thousands of items would get a call of its own. The first call after a while does not wait.
type pace struct{ began time.Time }

func (p *pace) begin() { p.began = time.Now() }

// rest waits after a call, unless the batch was full, since more items are waiting then. It returns false if
// ctx ended first.
func (p *pace) rest(ctx context.Context, full bool) bool {
	if full {
		return true
	}
	return follow.Pause(ctx, min(restFor*time.Since(p.began), restMost))
}
