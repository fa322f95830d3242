package room

import (
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// The records of a room that others see; see room/wire.
type (
	Status  = wire.Status
	Outcome = wire.Outcome
	Lease   = wire.Lease
	Place   = wire.Place
	View    = wire.View
	Waits   = wire.Waits

	Seat     = wire.Seat
	Message  = wire.Message
	Offer    = wire.Offer
	Snapshot = wire.Snapshot
	Roster   = wire.Roster
	Waiter   = wire.Waiter
)

// The statuses and outcomes of a session.
const (
	Idle    = wire.Idle
	Waiting = wire.Waiting
	Locked  = wire.Locked
	Ended   = wire.Ended

	Completed = wire.Completed
	Cancelled = wire.Cancelled
	Expired   = wire.Expired
	Forced    = wire.Forced
	Removed   = wire.Removed
	Dropped   = wire.Dropped
	Lost      = wire.Lost
	Unclaimed = wire.Unclaimed
)

// Standing is a room and one session's place in it, at one version.
type Standing struct {
	View
	Place
	LeaseLength time.Duration
	Already     bool // from Leave: a message had completed the lease before
	// OtherTicket is the ticket of the seller's place, from Join with ErrSellerHasPlace. It is for the ledger:
	// the caller may be another person.
	OtherTicket int64
}

// Seconds rounds a wait up to whole seconds.
func Seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// Time returns the instant of a unix millisecond, in UTC.
func Time(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
