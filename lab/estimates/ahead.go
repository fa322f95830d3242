package main

import "math"

// ahead estimates how many of the waiters ahead will hold the lock; the holder is not counted.
type ahead func(k *known, s *sight, h float64) float64

// everybody counts all of them; the product used it before.
func everybody(_ *known, s *sight, _ float64) float64 { return float64(s.position - 1) }

// byShare multiplies them by the share of places that waited and got the lock.
func byShare(k *known, s *sight, _ float64) float64 { return float64(s.position-1) * k.share.h }

// byTickets takes the tickets between the last grant and the seller's own, times the grants for each ticket,
// but at most the waiters that are there.
func byTickets(k *known, s *sight, _ float64) float64 {
	between := float64(s.ticket - k.highest - 1)
	return min(float64(s.position-1), max(between, 0)*k.perTicket())
}

// byHazard assumes that each of them leaves at the recent rate: n are gone after ln(1 + rate·h·n)/rate.
func byHazard(k *known, s *sight, h float64) float64 {
	n, rate := float64(s.position-1), k.hazard()
	if x := rate * h; x > 1e-9 {
		return math.Log1p(x*n) / x
	}
	return n
}

// present does not count those who are away.
func present(_ *known, s *sight, _ float64) float64 { return float64(s.position - 1 - s.away) }

// presentHalf counts those who are away as half.
func presentHalf(_ *known, s *sight, _ float64) float64 {
	return float64(s.position-1) - float64(s.away)/2
}

// spreadEvenly leaves out the away as if they were spread evenly over the line, so it needs their number
// only.
func spreadEvenly(_ *known, s *sight, _ float64) float64 {
	return float64(s.position-1) * (1 - float64(s.allAway)/float64(max(s.line, 1)))
}

// awayFirst leaves them out as if they stood at the front, where passed-over sellers gather.
func awayFirst(_ *known, s *sight, _ float64) float64 { return float64(max(s.position-1-s.allAway, 0)) }

// awayFirstHalf assumes the same and counts them as half.
func awayFirstHalf(_ *known, s *sight, _ float64) float64 {
	n := float64(s.position - 1)
	return n - min(float64(s.allAway), n)/2
}

// presentTickets is byTickets, but at most those who are there and not away.
func presentTickets(k *known, s *sight, h float64) float64 {
	return min(present(k, s, h), byTickets(k, s, h))
}
