package wire

// Entry is the journal entry of one call of a verb.
//
// ID is the id of the entry in the room's Redis stream, and grows. With Epoch it is the ledger's idempotency
// key. A Redis that lost its last writes may give an ID out again; the ledger then renames the later entry.
type Entry struct {
	ID      string
	Epoch   int64
	Version int64
	Records []Record
	Trace   string // the W3C traceparent of the call's span; "" = none that is sampled

	Odd error  // why the entry is malformed, so that only ID and Raw count; nil = it is well-formed
	Raw string // the content of a malformed entry
}

// Recorded is what the ledger has of a room.
type Recorded struct {
	Fence, Ticket int64 // the highest in the ledger
	Open          bool  // there is a lease without an end
	// Ended is when the latest lease ended, or was granted if it is open (unix ms). 0 = no lease.
	Ended int64
}

// PlaceID names a place of a room.
type PlaceID struct{ Epoch, Ticket int64 }

// RecordedEnd is how a place ended, as the ledger has it.
type RecordedEnd struct {
	PlaceID
	Seller  string
	Outcome Outcome
	Fence   int64 // of the place's lease; 0 = it had none
	EndedAt int64 // unix ms
}
