// Package rules is a model of the rules that give messages to leases: those of docs/matching.md.
//
// The model is written from the contract alone, and shares no code with the engine. Explore visits all small
// worlds of sellers, asks and messages, and looks for a message that another session is shown. The tests
// replay a sample of the worlds on the engine.
package rules

// Time is a moment or a duration, in thirds of a step of the grid. Everything happens at whole steps; only
// the stamps of a carrier whose clock is off lie between them.
type Time int16

// Step is the distance of two moments of the grid.
const Step Time = 3

// Live is the end of a lease that is not over.
const Live Time = 1 << 14

const never = -Live

// The sizes of the largest world.
const (
	MostLeases   = 3
	MostAsks     = 3
	MostMessages = 3
)

// Settings are the durations of a room.
type Settings struct {
	Quarantine Time // SMS_QUARANTINE
	Behind     Time // so far may the clock of a carrier be behind: a sixth of the quarantine
	OpenFor    Time // how long an ask is open, and how long a message is known by its text and code
	Without    Rule // rules that are left out, to see what they are for
}

// Rule is a set of rules.
type Rule uint16

// The rules that can be left out.
const (
	SentTwice          Rule = 1 << iota // the same sender, text and time is the same message
	SameCode                            // the same code goes to no second party, whatever its words
	Lapse                               // a lease that is over loses its right a quarantine after its end
	ClockBehind                         // a message may be younger than its stamp
	NoOfferAfterBarren                  // nothing is offered soon after a lease that ended without a code
	SilentAsk                           // a lease that does not ask may have asked
	OpenWithRight                       // an ask is open as long as its lease has its right
	SecondCode                          // the quarantine of a party counts from its last turn's end
	BehindAnswered                      // for ClockBehind an answered ask counts as well
	OneCodeOneAsk                       // the same code in other words answers no second ask
	Displaced                           // a lease that lost its right gets nothing after another party's ask
)

func (s *Settings) has(r Rule) bool { return s.Without&r == 0 }

// Result is the verdict on a message.
type Result int8

// The results.
const (
	NotExpected Result = iota // of the first four, the message belongs to no lease
	NoLease
	Ambiguous
	Rejected
	Matched
	Late
)

// String returns the name that docs/api.md gives a result or its reason.
func (r Result) String() string {
	return [...]string{"not_expected", "no_lease", "ambiguous", "rejected", "matched", "late"}[r]
}

// Sender is what a room knows of the sender of a message.
type Sender int8

// The senders.
const (
	Listed   Sender = iota // in the list, or there is no list
	Foreign                // not in the list
	Personal               // a mobile number, and there is no list
)

// None is the index of no lease, ask or message.
const None int8 = -1

// Lease is one holding of the lock.
type Lease struct {
	Party   int8 // the session with its seller
	Asking  bool
	Granted Time
	End     Time
	Codes   int8 // the codes that belong to it
}

// Ask is the announcement of a code.
type Ask struct {
	Lease    int8
	At       Time
	Answered bool
	Claimed  bool // a claim added it
	Narrow   bool // its own filter refuses the marketplace's messages
}

// Message is a message as it comes, and its verdict.
type Message struct {
	From, Last Time // the first and the last moment at which it may have been sent
	Stamped    bool // by the carrier
	Text, Code int8 // equal numbers stand for equal texts or codes; code 0 = none is found
	Sender     Sender

	Came     Time
	Answer   Result // the first one; a claim or a rejection does not change it
	Result   Result
	Lease    int8  // that it belongs to
	Ask      int8  // that its code answered
	Offered  int8  // lease to which it is offered
	ByClock  bool  // it is offered because the carrier's clock may be behind
	Repeats  bool  // it gets the answer of one before
	Given    uint8 // the parties to which it was given, as bits, also where they rejected it
	Rejected uint8 // the parties that rejected this text, as bits
	Cause    Cause
}

// Cause is what is true of a message, which the rules do not know.
type Cause struct {
	Lease int8 // whose seller made the marketplace send it
	Ask   int8 // that announced it
	Sent  Time
	Kind  Kind
}

// Room is a room after a history of events: the model is the functions that change it.
type Room struct {
	Now      Time
	Leases   [MostLeases]Lease
	Asks     [MostAsks + 2]Ask // a claim may add one
	Messages [MostMessages]Message

	NumLeases, NumAsks, NumMessages int8
}

// Holder returns the live lease.
func (r *Room) Holder() int8 {
	if r.NumLeases > 0 && r.Leases[r.NumLeases-1].End == Live {
		return r.NumLeases - 1
	}
	return None
}

// Grant gives the free lock to a party.
func (r *Room) Grant(party int8, asking bool) {
	r.Leases[r.NumLeases] = Lease{Party: party, Asking: asking, Granted: r.Now, End: Live}
	r.NumLeases++
}

// Leave ends the live lease.
func (r *Room) Leave() { r.Leases[r.Holder()].End = r.Now }

// Ask adds an ask to the live lease. While the number is busy it returns until when instead (rule 3).
func (r *Room) Ask(s *Settings, narrow bool) (busy Time) {
	h := r.Holder()
	r.Leases[h].Asking = true
	if busy = r.busyUntil(s, r.Leases[h].Party); busy > r.Now {
		return busy
	}
	r.addAsk(Ask{Lease: h, At: r.Now, Narrow: narrow})
	return 0
}

func (r *Room) addAsk(a Ask) {
	r.Asks[r.NumAsks] = a
	r.NumAsks++
}

// busyUntil returns until when another party's code may come.
func (r *Room) busyUntil(s *Settings, party int8) (until Time) {
	for l := range r.NumLeases {
		if lease := &r.Leases[l]; lease.Party != party && lease.End != Live && r.leftOpen(s, l, r.Now) {
			until = max(until, r.lapses(s, l))
		}
	}
	return until
}

// leftOpen reports whether a lease that is over has an open ask. One that does not ask and ended without a
// code counts as one that asked at its end.
func (r *Room) leftOpen(s *Settings, l int8, at Time) bool {
	lease := &r.Leases[l]
	if !lease.Asking {
		return lease.Codes == 0 && s.has(SilentAsk)
	}
	for a := range r.NumAsks {
		if r.Asks[a].Lease == l && r.isOpen(s, a, at) {
			return true
		}
	}
	return false
}

// isOpen reports whether no code has come for an ask: for ten minutes, or as long as its lease has its right.
func (r *Room) isOpen(s *Settings, a int8, at Time) bool {
	ask := &r.Asks[a]
	if ask.Answered {
		return false
	}
	return at-ask.At <= s.OpenFor || s.has(OpenWithRight) && at < r.lapses(s, ask.Lease)
}

// lapses returns from when on a lease that is over has no right to messages any more: a quarantine after its
// end. If its party asked again before that, it counts from the end of that turn.
func (r *Room) lapses(s *Settings, l int8) Time {
	end := r.Leases[l].End
	for a := range r.NumAsks {
		if later := r.Asks[a].Lease; s.has(SecondCode) && later > l && end != Live &&
			r.Leases[later].Party == r.Leases[l].Party && r.Asks[a].At < end+s.Quarantine {
			end = max(end, r.Leases[later].End)
		}
	}
	if end == Live {
		return Live
	}
	return end + s.Quarantine
}

// others reports whether another party than the one given has a lease that is over, left an ask open and
// has still its right to what was sent at a moment.
func (r *Room) others(s *Settings, party int8, at Time) bool {
	for l := range r.NumLeases {
		if r.Leases[l].Party != party && r.Leases[l].End != Live && r.leftOpen(s, l, at) && at < r.lapses(s, l) {
			return true
		}
	}
	return false
}
