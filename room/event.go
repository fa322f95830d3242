package room

import (
	"encoding/json"
	"fmt"
)

// Event is what a script tells on the room's channel: everything a mirror needs to go from the
// version before to this one. Session ids in it are credentials: an event never leaves the process.
type Event struct {
	Format  int         `json:"format"` // see Format; 0 = written before there were formats
	Epoch   int64       `json:"epoch"`
	Version int64       `json:"version"`
	Lineage string      `json:"lineage"` // see View
	Now     int64       `json:"now"`     // unix ms of Redis's clock
	Hold    float64     `json:"hold"`    // average hold, ms; see View
	Spread  float64     `json:"spread"`  // ms
	Paused  bool        `json:"paused"`
	Changed bool        `json:"changed"` // false: only Notes; Version is the one before, still
	Lease   *EventLease `json:"lease"`   // the lease after the change
	Joined  []Joined    `json:"joined"`  // new places; one that was granted at once is also the lease
	Ended   []Finished  `json:"ended"`
	Moved   []Joined    `json:"moved"` // waiters with a new rank
	Reset   bool        `json:"reset"` // the line was renumbered: take a snapshot
	Notes   []Note      `json:"notes"`
	Missed  []Missed    `json:"missed"` // who did not claim its lease and waits again; at most one
}

// EventLease is the live lease; Rank is set when this very change took it from the line.
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
	Seller  string  `json:"seller"` // of a new place
	Rank    float64 `json:"rank"`
	From    float64 `json:"from"` // the rank before, when moved

	Unclaimed bool `json:"unclaimed"` // moved, and away as unclaimed
}

// Missed is a place whose lease was not claimed: it goes on, away, with the rank that it had.
type Missed struct {
	Joined
	JoinedAt int64 `json:"joined"` // unix ms
	Fence    int64 `json:"fence"`  // of the lease
	At       int64 `json:"at"`     // unix ms: when it was over, and the place away
}

// Finished is a place that ended: a holder's with its fence, a waiter's with its rank.
type Finished struct {
	Session string   `json:"session"`
	Ticket  int64    `json:"ticket"`
	Seller  string   `json:"seller"`
	Outcome Outcome  `json:"outcome"`
	At      int64    `json:"at"` // unix ms: when it was over
	Fence   int64    `json:"fence"`
	Rank    *float64 `json:"rank"`
}

// Note is something that changes no seller's state: presence, a message to be looked up, or a word from support.
type Note struct {
	Ticket  int64   `json:"ticket"`
	Away    *bool   `json:"away"`
	Since   int64   `json:"since"`   // unix ms: gone since, of one that is away
	Message string  `json:"message"` // the session a message is there for; see Engine.Look
	Judged  bool    `json:"judged"`  // of that message: the ledger has agreed to it or refused it
	Judging string  `json:"judging"` // the session whose turn ends by a message that the ledger is asked about
	Session string  `json:"session"` // the session that support did something for
	Support Helping `json:"support"` // and what
	Desk    bool    `json:"desk"`    // messages or incidents changed: who watches looks them up; see Engine.Letters
}

// Helping is what was done for one session by others, so that its page can say so: by support, but for JoinedDevice.
type Helping string

// What a session is told of.
const (
	Extended Helping = "extended" // its lease has more time
	Moved    Helping = "moved"    // it stands elsewhere in the line
	Assigned Helping = "assigned" // a message was found to be its own

	JoinedDevice Helping = "joined_device" // another browser was let into its place; no script tells this
)

// view is what the event says of the room as far as it has to be remembered.
func (e *Event) view() View {
	v := View{Epoch: e.Epoch, Version: e.Version, Lineage: e.Lineage, Now: e.Now}
	if e.Lease != nil {
		v.Lease = &e.Lease.Lease
	}
	return v
}

// ParseEvent reads an event. The error does not repeat the payload.
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
