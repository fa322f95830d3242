package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
)

// status is GET /api/{room}/lock/status.
func (s *site) status(c *gin.Context) {
	session, err := s.named(c, "")
	if err == nil {
		session, err = s.reading(c, session)
	}
	if err != nil {
		s.fail(c, err)
		return
	}
	view, seat, err := s.look(c, roomOf(c), session)
	if err != nil {
		s.fail(c, err)
		return
	}
	a := statusAnswer{Room: roomOf(c), Status: "free", Paused: view.Paused, Length: view.Waiting, ExpiresIn: expiresIn(view),
		Epoch: view.Epoch, Version: view.Version, ServerTime: view.Now,
		Me: standingAnswer(roomOf(c), s.told(c, session), view, seat.Place, s.lease(roomOf(c)))}
	if view.Lease != nil {
		a.Status = string(room.Locked)
	}
	a.EstimatedWait, _ = waits(view, view.Waiting+1, s.lease(roomOf(c)))
	s.answer(c, http.StatusOK, a)
}

// look asks how the room is and how the session stands in it; "" is nobody.
func (s *site) look(c *gin.Context, id room.ID, session string) (room.View, room.Seat, error) {
	ctx, cancel := s.asking(c)
	defer cancel()
	view, seats, err := s.Engine.Look(ctx, id, session)
	if err != nil {
		return room.View{}, room.Seat{}, err
	}
	return view, seats[0], nil
}
