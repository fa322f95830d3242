package wire

// Message is an SMS as its holder sees it. Its text and code are secrets.
type Message struct {
	MessageID  string  `json:"message_id"`
	Text       string  `json:"text"`
	Code       *string `json:"code"`
	ReceivedAt int64   `json:"received_at"` // unix ms
	Late       bool    `json:"late"`        // its lease was over when it arrived
	// Unreadable is true if this process cannot open the message: another secret has sealed it. Then the id
	// is a digest, and text and code are empty.
	Unreadable bool  `json:"unreadable,omitempty"`
	Ticket     int64 `json:"-"` // of the place that the message belongs to
	Fence      int64 `json:"-"` // of the message's lease
	ForgetAt   int64 `json:"-"` // unix ms: not shown from then on
}

// Offer is an unmatched message with a code that the holder may claim by an ask.
type Offer struct {
	MessageID  string `json:"message_id"`
	ReceivedAt int64  `json:"received_at"` // unix ms
	ForgetAt   int64  `json:"-"`           // unix ms
}

// Seat is a session's place with the messages that its page shows.
type Seat struct {
	Place
	Messages []Message // of the session's last lease, and late ones of earlier leases
	Offers   []Offer   // only for the holder
	Judging  bool      // the ledger has yet to agree to one more message
}

// Snapshot is the whole line at one version.
type Snapshot struct {
	View
	Ranks []float64 // of the waiters, in order
}

// Waiter is a waiter for support's pages, without its session, which is a credential.
type Waiter struct {
	Ticket   int64
	Seller   string
	Rank     float64 // orders the line
	JoinedAt int64   // unix ms
	// AwaySince is since when the waiter has been gone (unix ms); 0 = it is not away. For a waiter that did
	// not claim its lease, it is when that lease ended.
	AwaySince int64
	Address   string // digest of the client's address when it joined; "" = not known
}

// Roster is the whole line with its sellers, at one version.
type Roster struct {
	View
	Holder   string // the seller that holds the lock; "" while the lock is free
	JoinedAt int64  // unix ms: when the holder joined; 0 = not known
	Line     []Waiter
}
