package main

import "math"

// sight is what a replica's mirror knows about one waiter at one time.
type sight struct {
	now      float64
	position int
	away     int // of those ahead
	line     int // who wait
	allAway  int // of them
	ticket   int
	held     bool
	elapsed  float64
	left     float64
}

func (s *sight) maximum() float64 { return s.left + float64(s.position-1)*leaseLength }

// known is what can be learned from ended leases and places.
type known struct {
	levels []level
	holds  []float64 // of each level
	square *moments
	sorted ordered // the last 50
	few    ordered // the last 20
	bins   histogram

	share    *ewma // of places whose waiting ended: 1 with the lock, 0 without
	highest  int   // ticket that was granted
	tickets  *ewma // that a grant went on by
	leaving  float64
	waited   float64 // by all together, fading as leaving does
	lastSeen float64
	line     int

	truth float64 // the true mean, for comparison

	releases []float64 // of the last ten minutes
	began    float64
	grants   []grant // the last 50
}

type grant struct {
	ticket int
	at     float64
}

const (
	hazardHalf = 600.0 // seconds in which what is known of leaving counts half
	window     = 600.0
)

func newKnown(levels []level) *known {
	k := &known{levels: levels, holds: make([]float64, len(levels)), square: newMoments(chosenAlpha),
		sorted: ordered{last: last{n: 50}}, few: ordered{last: last{n: 20}}, bins: histogram{alpha: 0.05},
		share: newEWMA(0.05, true), tickets: newEWMA(0.05, true), began: -1}
	k.share.h, k.tickets.h = 1, 1
	for i, l := range levels {
		k.holds[i] = l.hold()
	}
	return k
}

func (k *known) ended(held, now float64) {
	for i, l := range k.levels {
		l.ended(held)
		k.holds[i] = l.hold()
	}
	k.square.ended(held)
	k.sorted.ended(held)
	k.few.ended(held)
	k.bins.ended(held)
	if k.began < 0 {
		k.began = now - held
	}
	k.releases = append(k.releases, now)
	for k.releases[0] < now-window {
		k.releases = k.releases[1:]
	}
}

// granted records a grant. A grant to a seller that did not wait is ignored.
func (k *known) granted(ticket int, now float64, waited bool) {
	if waited {
		k.share.ended(1)
	}
	k.tickets.ended(float64(max(ticket-k.highest, 0)))
	k.highest = max(k.highest, ticket)
	if len(k.grants) == 50 {
		k.grants = append(k.grants[:0], k.grants[1:]...)
	}
	k.grants = append(k.grants, grant{ticket, now})
}

func (k *known) left() {
	k.share.ended(0)
	k.leaving++
}

// waits adds up the time that all waiters have waited.
func (k *known) waits(line int, now float64) {
	fade := math.Exp2((k.lastSeen - now) / hazardHalf)
	k.leaving *= fade
	k.waited = k.waited*fade + float64(k.line)*(now-k.lastSeen)
	k.line, k.lastSeen = line, now
}

// hazard returns the rate at which a waiter leaves, in 1/s.
func (k *known) hazard() float64 { return k.leaving / max(k.waited, hazardHalf) }

// perTicket returns the number of grants for each ticket.
func (k *known) perTicket() float64 { return min(1/max(k.tickets.h, 0.1), 1) }
