package room

import (
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// Limits that the Lua library, and other packages, share with this one.
const (
	LongestLease = wire.LongestLease
	AskOpenFor   = wire.AskOpenFor

	// settling is the time after an outage, or a jump of Redis's clock, within which every replica has
	// reported presence again. Until then no session counts as gone.
	settling = 3 * time.Second
)

// luaLimits declares the limits for a Lua text, in ms.
func luaLimits() string {
	return fmt.Sprintf("local LONGEST, OPEN_FOR, SETTLING = %d, %d, %d -- see room/limits.go\n",
		LongestLease.Milliseconds(), AskOpenFor.Milliseconds(), settling.Milliseconds())
}
