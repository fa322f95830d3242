package room

import (
	"math"
	"time"
)

// Status is the state of a session in a room.
type Status string

// A session without a place is idle; one whose last place is over has ended.
const (
	Idle    Status = "idle"
	Waiting Status = "waiting"
	Locked  Status = "locked"
	Ended   Status = "ended"
)

// Outcome is how a place ended.
type Outcome string

// The outcomes that docs/contract.md names.
const (
	Completed Outcome = "completed"
	Cancelled Outcome = "cancelled"
	Expired   Outcome = "expired"
	Forced    Outcome = "forced"  // support ended the lease, or a person deleted the key
	Removed   Outcome = "removed" // support removed the waiter
	Dropped   Outcome = "dropped" // the waiter was away for too long, or did not claim a second turn
	Lost      Outcome = "lost"    // Redis lost the data

	Unclaimed Outcome = "unclaimed" // of a lease that was not claimed, while its place goes on
)

// Lease is one holding of the lock: the half-open time from GrantedAt to its end.
//
// Times are unix milliseconds of Redis's clock.
type Lease struct {
	Ticket    int64 `json:"ticket"`
	Fence     int64 `json:"fence"`
	GrantedAt int64 `json:"granted_at"`
	ExpiresAt int64 `json:"expires_at"`

	Asked    int   `json:"asked"`     // number of asks
	Open     int   `json:"open"`      // number of asks without a code
	AskAfter int64 `json:"ask_after"` // when the holder may ask, while the number is busy; 0 = now
	ClaimBy  int64 `json:"claim_by"`  // deadline of the holder's claim; 0 = it need not claim, or has claimed
}

// Ends returns when the lease ends by itself, in unix milliseconds.
func (l Lease) Ends() int64 {
	if l.ClaimBy != 0 {
		return min(l.ClaimBy, l.ExpiresAt)
	}
	return l.ExpiresAt
}

// View is the public state of a room at one version.
type View struct {
	Epoch   int64
	Version int64
	Lineage string        // server histories under which the epoch was written; see lineage.lua
	Now     int64         // unix milliseconds of Redis's clock
	Waiting int           // number of waiters, away or not
	Hold    time.Duration // average time that leases were held, never over the lease length
	Spread  time.Duration // standard deviation of those times; see lab/estimates.md
	Paused  bool
	Lease   *Lease // nil while the lock is free
}

// Place is one session's place in a room.
type Place struct {
	Status   Status
	Ticket   int64
	Seller   string
	Outcome  Outcome // of an ended place
	Fence    int64   // of the holder's lease, or of the lease of an ended place
	Position int     // from 1 = next; 0 unless waiting
	Rank     float64 // orders the line; 0 unless waiting

	// Unclaimed: a waiter is away, since its lease was not claimed, until the session confirms (rule 11 of
	// docs/contract.md).
	Unclaimed bool
}

// Live reports whether the session waits or holds the lock.
func (p Place) Live() bool { return p.Status == Waiting || p.Status == Locked }

// Standing is a room and one session's place in it, at one version.
type Standing struct {
	View
	Place
	LeaseLength time.Duration
	Already     bool // from Leave: a message had completed the lease before
}

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

// Seconds rounds a wait up to whole seconds.
func Seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// Time returns the instant of a unix millisecond, in UTC.
func Time(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
