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
// seller's place ended. Without a secret or an ended place the address has no token.
//
// A room without a return_url redirects to its page, since the link may come from a page that was made before
// the rooms file changed.
func (h *portal) toPortal(c *gin.Context) {
	id := request.Room(c)
	portal := h.info(id, request.Seller.Page(c.Request)).ReturnURL
	if portal == "" {
		h.back(c, "")
		return
	}
	if onlyLooks(c.Request) {
		c.Status(http.StatusNoContent)
		return
	}
	if h.WayBack != nil {
		if end, now, ok := h.endOf(c, id); ok {
			if signed, err := h.WayBack.Address(portal, end, now); err == nil {
				portal = signed
			}
		}
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Referrer-Policy", "no-referrer")
	c.Redirect(http.StatusSeeOther, portal)
}

// endOf returns how the place of a request's session ended, and Redis's time; false if the session has no
// ended place, or the store does not answer.
func (h *portal) endOf(c *gin.Context, id room.ID) (end wayback.End, now time.Time, ok bool) {
	session, err := h.named(c, "")
	if err == nil {
		session, err = h.reading(c, session)
	}
	if err != nil || session == "" {
		return end, now, false
	}
	view, seat, err := h.look(c, id, session)
	if err != nil || seat.Status != room.Ended {
		return end, now, false
	}
	return wayback.End{Room: string(id), Seller: seat.Seller, Ticket: seat.Ticket, Fence: seat.Fence,
		Outcome: string(seat.Outcome), Issuer: h.publicURL(c)}, room.Time(view.Now), true
}
