package web

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

// status is GET /api/{room}/lock/status. With here=true the caller counts as present for AWAY_AFTER, for
// pages without a socket.
func (h *lockAPI) status(c *gin.Context) {
	session, err := h.named(c, "")
	if err == nil {
		session, err = h.reading(c, session)
	}
	if err != nil {
		h.Fail(c, err)
		return
	}
	view, seat, err := h.look(c, request.Room(c), session)
	if here, _ := strconv.ParseBool(c.Query("here")); here && err == nil {
		if fromBrowser(c.Request.Header) {
			h.deaf.note("a page that polls")
		}
		if seat.Status == room.Waiting {
			view, seat, err = h.lookHere(c, request.Room(c), session)
		}
	}
	if err != nil {
		h.Fail(c, err)
		return
	}
	a := statusAnswer{Room: request.Room(c), Status: "free", Public: view.Public, Length: view.Waiting,
		ExpiresIn: expiresIn(view),
		Epoch:     view.Epoch, Version: view.Version, ServerTime: view.Now,
		Me: standingAnswer(request.Room(c), h.publicSession(c, session), view, seat.Place,
			h.lease(request.Room(c)))}
	if view.Lease != nil {
		a.Status = string(room.Locked)
	}
	if at := h.opensAt(request.Room(c), view); at != 0 {
		a.OpensAt = new(reply.Instant(at))
	}
	a.Notice = view.Support.NoticeIn(request.Seller.Page(c.Request), view.Now)
	a.EstimatedWait, _ = waits(view, view.Waiting+1, h.lease(request.Room(c)))
	h.JSON(c, http.StatusOK, a)
}

// lookHere is look for a waiter that is present. An away waiter returns to the line, and gets a free lock.
func (h *lockAPI) lookHere(c *gin.Context, id room.ID, session string) (room.View, room.Seat, error) {
	if err := h.markHere(c, id, session); err != nil {
		return room.View{}, room.Seat{}, err
	}
	return h.look(c, id, session)
}

// markHere records that a waiter is present now.
func (h *lockAPI) markHere(c *gin.Context, id room.ID, session string) error {
	owner := session
	if l, ok := linkedOf(c); ok {
		owner = l.Session
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	_, err := h.Engine.Seen(ctx, id, 0, []string{owner}, nil)
	return err
}

// look returns the state of the room and of the session in it; "" is a spectator.
func (h *lockAPI) look(c *gin.Context, id room.ID, session string) (room.View, room.Seat, error) {
	ctx, cancel := h.Asking(c)
	defer cancel()
	view, seats, err := h.Engine.Look(ctx, id, session)
	if err != nil {
		return room.View{}, room.Seat{}, err
	}
	if !seats[0].Live() {
		if l, ok, err := h.linked(ctx, c, id, session); ok || err != nil {
			return l.view, l.seat, err
		}
	}
	return view, seats[0], nil
}
