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

// pace has calls rest between each other. Most of a call's cost is the call, for however many items it is:
// when thousands come at once, each of them would find no call under way, and begin one for itself alone. The
// first call after a while waits for nothing.
type pace struct{ began time.Time }

func (p *pace) begin() { p.began = time.Now() }

// rest waits after a call, unless that was full: more items wait already then. False when ctx ended first.
func (p *pace) rest(ctx context.Context, full bool) bool {
	if full {
		return true
	}
	return follow.Pause(ctx, min(restFor*time.Since(p.began), restMost))
}
