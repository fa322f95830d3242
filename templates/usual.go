package templates

import "math"

// Usual is what the page knows of turns beside the two waits of a state. In the zero value it knows nothing.
type Usual struct {
	Position int     // from 1 = next; a newcomer's is behind all
	Spread   float64 // seconds: how far holds lie from their average
	Held     bool    // the lock is held
	Left     float64 // seconds of the live lease

	// Hold is the average hold by the room's history, in seconds; 0: there is none. Lease is a whole lease, and
	// Holds is from how many leases the room's own average comes.
	Hold, Lease float64
	Holds       int
}

// enough is the number of leases from which on a room's own average no longer needs its history, and
// historyWeighs is how many leases the history weighs as much as.
const (
	enough        = 9
	historyWeighs = 4
)

// NeedsHistory reports whether the room's own average is still partly a whole lease.
func (v RoomView) NeedsHistory() bool { return v.Holds < enough }

// Expected returns the wait that the page shows for an estimate, where both waits are in seconds.
//
// A room's own average begins with a whole lease, which weighs as much as each of its first leases. Expected
// puts the history in its place, with the weight of several leases. It returns no less than the history's
// share, should more leases have ended than the page knows of.
func (u Usual) Expected(estimated, maximum float64) float64 {
	if u.Hold <= 0 || u.Holds >= enough {
		return estimated
	}
	leases, holds := float64(u.Position-1), float64(u.Holds)
	byHistory := historyWeighs * min(u.rest()+leases*u.Hold, maximum)
	if u.Held {
		leases++
	}
	learned := (holds+1)*estimated - leases*u.Lease
	return min(estimated, (byHistory+max(learned, 0))/(historyWeighs+holds))
}

// rest returns how long the live lease is expected to take still, by the rule of the server's estimate.
func (u Usual) rest() float64 {
	off := u.Spread / u.Hold
	wild := min(off*off, 1)
	elapsed := max(u.Lease-u.Left, 0)
	return min(wild*math.Ln2*u.Hold+(1-wild)*max(u.Hold-elapsed, 0), u.Left)
}

// four waits of five of a normal distribution are within so many deviations
const fourOfFive = 1.2816

// sellers leave the line, and turns grow longer or shorter from hour to hour, by such a share of the wait
const drifts = 0.25

// Range returns between how many seconds four waits of five lie, for the expected and the longest wait in
// seconds: lab/estimates.md has the rule, and how many waits were within it.
func (u Usual) Range(expected, maximum float64) (low, high float64) {
	n, rest := float64(u.Position-1), min(u.Spread, u.Left/2)
	drift := drifts * expected
	off := fourOfFive * math.Sqrt(rest*rest+u.Spread*u.Spread*(n+n*n/19)+drift*drift)
	return max(expected-off, 0), min(expected+off, maximum)
}

// minutes returns the range in minutes, rounded outward. The next in line has none, since holders are often
// either quick or stay to the end; nor has a seller behind the hundredth, for whom it depends on the next
// hours, nor a wait below a minute or of an hour.
func (u Usual) minutes(expected, maximum int) (from, to int, shown bool) {
	if u.Position < 2 || u.Position > 100 || u.Spread <= 0 {
		return 0, 0, false
	}
	low, high := u.Range(float64(expected), float64(maximum))
	from, to = int(low/60), int(math.Ceil(high/60))
	return from, to, from >= 1 && from < to && to < 60
}
