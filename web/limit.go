package web

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/quota"
)

// The settings of the limits that are judged elsewhere than in quota.
const (
	roomLimit    = "ROOM_LIMIT"
	socketsPerIP = "SOCKETS_PER_IP"
)

// admitted has a session join where the limits let it. One that is known may have a place that was taken from another address, and is
// told that, however many places this address has.
func (s *site) admitted(ctx context.Context, c *gin.Context, session string, known bool, join func() (room.Standing, error)) (room.Standing, error) {
	admission, err := s.Quota.Admit(ctx, network(s.client(c)), roomOf(c), session)
	if limit, ok := errors.AsType[quota.Limited](err); ok {
		if known && limit.Setting == quota.PlacesPerIP {
			return s.heldPlace(ctx, c, session, limit)
		}
		return room.Standing{}, s.refusedFor(c, limit)
	}
	standing, err := join()
	switch {
	case err == nil:
		admission.Joined()
	case room.Refused(err):
		admission.Refused(ctx)
	}
	if errors.Is(err, room.ErrRoomFull) {
		s.limited.note(roomLimit, s.client(c))
	}
	return standing, err
}

// heldPlace is the place that a session has; refused where it has none.
func (s *site) heldPlace(ctx context.Context, c *gin.Context, session string, refused quota.Limited) (room.Standing, error) {
	view, seats, err := s.Engine.Look(ctx, roomOf(c), session)
	switch {
	case err != nil:
		return room.Standing{}, err
	case !seats[0].Live():
		return room.Standing{}, s.refusedFor(c, refused)
	}
	return room.Standing{View: view, Place: seats[0].Place, LeaseLength: s.lease(roomOf(c))}, nil
}

// refusedFor writes down that somebody is refused for a limit.
func (s *site) refusedFor(c *gin.Context, limit quota.Limited) quota.Limited {
	s.limited.note(limit.Setting, s.client(c))
	return limit
}

// refuseFor answers for a limit, and says which it was where it is not how fast somebody joins.
func (s *site) refuseFor(c *gin.Context, limit quota.Limited) {
	const code = "too_many_requests"
	c.Header("Retry-After", strconv.Itoa(max(int(math.Ceil(limit.After.Seconds())), 1)))
	p := problemOf(c, code)
	fast := p.said
	p.said = func(lang string) templates.Problem {
		if which, ok := words(lang).Limits[limit.Setting]; ok {
			return which
		}
		return fast(lang)
	}
	s.tell(c, code, p, nil)
}
