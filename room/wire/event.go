package wire

// Event has all that a mirror, a replica's copy of a room, needs to go from the version before to this one.
//
// The Lua library publishes it on the room's channel. Session ids in it are credentials: an event never
// leaves the process.
type Event struct {
	Format int   `json:"format"` // see Format; 0 = written before there were formats
	Now    int64 `json:"now"`    // unix ms of Redis's clock
	Room
	Changed bool       `json:"changed"` // false: there are only Notes, and Version is the same as before
	Lease   *Held      `json:"lease"`   // the lease after the change
	Joined  []Joined   `json:"joined"`  // new places; one that was granted at once is also the lease
	Ended   []Finished `json:"ended"`   // places that ended
	Moved   []Joined   `json:"moved"`   // waiters with a new rank
	Reset   bool       `json:"reset"`   // the line was renumbered: mirrors take a snapshot
	Notes   []Note     `json:"notes"`   // changes that do not change the version
	Missed  []Missed   `json:"missed"`  // at most one, since one change ends at most one lease
}

// Joined is a place in the line.
type Joined struct {
	Session string  `json:"session"`          // of the place
	Ticket  int64   `json:"ticket"`           // of the place
	Seller  string  `json:"seller,omitempty"` // of the place
	Rank    float64 `json:"rank"`             // orders the line
	From    float64 `json:"from,omitempty"`   // of a moved place: its rank before
	Marks
}

// Missed is a place whose lease was not claimed. It waits again, away, with its old rank (rule 11 of
// docs/contract.md).
type Missed struct {
	Joined
	JoinedAt int64 `json:"joined"` // when the place began
	Fence    int64 `json:"missed"` // of the lease
	At       int64 `json:"at"`     // when the lease ended and the place became away
}

// Finished is a place that ended. A holder's place has its fence, a waiter's its rank.
type Finished struct {
	Session string   `json:"session"`          // of the place
	Ticket  int64    `json:"ticket"`           // of the place
	Seller  string   `json:"seller,omitempty"` // of the place
	Outcome Outcome  `json:"outcome"`          // how it ended
	At      int64    `json:"ended"`            // when the place ended
	Fence   int64    `json:"fence,omitempty"`  // of a holder's lease
	Rank    *float64 `json:"rank,omitempty"`   // of a waiter
}

// Note is a change that does not change the version: presence, a message, or an action of support.
type Note struct {
	Ticket  int64   `json:"ticket"`            // of the place that the note is about; 0 = none
	Away    *bool   `json:"away,omitempty"`    // whether the waiter is passed over from now on
	Since   int64   `json:"since,omitempty"`   // since when an away waiter has been gone
	Message string  `json:"message,omitempty"` // the session whose messages changed; see Engine.Look
	Judged  bool    `json:"judged,omitempty"`  // the ledger has agreed to that message or refused it
	Judging string  `json:"judging,omitempty"` // the session whose turn ended by a message not judged yet
	Session string  `json:"session,omitempty"` // the session that support helped
	Support Helping `json:"support,omitempty"` // how support helped it
	// Desk: messages or incidents changed, so support's pages load them again; see Engine.RecentMessages.
	Desk bool `json:"desk,omitempty"`
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
