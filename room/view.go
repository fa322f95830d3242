package room

import (
	"math"
	"time"
)

// Status says how a session stands in a room.
type Status string

// A session without a place is idle; one whose last place is over has ended.
const (
	Idle    Status = "idle"
	Waiting Status = "waiting"
	Locked  Status = "locked"
	Ended   Status = "ended"
)

// Outcome says how a place ended.
type Outcome string

// The outcomes of the contract.
const (
	Completed Outcome = "completed"
	Cancelled Outcome = "cancelled"
	Expired   Outcome = "expired"
	Forced    Outcome = "forced"  // support, or a hand on the key, ended the lease
	Removed   Outcome = "removed" // support removed the waiter
	Dropped   Outcome = "dropped" // away for too long
	Lost      Outcome = "lost"    // the store lost the data

	Unclaimed Outcome = "unclaimed" // of a lease alone: its place goes on
)

// Lease is one holding of the lock: the half-open time from GrantedAt to its end. Times are unix
// milliseconds of Redis's clock.
type Lease struct {
	Ticket    int64 `json:"ticket"`
	Fence     int64 `json:"fence"`
	GrantedAt int64 `json:"granted_at"`
	ExpiresAt int64 `json:"expires_at"`

	Asked    int   `json:"asked"`     // how often the holder said that it asks for a code
	Open     int   `json:"open"`      // and how many of those asks no code has come for
	AskAfter int64 `json:"ask_after"` // while the number is busy: from when the holder may ask; 0 = it is not
	ClaimBy  int64 `json:"claim_by"`  // until when the holder has to say that it is there; 0 = it need not, or did
}

// Ends is when the lease is over with nobody doing anything, in unix milliseconds.
func (l Lease) Ends() int64 {
	if l.ClaimBy != 0 {
		return min(l.ClaimBy, l.ExpiresAt)
	}
	return l.ExpiresAt
}

// View is a room as everybody may see it, at one version.
type View struct {
	Epoch   int64
	Version int64
	Lineage string        // under which histories of the server the epoch's versions were written; see lineage.lua
	Now     int64         // unix milliseconds of Redis's clock
	Waiting int           // how many wait, away or not
	Hold    time.Duration // how long a lease is held: the average of those that ended, never over the lease length
	Spread  time.Duration // how far holds lie from it: their standard deviation; see lab/estimates.md
	Paused  bool
	Lease   *Lease // nil while the lock is free
}

// Place is how one session stands.
type Place struct {
	Status   Status
	Ticket   int64
	Seller   string
	Outcome  Outcome // when ended
	Fence    int64   // when locked, and when a lease has ended
	Position int     // from 1 = next; 0 unless waiting
	Rank     float64 // where in the line; 0 unless waiting

	Unclaimed bool // when waiting: it did not claim its lease, and is passed over until it says that it is back
}

// Live reports whether it waits or holds the lock.
func (p Place) Live() bool { return p.Status == Waiting || p.Status == Locked }

// Standing is a room and one session's place in it, at one version.
type Standing struct {
	View
	Place
	LeaseLength time.Duration
	Already     bool // of Leave: a message had completed the lease before
}

// Waits are the expected and the longest wait, each rounded up to whole milliseconds.
type Waits struct {
	Estimated time.Duration
	Maximum   time.Duration
}

// WaitsAt reckons the waits of position p (from 1 = next; a newcomer's is Waiting+1) at unix
// millisecond now: what the lease is expected to take still, never over what it has left, plus
// (p−1) average holds; at the longest what it has left plus (p−1) leases. ok is false while paused:
// nobody can say.
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

// rest is what a lease that is so old is expected to take still: the average hold less what has passed, where holds are all alike;
// the median of what knows no age, where they vary as chance does; in between by the share of the variance.
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

// Time is the instant of a unix millisecond, in UTC.
func Time(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
