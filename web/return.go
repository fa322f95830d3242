package web

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/wayback"
)

// toPortal is GET /rooms/{room}/return: it redirects a seller to the portal, with a token that says how the
// seller's place ended. Without an ended place the address has no token; the way back never fails.
func (s *site) toPortal(c *gin.Context) {
	id := request.Room(c)
	portal := s.info(id, request.Seller.Page(c.Request)).ReturnURL
	if portal == "" {
		s.Refuse(c, "not_found")
		return
	}
	if end, ok := s.endOf(c, id); ok {
		if signed, err := s.WayBack.Address(portal, end, time.Now()); err == nil {
			portal = signed
		}
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Referrer-Policy", "no-referrer")
	c.Redirect(http.StatusSeeOther, portal)
}

// endOf returns how the place of a request's session ended; false if the session has no ended place, or the
// store does not answer.
func (s *site) endOf(c *gin.Context, id room.ID) (end wayback.End, ok bool) {
	session, err := s.named(c, "")
	if err == nil {
		session, err = s.reading(c, session)
	}
	if err != nil || session == "" {
		return end, false
	}
	_, seat, err := s.look(c, id, session)
	if err != nil || seat.Status != room.Ended {
		return end, false
	}
	return wayback.End{Room: string(id), Seller: seat.Seller, Ticket: seat.Ticket, Fence: seat.Fence,
		Outcome: string(seat.Outcome), Issuer: s.publicURL(c)}, true
}
