package web

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/request"
)

// The settings of the limits that are enforced outside quota.
const (
	roomLimit    = "ROOM_LIMIT"
	socketsPerIP = "SOCKETS_PER_IP"
)

// admitted joins a session if the limits allow it. A session that already has a place gets it back, from any
// address and beyond the address's limit.
func (h *lockAPI) admitted(ctx context.Context, c *gin.Context, session string, known bool,
	join func() (room.Standing, error)) (room.Standing, error) {
	admission, err := h.Quota.Admit(ctx, request.Network(h.proxies.Client(c)), request.Room(c), session)
	if limit, ok := errors.AsType[quota.Limited](err); ok {
		if known && limit.New {
			return h.heldPlace(ctx, c, session, limit)
		}
		return room.Standing{}, h.refusedFor(c, limit)
	}
	standing, err := join()
	switch {
	case err == nil:
		admission.Joined(ctx, standing.Ticket)
	case room.Refused(err):
		admission.Refused(ctx)
	}
	if errors.Is(err, room.ErrRoomFull) {
		h.limited.note(roomLimit, h.proxies.Client(c))
	}
	return standing, err
}

// addressMark returns the digest of the client's address that a new place keeps.
func (h *lockAPI) addressMark(c *gin.Context) string {
	if h.AddressMark == nil {
		return ""
	}
	return h.AddressMark(request.Network(h.proxies.Client(c)), request.Room(c))
}

// heldPlace returns a session's live place, or a refusal without one.
func (h *lockAPI) heldPlace(ctx context.Context, c *gin.Context, session string,
	refused quota.Limited) (room.Standing, error) {
	view, seats, err := h.Engine.Look(ctx, request.Room(c), session)
	switch {
	case err != nil:
		return room.Standing{}, err
	case !seats[0].Live():
		return room.Standing{}, h.refusedFor(c, refused)
	}
	return room.Standing{View: view, Place: seats[0].Place, LeaseLength: h.lease(request.Room(c))}, nil
}

// refusedFor counts a refusal by a limit.
func (h *lockAPI) refusedFor(c *gin.Context, limit quota.Limited) quota.Limited {
	h.limited.note(limit.Setting, h.proxies.Client(c))
	return limit
}
