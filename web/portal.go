package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/wayback"
)

// reachBody is a seller's choice. Other fields are ignored.
type reachBody struct {
	Session string `json:"session_id"`
	Wants   *bool  `json:"wants"`
}

type reachAnswer struct {
	Status string `json:"status"`
	Wants  bool   `json:"wants"`
}

// portal is what a seller's portal agreed with waitroom: the choice of messages, and the signed way back.
type portal struct{ *lockAPI }

func (h *portal) routes(api, pages *gin.RouterGroup) {
	pages.GET("/return", h.toPortal)
	if h.Reach != nil {
		api.POST("/lock/reach", h.chooseReach)
		pages.POST("/reach", h.reachForm)
	}
}

// chooseReach is POST /api/{room}/lock/reach: whether the portal sends the seller a message when the turn is
// near.
func (h *portal) chooseReach(c *gin.Context) {
	wants, err := h.reachOf(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.JSON(c, http.StatusOK, reachAnswer{"chosen", wants})
}

func (h *portal) reachOf(c *gin.Context) (wants bool, err error) {
	text, err := readJSON(c)
	if err != nil {
		return false, err
	}
	body, err := request.Decode[reachBody](text)
	if err != nil || body == nil || body.Wants == nil {
		return false, problem.Refusal("invalid_json")
	}
	if _, err := h.sessionOf(c, body.Session); err != nil {
		return false, err
	}
	return *body.Wants, h.choose(c, *body.Wants)
}

// reachForm is chooseReach without a script.
func (h *portal) reachForm(c *gin.Context) {
	if !h.ReadForm(c) {
		return
	}
	wants, err := strconv.ParseBool(c.PostForm("wants"))
	if err == nil {
		if _, err = h.visitor(c); err == nil {
			err = h.choose(c, wants)
		}
		h.notice(c, err, "")
	}
	h.back(c, "")
}

// choose records the choice of the request's seller, who may be near already.
func (h *portal) choose(c *gin.Context, wants bool) error {
	p, ok := proofOf(c)
	if !ok {
		return identity.ErrNotIdentified
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	if err := h.Reach.Choose(ctx, p.Seller, wants); err != nil {
		return err
	}
	h.Chosen(request.Room(c))
	return nil
}

// addReach adds the choice to the page, where the portal gave a way to reach the seller.
func (h *portal) addReach(c *gin.Context, v *templates.RoomView) {
	p, ok := proofOf(c)
	if h.Reach == nil || !ok || p.Reach == "" {
		return
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	wants, err := h.Reach.Chosen(ctx, p.Seller)
	if err == nil {
		v.Reach, v.WantsReach = p.Reach, wants
	}
}

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
