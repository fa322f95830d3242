package wire

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

// Place is one session's place in a room, as a reply has it.
type Place struct {
	Status   Status  `json:"status"`
	Ticket   int64   `json:"ticket,omitempty"`
	Seller   string  `json:"seller,omitempty"`
	Outcome  Outcome `json:"outcome,omitempty"`  // of an ended place
	Fence    int64   `json:"fence,omitempty"`    // of the holder's lease, or of the lease of an ended place
	Position int     `json:"position,omitempty"` // from 1 = next; 0 unless waiting
	Rank     float64 `json:"rank,omitempty"`     // orders the line; 0 unless waiting
	Marks
}

// Marks are what else a waiter's own page shows of its place. The stored place, replies and events have them,
// and the mirrors of replicas keep them.
type Marks struct {
	// Unclaimed: the waiter is away, since its lease was not claimed, until the session confirms (rule 11 of
	// docs/contract.md).
	Unclaimed bool `json:"unclaimed,omitempty"`
}

// Live reports whether the session waits or holds the lock.
func (p Place) Live() bool { return p.Status == Waiting || p.Status == Locked }

// StoredPlace is a place as Redis has it in {room}:places, under its session.
type StoredPlace struct {
	Ticket  int64   `json:"ticket"`            // number by arrival
	Seller  string  `json:"seller,omitempty"`  // "" = none
	Joined  int64   `json:"joined,omitempty"`  // when a live place began
	Channel string  `json:"channel,omitempty"` // where a grant is published besides the room's channel
	Lease   int64   `json:"lease,omitempty"`   // how long its lease is; 0 = as long as the room's
	Asking  bool    `json:"asking,omitempty"`  // whether its lease asks for codes
	Missed  int64   `json:"missed,omitempty"`  // fence of the lease that it did not claim
	Outcome Outcome `json:"outcome,omitempty"` // "" = the place is live
	Ended   int64   `json:"ended,omitempty"`   // when an ended place ended
	Fence   int64   `json:"fence,omitempty"`   // of an ended place: of its lease
	// ByMessage is true if a message ended the lease.
	ByMessage bool   `json:"by_message,omitempty"`
	Address   string `json:"address,omitempty"`  // digest of the client's address; "" = not known
	Browser   bool   `json:"browser,omitempty"`  // a browser was there, though SEEN and HERE do not have it
	Undoable  bool   `json:"undoable,omitempty"` // support ended the place, and may put its session back
	Restored  int64  `json:"restored,omitempty"` // ticket of the ended place that support put back by this one
	Marks
}

// EndedLease is a lease that has ended, as Redis has it in {room}:leases, with its grant as the score.
type EndedLease struct {
	Fence   int64  `json:"fence"`             // of the lease
	Ticket  int64  `json:"ticket,omitempty"`  // of its place
	Session string `json:"session,omitempty"` // that held the lock
	Seller  string `json:"seller,omitempty"`  // that held the lock
	Granted int64  `json:"granted,omitempty"` // when it began
	Ended   int64  `json:"ended,omitempty"`   // when it was over
	Asking  bool   `json:"asking,omitempty"`  // whether it asked for codes by asks
	Codes   int    `json:"codes,omitempty"`   // codes that came though it does not ask
	Rejects int    `json:"rejects,omitempty"` // messages that its session rejected
	Asks    []Ask  `json:"asks"`              // in the order of their times
}

// Ask announces a code. It is open until a code answers it.
type Ask struct {
	N        int    `json:"n"`        // its number in the lease, from 1
	At       int64  `json:"at"`       // when it was made
	Answered string `json:"answered"` // digest of the message that answered it; "" = it is open
	Filter   string `json:"filter"`   // which messages it takes, sealed for Go; "" = all
}
