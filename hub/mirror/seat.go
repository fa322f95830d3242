package mirror

import (
	"github.com/waitroom/waitroom/room/wire"
)

// Seat is a session's place, as a mirror has it.
type Seat struct {
	Status  wire.Status // "" = not known yet
	Outcome wire.Outcome
	Ticket  int64
	Fence   int64
	Rank    float64
	wire.Marks
}

// Live reports whether the place has not ended.
func (s Seat) Live() bool { return s.Status == wire.Waiting || s.Status == wire.Locked }

// seatOf returns the seat after a lookup. A live place that Redis does not have any more was lost; an ended
// place stays ended on its sockets until the session joins again.
func seatOf(p *wire.Place, before Seat) Seat {
	if p.Status == wire.Idle {
		switch {
		case before.Live():
			return Seat{Status: wire.Ended, Outcome: wire.Lost, Ticket: before.Ticket}
		case before.Status == wire.Ended:
			return before
		}
		return Seat{Status: wire.Idle}
	}
	to := Seat{Status: p.Status, Outcome: p.Outcome, Ticket: p.Ticket, Rank: p.Rank, Marks: p.Marks}
	if p.Status == wire.Locked {
		to.Fence = p.Fence
	}
	return to
}
