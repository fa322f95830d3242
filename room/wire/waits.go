package wire

import (
	"math"
	"time"
)

// Waits are the expected and the longest wait.
type Waits struct {
	Estimated time.Duration
	Maximum   time.Duration
}

// WaitsAt returns the waits of position p at the time `now` (unix ms). ok is false while the room is paused.
//
// Position 1 is next; a newcomer's is Waiting+1. The expected wait is the rest of the live lease plus (p−1)
// average holds. The longest wait is all that the lease has left plus (p−1) lease lengths. See
// lab/estimates.md.
func (v View) WaitsAt(p int, now int64, lease time.Duration) (w Waits, ok bool) {
	if v.Paused {
		return Waits{}, false
	}
	var left, expected time.Duration
	if v.Lease != nil {
		left = max(time.Duration(v.Lease.ExpiresAt-now)*time.Millisecond, 0)
		elapsed := time.Duration(now-v.Lease.GrantedAt) * time.Millisecond
		expected = min(v.rest(elapsed), left)
	}
	ahead := time.Duration(max(p-1, 0))
	longest := left + ahead*lease
	return Waits{Estimated: min(expected+ahead*v.Hold, longest), Maximum: longest}, true
}

// rest returns the expected rest of a lease of some age.
//
// If all leases are held equally long, it is the average hold less the age. If the times that leases are held
// vary as an exponential distribution does, it is that distribution's median, whatever the age. In between,
// the variance weighs the two.
func (v View) rest(elapsed time.Duration) time.Duration {
	if v.Hold <= 0 {
		return 0
	}
	off := float64(v.Spread) / float64(v.Hold)
	wild := min(off*off, 1)
	return time.Duration(wild*math.Ln2*float64(v.Hold) + (1-wild)*float64(max(v.Hold-elapsed, 0)))
}
