// Package sim plays carriers and sellers against the real engine, on a clock that is moved by hand, and counts whose code went
// where: one room, always a line. Every join, ask, message and end is a call of room.Engine; what it would do is nowhere modelled.
//
// A run is made of shifts, each a room of its own on an empty store, and is told by its seed alone. The one thing that the seed
// does not tell is how many real milliseconds a call took, which the engine adds to the age of a message without sent_at.
package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// World is what is simulated. Zero fields are zero; Default has the figures that the bars are for.
type World struct {
	Rules
	Carriers
	Sellers
}

// Rules says how the room is set up, and whether sellers keep to it.
type Rules struct {
	Asking     float64       // the share of sellers that say before they ask
	Quarantine time.Duration // SMS_QUARANTINE; 0 = none
	Promised   time.Duration // codes sent within this after their ask must not go astray; 0 = as Quarantine
	Unfiltered bool          // asks do not say who the sender must be
	Required   bool          // SMS_EXPECT=required: nobody is matched by time alone
	Guard      time.Duration // SMS_GUARD
	Keep       bool          // SMS_COMPLETES=false: a code ends no lease
}

// Stamp says what a message tells of when the carrier took it.
type Stamp string

// The stamps.
const (
	Exact  Stamp = "exact"  // sent_at to the millisecond
	Second Stamp = "second" // sent_at to the second
	Unsaid Stamp = "none"   // no sent_at: it counts as sent when it is read
)

// Carriers says how messages travel. A log-normal time is given by its median and sigma.
type Carriers struct {
	Slow    float64 // the share of codes that the marketplace or the carrier takes long to send
	Lost    float64 // and that never come
	Quick   Lognormal
	Slowly  Lognormal
	Transit Lognormal // from sent_at to here
	Resent  float64   // the share of codes that come a second time under another id, with the time of the second sending
	Stamp   Stamp
	Ahead   time.Duration // how far the carrier's clock is ahead, in whole ms; negative = it is behind
	Digits  int           // of a code

	Adverts       float64 // an hour, to the number
	AdvertsNumber float64 // the share of them in which a number looks like a code
	AdvertsSame   float64 // the share of them that the marketplace itself sends
}

// Sellers says what who holds the lock does.
type Sellers struct {
	Press      Lognormal     // from the grant to pressing "send me the code"
	Again      float64       // the share that press again, each time, 15 to 35 s later
	AgainMost  int           // how often at the most
	SameCode   float64       // the share of those whose marketplace then sends the same text again
	Cancel     float64       // the share that give up after 45 to 110 s
	StillTry   float64       // the share that press although another's code has ended their lease before they pressed at all
	EnterCode  time.Duration // from the right code to done, where the lease goes on
	Answer     time.Duration // from being offered a code to claiming it
	BusyEvery  time.Duration // how often who is told number_busy looks whether it is over
	LineLength int           // how many wait, always
}

// Lognormal is a time that is log-normally spread.
type Lognormal struct {
	Median time.Duration
	Sigma  float64
}

func (l Lognormal) draw(r *rand.Rand) int64 {
	return int64(float64(l.Median.Milliseconds()) * math.Exp(r.NormFloat64()*l.Sigma))
}

// Default is the world of the bars: everybody asks, 30 s of quarantine, 2 % of codes slow, 1 % lost, an advert an hour; every press
// brings a code of its own, and carriers send nothing twice.
func Default() World {
	return World{
		Rules: Rules{Asking: 1, Quarantine: 30 * time.Second},
		Carriers: Carriers{
			Slow: .02, Lost: .01, Quick: Lognormal{3 * time.Second, .6}, Slowly: Lognormal{40 * time.Second, .8},
			Transit: Lognormal{time.Second, .5}, Stamp: Exact, Digits: 6,
			Adverts: 1, AdvertsNumber: .25, AdvertsSame: .25,
		},
		Sellers: Sellers{
			Press: Lognormal{6 * time.Second, .5}, Again: .6, AgainMost: 2, Cancel: .1, StillTry: .7,
			EnterCode: 8 * time.Second, Answer: 3 * time.Second, BusyEvery: 2 * time.Second, LineLength: 2,
		},
	}
}

// promised is how long after its ask a code may be sent and must not go astray. A clock that is ahead shortens it by as much:
// a code that is on its way for longer than that seems to have been sent later than it was, and nothing shows it.
func (w World) promised() int64 {
	promised := w.Promised
	if promised == 0 {
		promised = w.Quarantine
	}
	return (promised - max(w.Ahead, 0)).Milliseconds()
}

// window is the half-open time that the carrier's sent_at stands for; both 0 = it gives none. A sent_at without a fraction is
// its whole second.
func (c Carriers) window(sent int64) (from, to int64) {
	at := sent + c.Ahead.Milliseconds()
	switch {
	case c.Stamp == Unsaid:
		return 0, 0
	case c.Stamp == Second || at%1000 == 0:
		from = at - at%1000
		return from, from + 1000
	}
	return at, at + 1
}
