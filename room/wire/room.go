// Package wire declares the records that a room has in Redis, and those that the Lua library sends.
//
// Each record is a Go struct, and JSON wherever it is stored or sent. Its fields are declared here alone: Lua
// makes the JSON by functions that are generated from the structs (see Lua), and Go reads it with
// encoding/json. A field that is absent is zero: 0, false, "" or an empty list. A pointer that is absent is
// nil in Go and in Lua.
//
// Times and lengths are in unix milliseconds and milliseconds of Redis's clock unless a comment names another
// unit. A text is a room, a session, a seller, a digest or a word of the contract, so it needs no escaping.
package wire

import "time"

// ID names a room. Package room makes one of a text that is valid.
type ID string

// SupportRoom is the reserved room whose journal has support's actions outside rooms: signing in and out.
const SupportRoom ID = "support"

// The limits of every room.
const (
	LongestLease = 10 * time.Minute // longest a lease may be, with all extensions
	AskOpenFor   = 10 * time.Minute // longest that an ask waits for its code; see docs/matching.md
)

// Room is what every process sees of a room. The state, each event and each reply have it.
type Room struct {
	Epoch   int64 `json:"epoch"`   // one unbroken life of the room's data
	Version int64 `json:"version"` // grows by one with each change
	// Lineage has the server histories under which the epoch was written; see lineage.lua.
	Lineage string `json:"lineage,omitempty"`

	Hold   time.Duration `json:"hold,omitempty"`   // average time that leases are held, in ns
	Spread time.Duration `json:"spread,omitempty"` // standard deviation of those times, in ns
	Holds  int           `json:"holds,omitempty"`  // from how many leases Hold comes, counted to 9
	Public
	// Support is what support has set for the whole room; nil = nothing.
	Support *BySupport `json:"support,omitempty"`
}

// Public is what every page of a room shows of it beside its line. The state frame, the status and the page's
// first state have its members under the same names.
type Public struct {
	Paused bool `json:"paused"` // support paused the room
}

// Lease is one holding of the lock: the half-open time from GrantedAt to its end.
type Lease struct {
	Ticket    int64 `json:"ticket"`            // of the holder's place
	Fence     int64 `json:"fence,omitempty"`   // above the fence of every lease before
	GrantedAt int64 `json:"granted,omitempty"` // when it began
	ExpiresAt int64 `json:"expires,omitempty"` // when it ends at the latest

	Asked    int   `json:"asked,omitempty"`     // number of asks
	Open     int   `json:"open,omitempty"`      // number of asks without a code
	AskAfter int64 `json:"ask_after,omitempty"` // when the holder may ask, while the number is busy; 0 = now
	ClaimBy  int64 `json:"claim_by,omitempty"`  // deadline of the holder's claim; 0 = it need not claim
}

// Ends returns when the lease ends by itself, in unix milliseconds.
func (l Lease) Ends() int64 {
	if l.ClaimBy != 0 {
		return min(l.ClaimBy, l.ExpiresAt)
	}
	return l.ExpiresAt
}

// Holder is who holds the lock. A session is a credential: it never leaves the process.
type Holder struct {
	Session string `json:"session"`          // "-" = the holder was lost; see ORPHANED in library.lua
	Seller  string `json:"seller,omitempty"` // the seller that holds the lock
}

// Held is a live lease with its holder, as the state and an event have it.
type Held struct {
	Lease
	Holder
	// Rank is the holder's rank in the line, in the event of the change that granted the lease.
	Rank *float64 `json:"rank,omitempty" lua:"apart"`
}

// State is the rest of a room's state, which the Lua library alone reads. Before it the state has Room, and
// Lease and Holder while the lock is held; while it is free, the state has the last lease's fence.
type State struct {
	Format     int   `json:"format"`                // see FORMAT in library.lua
	Tickets    int64 `json:"tickets,omitempty"`     // the last ticket given
	IdleSince  int64 `json:"idle_since,omitempty"`  // since when the room is idle and its keys expire
	AdvancedAt int64 `json:"advanced_at,omitempty"` // when the room was last brought up to date

	PresenceTrustedFrom int64 `json:"presence_trusted_from,omitempty"` // until then no session counts as gone
	// Recovers is until when the room answers no call, since it may have lost data.
	Recovers int64 `json:"recovers,omitempty"`
	// HighestFence is the highest fence that is known, if the lease has a lower one.
	HighestFence int64 `json:"highest_fence,omitempty"`
	// RenewedAt is when the expiry of an ephemeral room's keys was last renewed.
	RenewedAt   int64 `json:"renewed_at,omitempty"`
	RenewedTill int64 `json:"renewed_till,omitempty"` // a lease that lasts longer needs another expiry

	LastLeaseOver int64 `json:"last_lease_over,omitempty"` // when the last lease was over
	// Evicted is how many keys the server had evicted when the lease began; 0 = none, or not known.
	Evicted int64 `json:"evicted,omitempty"`
	// RankUntilClaimed is the holder's rank in the line, until it claims the lease; nil = it need not.
	RankUntilClaimed *string `json:"rank_until_claimed,omitempty"`
	Asking           bool    `json:"asking,omitempty"`   // whether the lease asks
	LastAsk          int64   `json:"last_ask,omitempty"` // when it asked last
	// EndExtended is true if the lease was extended because it may not ask yet.
	EndExtended bool `json:"end_extended,omitempty"`
	Codes       int  `json:"codes,omitempty"`   // codes that came though the lease does not ask
	Rejects     int  `json:"rejects,omitempty"` // messages that its session rejected

	OpenParty string `json:"open_party,omitempty"` // the party whose lease ended last with an open ask
	OpenAt    int64  `json:"open_at,omitempty"`    // when that lease ended
	OpenOther int64  `json:"open_other,omitempty"` // when the last such lease of any other party ended
	// MaybeAnsweredUntil: an ask of a lease that ended before then may have an answer by now.
	MaybeAnsweredUntil int64 `json:"maybe_answered_until,omitempty"`
	// SecondCodeParty may get one more code; see asks.set_second_code.
	SecondCodeParty string `json:"second_code_party,omitempty"`
	// SecondCodeAt is when the lease of that party's last ask ended, or when it asked while that is live.
	SecondCodeAt int64 `json:"second_code_at,omitempty"`
	// LostFrom is from when on asks may be missing, by a loss of data.
	LostFrom int64 `json:"lost_from,omitempty"`
	LostAt   int64 `json:"lost_at,omitempty"` // until then asks may be missing, by a loss of data
	// ClockBackFrom is from when on asks may be missing, since the clock went back.
	ClockBackFrom int64 `json:"clock_back_from,omitempty"`
	// ClockBackAt is until when they may be missing.
	ClockBackAt int64 `json:"clock_back_at,omitempty"`
}

// View is the public state of a room at one version.
type View struct {
	Room
	Now     int64  `json:"now"`
	Waiting int    `json:"waiting"` // number of waiters, away or not
	Lease   *Lease `json:"lease"`   // nil while the lock is free
}
