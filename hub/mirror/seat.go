package mirror

import (
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// Seat is a session's place, as a mirror has it.
type Seat struct {
	Status  room.Status // "" = not known yet
	Outcome room.Outcome
	Ticket  int64
	Fence   int64
	Rank    float64
	wire.Marks
}

// Live reports whether the place has not ended.
func (s Seat) Live() bool { return s.Status == room.Waiting || s.Status == room.Locked }

// seatOf returns the seat after a lookup. A live place that Redis does not have any more was lost; an ended
// place stays ended on its sockets until the session joins again.
func seatOf(p *room.Place, before Seat) Seat {
	if p.Status == room.Idle {
		switch {
		case before.Live():
			return Seat{Status: room.Ended, Outcome: room.Lost, Ticket: before.Ticket}
		case before.Status == room.Ended:
			return before
		}
		return Seat{Status: room.Idle}
	}
	to := Seat{Status: p.Status, Outcome: p.Outcome, Ticket: p.Ticket, Rank: p.Rank, Marks: p.Marks}
	if p.Status == room.Locked {
		to.Fence = p.Fence
	}
	return to
}
