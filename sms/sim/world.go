// Package sim plays carriers and sellers against the real engine, and counts which leases got whose codes.
// One room always has a line, and its clock is set by hand. Every join, ask, message and end is a call of
// room.Engine, which is not modelled.
//
// A run consists of shifts, each with its own room on an empty store, and depends only on its seed. The one
// exception is how many real milliseconds a call takes, which the engine adds to the age of a message without
// sent_at.
package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// World configures a simulation. Zero fields are zero; Default has the figures for which sim_test.go limits
// the share of wrong matches.
type World struct {
	Rules
	Carriers
	Sellers
}

// Rules configure the room, and how far sellers keep to them.
type Rules struct {
	Asking     float64       // share of sellers that register asks
	Quarantine time.Duration // SMS_QUARANTINE; 0 = none
	Promised   time.Duration // codes sent within this after their lease must not go astray; 0 = Quarantine
	Unfiltered bool          // asks do not name the sender
	Required   bool          // SMS_EXPECT=required: no match by time alone
	Guard      time.Duration // SMS_GUARD
	Keep       bool          // SMS_COMPLETES=false: a code ends no lease
}

// Stamp is how precisely a message has the time at which the carrier took it.
type Stamp string

// The stamps.
const (
	Exact     Stamp = "exact"  // sent_at to the millisecond
	Second    Stamp = "second" // sent_at to the second
	Unstamped Stamp = "none"   // no sent_at: it counts as sent when it is read
)

// Carriers configures the transport of messages. A log-normal time has a median and a sigma.
type Carriers struct {
	Slow      float64 // share of codes that are sent late
	Lost      float64 // share of codes that are never sent
	Quick     Lognormal
	Slowly    Lognormal
	Transit   Lognormal // from sent_at to arrival
	Resent    float64   // share of codes that arrive twice, under another id and with another time
	SentTwice float64   // share of codes that arrive twice, under another id, with the same time: phones do that
	Dressed   float64   // share of codes that arrive a second time from another sender or in other words
	Stamp     Stamp
	Ahead     time.Duration // how far the carrier's clock is ahead, in whole ms; negative = behind
	Digits    int           // of a code

	Adverts       float64 // an hour, to the number
	AdvertsNumber float64 // share of them with a number that looks like a code
	AdvertsSame   float64 // share of them that the marketplace itself sends
	OptOut        float64 // share of them with a number to opt out that they call 인증번호
	Misread       float64 // share of those whose number is taken for a code, whatever the finder thinks of it
}

// Sellers configures the holders.
type Sellers struct {
	Press      Lognormal     // from the grant to the ask
	AskToPress Lognormal     // from the ask to the marketplace's button; a median of 0 = in the same instant
	PressFirst float64       // share that press at the marketplace and ask after AskToPress
	Again      float64       // share that press again, each time, 15 to 35 s later
	AgainMost  int           // at most
	Unasked    float64       // share of those further presses that are made at the marketplace, without an ask
	SameCode   float64       // share of those whose marketplace then sends the same text again
	Cancel     float64       // share that give up after 45 to 110 s
	StillTry   float64       // share that press although their turn has ended meanwhile, not by themselves
	Hostile    float64       // share that text a false code when they are next, and ask but never press then
	EnterCode  time.Duration // from the right code to done, if the lease goes on
	Answer     time.Duration // from an offer to its claim
	BusyEvery  time.Duration // retries after number_busy
	LineLength int           // places that wait, always
}

// Lognormal is a log-normally distributed time.
type Lognormal struct {
	Median time.Duration
	Sigma  float64
}

func (l Lognormal) draw(r *rand.Rand) int64 {
	return int64(float64(l.Median.Milliseconds()) * math.Exp(r.NormFloat64()*l.Sigma))
}

// Default returns the world that the tests vary. All sellers ask; the quarantine is 30 s; 2 % of codes are
// slow, 1 % are lost; an advert comes every hour. A seller takes 10 s from its ask to the marketplace's
// button. Every press gets its own code, and carriers send nothing twice.
func Default() World {
	return World{
		Rules: Rules{Asking: 1, Quarantine: 30 * time.Second},
		Carriers: Carriers{
			Slow: .02, Lost: .01, Quick: Lognormal{3 * time.Second, .6}, Slowly: Lognormal{40 * time.Second, .8},
			Transit: Lognormal{time.Second, .5}, Stamp: Exact, Digits: 6,
			Adverts: 1, AdvertsNumber: .25, AdvertsSame: .25, OptOut: .5, Misread: .1,
		},
		Sellers: Sellers{
			Press: Lognormal{6 * time.Second, .5}, AskToPress: AskToPress(10 * time.Second),
			Again: .6, AgainMost: 2, Cancel: .1, StillTry: .7,
			EnterCode: 8 * time.Second, Answer: 3 * time.Second, BusyEvery: 2 * time.Second, LineLength: 2,
		},
	}
}

// AskToPress returns the time that sellers take from their ask to the marketplace's button.
func AskToPress(median time.Duration) Lognormal { return Lognormal{median, .6} }

// promised returns how long after its lease's end a code may be sent and must not go astray. A clock that is
// ahead shortens it by as much: a code with a longer transit seems to be sent later than it was, which the
// rules cannot notice.
func (w World) promised() int64 {
	promised := w.Promised
	if promised == 0 {
		promised = w.Quarantine
	}
	return (promised - max(w.Ahead, 0)).Milliseconds()
}

// window returns the half-open interval that the carrier's sent_at stands for; 0, 0 = no sent_at. A sent_at
// without a fraction is its whole second.
func (c Carriers) window(sent int64) (from, to int64) {
	at := sent + c.Ahead.Milliseconds()
	switch {
	case c.Stamp == Unstamped:
		return 0, 0
	case c.Stamp == Second || at%1000 == 0:
		from = at - at%1000
		return from, from + 1000
	}
	return at, at + 1
}
