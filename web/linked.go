package web

import (
	"context"
	"errors"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/request"
)

const linkedKey = "linked" // the context key of the place that the session joined by a link

// Linked is a browser that joined another session's place by a link.
type Linked struct {
	Session string // the place's session; never sent to the browser
	Ticket  int64  // of the place
	Own     string // the browser's own session
}

// linked is a Linked with the state of its place, live or ended.
type linked struct {
	Linked
	view room.View
	seat room.Seat
}

// linkedOf returns the place that the request's session joined by a link.
func linkedOf(c *gin.Context) (Linked, bool) {
	value, _ := c.Get(linkedKey)
	l, ok := value.(Linked)
	return l, ok
}

// linked returns the place that a session joined by a link. It returns ok false if the session joined none,
// has a place of its own, or the place's session has another one by now. If sellers are proven, all
// sessions of a seller share one place without links.
func (h *lockAPI) linked(ctx context.Context, c *gin.Context, id room.ID, session string) (l linked, ok bool,
	err error) {
	if h.Links == nil || h.Sellers != nil || session == "" {
		return l, false, nil
	}
	place, ok, err := h.Links.Standing(ctx, id, session)
	if !ok || err != nil {
		return l, false, err
	}
	view, seats, err := h.Engine.Look(ctx, id, place.Session, session)
	if err != nil {
		return l, false, err
	}
	seat := seats[0]
	if !place.Is(seat) || seats[1].Live() {
		return l, false, nil
	}
	// drop those of earlier places
	seat.Messages = slices.DeleteFunc(seat.Messages, func(m room.Message) bool { return m.Fence != seat.Fence })
	l = linked{Linked{Session: place.Session, Ticket: place.Ticket, Own: session}, view, seat}
	c.Set(linkedKey, l.Linked)
	return l, true, nil
}

// inPlace runs do for a session's own place or, without one, for the place it joined by a link. The ticket is
// 0 for its own.
func (h *lockAPI) inPlace(ctx context.Context, c *gin.Context, session string,
	do func(session string, ticket int64) error) error {
	refused := do(session, 0)
	if !errors.Is(refused, room.ErrNoPlace) && !errors.Is(refused, room.ErrNoMessage) {
		return refused
	}
	l, ok, err := h.linked(ctx, c, request.Room(c), session)
	switch {
	case err != nil:
		return err
	case !ok:
		return refused
	}
	return do(l.Session, l.Ticket)
}

// enterLinked is join for a session that joined another session's place by a link: it returns that place. ok
// is false if that place has ended: then the session acts for itself again, and joins as any other.
func (h *lockAPI) enterLinked(ctx context.Context, c *gin.Context, session string,
	noWait bool) (room.Standing, bool, error) {
	l, ok, err := h.linked(ctx, c, request.Room(c), session)
	if !ok || err != nil {
		return room.Standing{}, false, err
	}
	standing, err := h.Engine.Join(ctx, request.Room(c),
		room.JoinRequest{Request: uuid.NewString(), Session: l.Session, Ticket: l.Ticket, NoWait: noWait})
	if !errors.Is(err, room.ErrNoPlace) {
		return standing, true, err
	}
	c.Set(linkedKey, nil)
	return room.Standing{}, false, h.Links.End(ctx, request.Room(c), session)
}
