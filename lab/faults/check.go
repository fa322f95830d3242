package faults

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Kinds of violations. Each is a rule of the contract.
const (
	// rule 1: a lease began before the one before it was over, or one fence was given to two
	TwoHolders = "two_holders"
	// rule 11: a lease that was claimed ended as unclaimed, or one ended so before it was to be claimed
	ClaimIgnored = "claim_ignored"
	HeldTooLong  = "held_too_long" // rule 5: shown as held after its end, or after the next one had it
	EndTooFar    = "end_too_far"   // rule 5: a lease's end is shown further ahead than a lease is long
	// rule 5: a client was sent a time that is not Redis's, by which countdowns are shown
	TimeOff        = "time_off"
	Stuck          = "stuck"           // rules 5, 7: the lock was free, a seller waited, and did not get it
	Overtaken      = "overtaken"       // rule 2: granted while one who came earlier was there and waited
	FenceBack      = "fence_back"      // rule 6: a later lease has a lower fence
	TicketReused   = "ticket_reused"   // a ticket was given to two sessions
	TicketBack     = "ticket_back"     // a later ticket is lower
	SamePosition   = "same_position"   // two had one position at one version
	TwoPlaces      = "two_places"      // rules 4, 9: a session was given a second ticket while the first lived
	TwoOutcomes    = "two_outcomes"    // rule 3: a ticket ended twice
	BackFromEnd    = "back_from_end"   // rule 3: a ticket lives again
	Vanished       = "vanished"        // rule 3: nothing is known any more of a seller that had a place
	LostUnasked    = "lost_unasked"    // rule 10: shown as lost, or given a new epoch, where nothing was lost
	VersionBack    = "version_back"    // a socket was sent an older version of an epoch, or an older epoch
	SocketBehind   = "socket_behind"   // a socket did not get a change in time
	WrongCode      = "wrong_code"      // rule 12: a code was shown to, or attributed to, another seller
	CodeUnseen     = "code_unseen"     // a code that came for a seller with a socket was not shown
	CodeLeaked     = "code_leaked"     // a code is in a log, in metrics or in Redis's files
	LedgerMissing  = "ledger_missing"  // rule 3: what clients observed is not in the ledger, or not so
	LedgerOverlap  = "ledger_overlap"  // rule 1, by the ledger
	LedgerOutcomes = "ledger_outcomes" // rule 3, by the ledger: not one outcome
	LedgerGap      = "ledger_gap"      // tickets of an epoch are not 1, 2, 3 …
	Miscounted     = "miscounted"      // metrics of all replicas together say something else than the ledger
	WebhookMissing = "webhook_missing" // docs/api.md, webhooks: the integration did not get what the ledger has
	WebhookTwice   = "webhook_twice"   // likewise: one event came as two
	WebhookOrder   = "webhook_order"   // likewise: an event of a lease came before its grant
	IndexLost      = "index_lost"      // the index of rooms was not built again in time
	GhostGranted   = "ghost_granted"   // rule 2: a seller whose connection hung was granted the lock
	RequestDropped = "request_dropped" // a replica that was ended politely dropped a request
	SellersNoticed = "sellers_noticed" // the database was away, and a seller's call failed
	NoService      = "no_service"      // no replica answered
)

// Violation is a broken rule, and where in the history it was broken.
type Violation struct {
	Kind   string
	Room   string
	At     int64 // µs since the run began; 0 = of the whole run
	Detail string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s at %.3f s: %s", v.Kind, v.Room, float64(v.At)/1e6, v.Detail)
}

// Rules has the settings that a history is checked against.
type Rules struct {
	Loses     bool // the store was meant to lose data
	AwayAfter time.Duration
	Lease     time.Duration

	ClaimWithin time.Duration // 0 = no lease is to be claimed

	Shows    bool          // every code that came for a seller with a socket is shown
	Webhooks bool          // the integration gets webhooks of everything
	Serves   time.Duration // how soon after a fault calls are answered again; 0 = servesWithin
}

// Times that no rule names: what a machine under load may take.
const (
	clockGrain  = 3 * time.Millisecond // two readings of one machine's clock, cut to milliseconds
	noticed     = time.Second          // away is noticed within it
	backWithin  = 1500 * time.Millisecond
	grantWithin = 3 * time.Second // from a lease's end to the next, when nothing is broken
	healWithin  = 5 * time.Second // from the end of a fault until it explains nothing any more
	frameWithin = 3 * time.Second // from an answer that says so to a frame that does

	clockSettles = 1500 * time.Millisecond // from setting Redis's clock until every client knows it
	clockError   = time.Second             // by which what a replica reckons of Redis's clock may be off
)

// Check checks a history by every rule. It skips the ledger's rules if the ledger was not read.
func Check(records []Record, ledger Ledger, rules Rules) (found []Violation) {
	b := read(byRedis(records), rules)
	for _, room := range b.rooms() {
		r := b.of[room]
		r.learn(ledger)
		found = append(found, r.leasesApart()...)
		found = append(found, r.heldTooLong()...)
		found = append(found, r.endsSoon()...)
		found = append(found, r.timesRight()...)
		found = append(found, r.claims()...)
		found = append(found, r.order()...)
		found = append(found, r.stuck()...)
		found = append(found, r.tickets()...)
		found = append(found, r.places()...)
		found = append(found, r.losses()...)
	}
	found = append(found, b.served()...)
	found = append(found, b.sockets()...)
	found = append(found, b.codes()...)
	if rules.Shows {
		found = append(found, b.unseen()...)
	}
	if ledger.Read {
		found = append(found, b.ledger(ledger)...)
		found = append(found, ledger.counted()...)
		if rules.Webhooks {
			found = append(found, b.webhooks(ledger)...)
		}
	}
	slices.SortStableFunc(found, func(a, c Violation) int { return cmp.Compare(a.At, c.At) })
	return found
}
