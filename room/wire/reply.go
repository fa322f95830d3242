package wire

// Reply is the reply of a verb. Code is "ok", or says why the verb was refused. The fields behind Place are
// those of the verbs that their comments name.
type Reply struct {
	Code string `json:"code"`
	View
	Place Place `json:"place"`

	Absence  string `json:"absence"`   // register, of a room that Redis does not have: its absence token
	AskAfter int64  `json:"ask_after"` // number_busy: when the holder may ask
	// OtherTicket is the ticket of the seller's place, where join is refused for it; for the ledger alone.
	OtherTicket int64  `json:"other_ticket"`
	Already     bool   `json:"already"` // leave: a message had completed the lease before
	Asked       *Asked `json:"asked"`   // expect
	Match       *Match `json:"match"`   // match, assign; expect of a claim
	// Filters are those of asks that match needs to know whether the message fits; sealed.
	Filters []string `json:"filters"`

	NextAt  int64 `json:"next_at"` // expire: when to call it again
	Journal int   `json:"journal"` // expire: entries that the ledger does not have yet

	RenamedPlaces int `json:"renamed_places"` // erase
	RenamedLeases int `json:"renamed_leases"`

	Seats    []SeatReply     `json:"seats"`    // look: of the sessions, in order
	Messages []RecentMessage `json:"messages"` // recent, the earliest first
	Glance   *Glance         `json:"glance"`

	Ranks        []float64     `json:"ranks"`         // snapshot, roster: of the waiters, in order
	Holder       string        `json:"holder"`        // roster: the seller that holds the lock
	HolderJoined int64         `json:"holder_joined"` // roster
	Places       []StoredPlace `json:"places"`        // roster: of the waiters, in order
	// Away is roster's: since when each waiter is away, 0 = it is not; empty if none is.
	Away []float64 `json:"away"`
}

// Asked is what became of an ask.
type Asked struct {
	Asked   int    `json:"asked"` // number of asks of the lease
	Open    int    `json:"open"`  // number of its asks without a code
	Expires int64  `json:"expires"`
	Ticket  int64  `json:"ticket"`
	Fence   int64  `json:"fence"`
	Body    string `json:"body,omitempty"` // digest of the request that made the ask
}

// SeatReply is one session's place and messages.
type SeatReply struct {
	Place    Place          `json:"place"`
	Messages []ShownMessage `json:"messages,omitempty"`
}

// Glance has the figures of a room for the desk, without its line.
type Glance struct {
	Holder  string  `json:"holder"`  // the seller that holds the lock; "" while the lock is free
	Away    int     `json:"away"`    // number of waiters that are away
	Oldest  int64   `json:"oldest"`  // when the earliest of the first waiters joined; 0 = none waits
	Leases  int     `json:"leases"`  // number of leases among the last places that ended
	Expired int     `json:"expired"` // number of those leases that expired
	Nobodys int     `json:"nobodys"` // number of unmatched messages with a code in the last 10 minutes
	LostAt  int64   `json:"lost_at"` // when Redis last lost the room's data; 0 = not since it began
	Grants  []int64 `json:"grants"`  // the times of the grants, the latest first
}
