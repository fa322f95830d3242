package wire

// Record is one change in a room, as the journal has it. Kinds lists which fields count.
type Record struct {
	Type      string  `json:"type"`
	At        int64   `json:"at"` // when it happened
	Ticket    int64   `json:"ticket,omitempty"`
	Seller    string  `json:"seller,omitempty"`
	Fence     int64   `json:"fence,omitempty"`
	GrantedAt int64   `json:"granted,omitempty"`
	ExpiresAt int64   `json:"expires,omitempty"`
	EndedAt   int64   `json:"ended,omitempty"` // of a message's live lease: when the message was matched
	Since     int64   `json:"since,omitempty"`
	Position  int     `json:"position,omitempty"`
	Asks      int     `json:"asked,omitempty"` // number of asks of the lease
	Outcome   Outcome `json:"outcome,omitempty"`
	Of        int64   `json:"of,omitempty"` // the place's epoch
	JoinedAt  int64   `json:"joined,omitempty"`
	Kept      []Kept  `json:"kept,omitempty"`
	Result    Result  `json:"result,omitempty"`
	Reason    string  `json:"reason,omitempty"`    // of a message: a Reason; of an action: support's text
	Code      bool    `json:"code,omitempty"`      // the message has a code
	Duplicate bool    `json:"duplicate,omitempty"` // an earlier message had the same sender and text
	Judge     bool    `json:"judge,omitempty"`     // the ledger has to agree to the match
	Completes bool    `json:"completes,omitempty"` // the match ended the lease
	Who       string  `json:"who,omitempty"`
	Address   string  `json:"address,omitempty"`
	Action    string  `json:"action,omitempty"`

	Text         string `json:"text,omitempty"`  // of an announcement
	Until        int64  `json:"until,omitempty"` // when an action's effect ends
	Seconds      int64  `json:"seconds,omitempty"`
	FromPosition int    `json:"from_position,omitempty"` // from 1 = next
	ToPosition   int    `json:"to_position,omitempty"`
	MessageNote
}

// Kept is a waiter's place that is still in the line after a loss.
type Kept struct {
	Ticket int64  `json:"ticket"`
	Seller string `json:"seller,omitempty"`
}

// Kind is a type of Record.
type Kind struct {
	Type   string
	Means  string
	Fields string // names of the fields that Lua writes; Go adds JSON members of its own to some kinds
}

// Kinds are the types of records.
var Kinds = []Kind{
	{"epoch", "a new epoch began: open places of earlier epochs are lost, except those in Kept", "Kept"},
	{"told", "a place that a process observed and Redis lost (0 = not known); of an unclaimed lease, only " +
		"the lease", "Of Ticket Seller JoinedAt Fence GrantedAt ExpiresAt Outcome EndedAt"},
	{"joined", "a session got a place", "Ticket Seller"},
	{"granted", "a lease began", "Ticket Seller Fence GrantedAt ExpiresAt"},
	{"extended", "the lease has another end", "Ticket Seller Fence ExpiresAt"},
	{"ended", "a place ended, with Fence of a holder; if Outcome is unclaimed only the lease ended, and the " +
		"place is away from then on", "Ticket Seller Outcome EndedAt Fence"},
	{"away", "the waiter is passed over from now on", "Ticket Seller Since"},
	{"back", "the waiter is there again", "Ticket Seller"},
	{"moved", "the waiter has another position", "Ticket Seller Position"},
	{"asked", "the holder announced an ask", "Ticket Seller Fence Asks"},
	{"message", "a message came; Go adds MessageNote",
		"Result Reason Code Duplicate Judge Completes Ticket Fence Seller GrantedAt EndedAt"},
	{"claimed", "the holder claimed an unmatched message; Go adds its id",
		"Result Code Judge Completes Ticket Fence Seller GrantedAt EndedAt"},
	{"assigned", "support assigned an unmatched message; Go adds its id, Who and Reason",
		"Result Code Judge Completes Ticket Fence Seller GrantedAt EndedAt"},
	{"rejected", "the holder rejected a message; Go adds its id", "Ticket Fence Seller"},
	{"incident", "an event that a person should look at: Action is its kind; Go adds the message's id, or Who",
		"Action Reason"},
	{"action", "an action of support: Go adds Who, Action and Reason, the message's id, Seconds of an " +
		"extension, Text of an announcement and Until", "Ticket Fence Seller FromPosition ToPosition"},
}
