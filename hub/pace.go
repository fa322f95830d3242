package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
)

const (
	restFor  = 4                     // times as long as the call before took
	restMost = 20 * time.Millisecond // of which nobody notices anything
)

// pace has calls that take all who have come meanwhile rest between each other. Most of what such a call costs is the call, for however many it is:
// when thousands come back at once, each of them would find none under way, and begin one for itself alone. Where nobody has come lately the
// first one waits for nothing.
type pace struct{ began time.Time }

func (p *pace) begin() { p.began = time.Now() }

// rest waits after a call, unless that was full: then there are more than one takes already. False when ctx ended first.
func (p *pace) rest(ctx context.Context, full bool) bool {
	if full {
		return true
	}
	return follow.Pause(ctx, min(restFor*time.Since(p.began), restMost))
}
