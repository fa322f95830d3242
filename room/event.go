package room

import (
	"encoding/json"
	"fmt"
)

// Event has all that a mirror, a replica's copy of a room, needs to go from the version before to this one.
//
// The Lua library publishes it on the room's channel. Session ids in it are credentials: an event never
// leaves the process.
type Event struct {
	Format  int         `json:"format"` // see Format; 0 = written before there were formats
	Epoch   int64       `json:"epoch"`
	Version int64       `json:"version"`
	Lineage string      `json:"lineage"` // see View
	Now     int64       `json:"now"`     // unix ms of Redis's clock
	Hold    float64     `json:"hold"`    // average hold, ms; see View
	Spread  float64     `json:"spread"`  // ms
	Paused  bool        `json:"paused"`
	Changed bool        `json:"changed"` // false: there are only Notes, and Version is the same as before
	Lease   *EventLease `json:"lease"`   // the lease after the change
	Joined  []Joined    `json:"joined"`  // new places; one that was granted at once is also the lease
	Ended   []Finished  `json:"ended"`
	Moved   []Joined    `json:"moved"` // waiters with a new rank
	Reset   bool        `json:"reset"` // the line was renumbered: mirrors take a snapshot
	Notes   []Note      `json:"notes"`
	Missed  []Missed    `json:"missed"` // at most one, since one change ends at most one lease
}

// EventLease is the live lease. Rank is set if this change granted it to a waiter.
type EventLease struct {
	Lease
	Session string   `json:"session"`
	Seller  string   `json:"seller"`
	Rank    *float64 `json:"rank"`
}

// Joined is a place in the line.
type Joined struct {
	Session string  `json:"session"`
	Ticket  int64   `json:"ticket"`
	Seller  string  `json:"seller"` // of a new place and of a Missed one; not of a moved one
	Rank    float64 `json:"rank"`
	From    float64 `json:"from"` // of a moved place: its rank before

	Unclaimed bool `json:"unclaimed"` // of a moved place: it is away because its lease was not claimed
}

// Missed is a place whose lease was not claimed. It waits again, away, with its old rank (rule 11 of
// docs/contract.md).
type Missed struct {
	Joined
	JoinedAt int64 `json:"joined"` // unix ms
	Fence    int64 `json:"fence"`  // of the lease
	At       int64 `json:"at"`     // unix ms: when the lease ended and the place became away
}

// Finished is a place that ended. A holder's place has its fence, a waiter's its rank.
type Finished struct {
	Session string   `json:"session"`
	Ticket  int64    `json:"ticket"`
	Seller  string   `json:"seller"`
	Outcome Outcome  `json:"outcome"`
	At      int64    `json:"at"` // unix ms: when the place ended
	Fence   int64    `json:"fence"`
	Rank    *float64 `json:"rank"`
}

// Note is a change that does not change the version: presence, a message, or an action of support.
type Note struct {
	Ticket  int64   `json:"ticket"`
	Away    *bool   `json:"away"`
	Since   int64   `json:"since"`   // unix ms: since when an away waiter has been gone
	Message string  `json:"message"` // the session whose messages changed; see Engine.Look
	Judged  bool    `json:"judged"`  // the ledger has agreed to that message or refused it
	Judging string  `json:"judging"` // the session whose turn ended by a message not judged yet
	Session string  `json:"session"` // the session that support helped
	Support Helping `json:"support"` // how support helped it
	// Desk: messages or incidents changed, so support's pages load them again; see Engine.RecentMessages.
	Desk bool `json:"desk"`
}

// Helping is what another person did for one session, for its page to show.
type Helping string

// The kinds of help. All but JoinedDevice come from support.
const (
	Extended Helping = "extended" // the session's lease has more time
	Moved    Helping = "moved"    // the session has another position in the line
	Assigned Helping = "assigned" // a message was assigned to the session

	// JoinedDevice: another browser joined the session's place by a link. No event has it.
	JoinedDevice Helping = "joined_device"
)

// view returns the part of the event that this process remembers.
func (e *Event) view() View {
	v := View{Epoch: e.Epoch, Version: e.Version, Lineage: e.Lineage, Now: e.Now}
	if e.Lease != nil {
		v.Lease = &e.Lease.Lease
	}
	return v
}

// ParseEvent decodes an event. The error does not repeat the payload; it wraps ErrNewer for a later format.
func ParseEvent(payload string) (Event, error) {
	var e Event
	if err := json.Unmarshal([]byte(payload), &e); err != nil {
		return Event{}, fmt.Errorf("read event: %d bytes are not an event", len(payload))
	}
	if e.Format > Format {
		return Event{}, fmt.Errorf("read event: %w: it is of format %d", ErrNewer, e.Format)
	}
	return e, nil
}
