package wire

// Result is what became of a message.
type Result string

// The results.
const (
	Matched   Result = "matched"   // the message belongs to the current lease
	Late      Result = "late"      // the message belongs to an earlier lease
	Unmatched Result = "unmatched" // the message belongs to no lease, or it is not known to which
)

// Reason is why a message is unmatched.
type Reason string

// The reasons.
const (
	NoLease     Reason = "no_lease"     // no session held the lock
	Ambiguous   Reason = "ambiguous"    // two leases could have caused the message
	NotExpected Reason = "not_expected" // no lease that could have caused the message asked for it
	Rejected    Reason = "rejected"     // the holder rejected the message
	WrongNumber Reason = "wrong_number" // the message was sent to another number than the room's
)

// StoredMessage is a message of the last ten minutes as Redis has it in {room}:texts, under its digest.
type StoredMessage struct {
	// State is w = waiting for the ledger's verdict, s = shown to its session, n = of no session, o =
	// unclaimed: offered to the session whose lease with that fence holds the lock.
	State   string `json:"state"`
	Session string `json:"session,omitempty"` // of the lease that it belongs to, or is offered to
	Fence   int64  `json:"fence,omitempty"`   // of that lease
	Ticket  int64  `json:"ticket,omitempty"`  // of that lease
	// Result, Reason and Received are as verb/match.lua answered, until support or the session changes them.
	Result   Result `json:"result"`
	Reason   Reason `json:"reason,omitempty"` // see Result
	Received int64  `json:"received"`         // see Result
	From     int64  `json:"from"`             // when it was sent: within [From, To)
	To       int64  `json:"to"`               // see From
	// Later is how much of To allows for a carrier's clock that is behind. By that part only support, or a
	// session that claims the message, may give it to a lease.
	Later    int64  `json:"later,omitempty"`
	Code     string `json:"code,omitempty"`     // keyed digest of its code; "1" = a short one, "" = none
	Same     string `json:"same"`               // keyed digest of its sender and text, which a duplicate has too
	Whole    string `json:"whole,omitempty"`    // of a part of a long message: digest that all parts have
	Either   bool   `json:"either,omitempty"`   // the same text belongs to a lease, and this may be another's
	Rejected string `json:"rejected,omitempty"` // fences of the leases that rejected it, with commas between
	Sealed   string `json:"sealed"`             // its text
}

// Parts is what is known of a long message of which a part came in the last minute, as Redis has it in
// {room}:parts:DIGEST.
type Parts struct {
	First    string `json:"first"`              // digest of the part that came first
	Answered bool   `json:"answered,omitempty"` // a part has answered an ask
	Numbers  []int  `json:"numbers"`            // of the parts that came
	// Reused is true if a part came twice before all had come: two messages may have the reference.
	Reused bool  `json:"reused,omitempty"`
	CodeAt int64 `json:"code_at,omitempty"` // when the first part with a code was sent; 0 = none has one
}

// Match is what became of a message, as verb/match.lua replies it.
type Match struct {
	Result    Result `json:"result"`
	Reason    Reason `json:"reason,omitempty"` // when unmatched
	Ticket    int64  `json:"ticket,omitempty"`
	Fence     int64  `json:"fence,omitempty"`
	Epoch     int64  `json:"epoch,omitempty"`
	Granted   int64  `json:"granted,omitempty"`   // grant of the lease
	Ended     int64  `json:"ended,omitempty"`     // its end; of a live one, when the message was matched
	At        int64  `json:"at,omitempty"`        // when Redis matched the message
	Duplicate bool   `json:"duplicate,omitempty"` // an earlier message had the same sender and text
	Judge     bool   `json:"judge,omitempty"`     // the ledger has to agree before the message is shown
	Completes bool   `json:"completes,omitempty"` // the message ended the lease
	Version   int64  `json:"version,omitempty"`   // of the room after an assignment; 0 = not known
	// Forgotten is true of an assigned message whose text was deleted before, so that it is not shown.
	Forgotten bool `json:"forgotten,omitempty"`
}

// MessageNote is the ledger's record of an SMS. Its text is masked.
type MessageNote struct {
	MessageID   string `json:"message_id"`
	From        string `json:"from,omitempty"`
	Text        string `json:"text,omitempty"`
	SentAt      int64  `json:"sent_at,omitempty"`     // unix ms of the carrier's clock; 0 = not given
	Received    int64  `json:"received_at"`           // estimated unix ms of Redis's clock
	Fingerprint string `json:"fingerprint,omitempty"` // see Engine.Fingerprint
}

// ShownMessage is a message as look has it, for its session.
type ShownMessage struct {
	// Kind is m = the session's own, w = the ledger judges whether it is, o = unclaimed: the session may claim.
	Kind     string `json:"kind"`
	Digest   string `json:"digest"`
	Ticket   int64  `json:"ticket,omitempty"`
	Fence    int64  `json:"fence,omitempty"`
	Late     bool   `json:"late,omitempty"`
	Received int64  `json:"received"` // see Result
	ForgetAt int64  `json:"forget_at"`
	Sealed   string `json:"sealed"`
}

// RecentMessage is a message as recent has it, for support. No session is in it.
type RecentMessage struct {
	Digest   string      `json:"digest"`
	Fence    int64       `json:"fence,omitempty"`
	Ticket   int64       `json:"ticket,omitempty"`
	Result   Result      `json:"result"`
	Reason   Reason      `json:"reason,omitempty"`
	Code     bool        `json:"code,omitempty"`
	Received int64       `json:"received"`
	From     int64       `json:"from"`
	To       int64       `json:"to"`
	Offered  bool        `json:"offered,omitempty"`
	Sealed   string      `json:"sealed"`
	Could    []Candidate `json:"could,omitempty"` // the leases that could have caused it
}

// Candidate is a lease that could have caused a message.
type Candidate struct {
	Fence     int64  `json:"fence"`
	Ticket    int64  `json:"ticket,omitempty"`
	Seller    string `json:"seller,omitempty"`
	GrantedAt int64  `json:"granted,omitempty"`
	EndedAt   int64  `json:"ended,omitempty"` // of the live lease, its latest end
	AskedAt   int64  `json:"asked,omitempty"` // last ask at or before the message was sent; 0 = none
	Live      bool   `json:"live,omitempty"`
}
