package main

import "math"

// aheads say how many of those ahead will hold the lock, the holder not among them.
type ahead func(k *known, s *sight, h float64) float64

// everybody is the previous rule.
func everybody(_ *known, s *sight, _ float64) float64 { return float64(s.position - 1) }

// byShare takes the share of places whose waiting ended with the lock.
func byShare(k *known, s *sight, _ float64) float64 { return float64(s.position-1) * k.share.h }

// byTickets takes how many tickets a grant goes on by: those between the last grant and mine, times the
// grants for each, but never more than are there.
func byTickets(k *known, s *sight, _ float64) float64 {
	between := float64(s.ticket - k.highest - 1)
	return min(float64(s.position-1), max(between, 0)*k.perTicket())
}

// byHazard lets each of those ahead leave at the rate of late: the time until n are gone is ln(1 +
// rate·h·n)/rate.
func byHazard(k *known, s *sight, h float64) float64 {
	n, rate := float64(s.position-1), k.hazard()
	if x := rate * h; x > 1e-9 {
		return math.Log1p(x*n) / x
	}
	return n
}

// present leaves out who is away.
func present(_ *known, s *sight, _ float64) float64 { return float64(s.position - 1 - s.away) }

// presentHalf counts who is away as a half.
func presentHalf(_ *known, s *sight, _ float64) float64 {
	return float64(s.position-1) - float64(s.away)/2
}

// spreadEvenly leaves out who is away as if the away stood evenly in the line: it needs their count only.
func spreadEvenly(_ *known, s *sight, _ float64) float64 {
	return float64(s.position-1) * (1 - float64(s.allAway)/float64(max(s.line, 1)))
}

// awayFirst leaves them out as if they stood foremost, where those gather whom grants passed over.
func awayFirst(_ *known, s *sight, _ float64) float64 { return float64(max(s.position-1-s.allAway, 0)) }

// awayFirstHalf counts them there as a half.
func awayFirstHalf(_ *known, s *sight, _ float64) float64 {
	n := float64(s.position - 1)
	return n - min(float64(s.allAway), n)/2
}

// presentTickets is byTickets, but never more than are there and not away.
func presentTickets(k *known, s *sight, h float64) float64 {
	return min(present(k, s, h), byTickets(k, s, h))
}
