package web

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

// rejectedCookie marks the browser that rejected the code which ended its turn. Only the cookie records this:
// a rejection during a turn shows in the turn's own outcome.
const (
	rejectedCookie = "waitroom_rejected"
	rejectedKept   = 60 * 60
)

// remembersReject records that the code of an ended turn was rejected.
func (h *lockAPI) remembersReject(c *gin.Context, session string, fence int64) {
	if h.cookie(c) == "" {
		return
	}
	_, seat, err := h.look(c, request.Room(c), session)
	if err != nil || seat.Status != room.Ended || seat.Fence != fence {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: rejectedCookie, Value: rejectedTurn(request.Room(c), fence),
		Path: "/", MaxAge: rejectedKept,
		HttpOnly: true, Secure: h.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// addRejected shows on the page that the code of the last turn was rejected.
func (h *pages) addRejected(c *gin.Context, id room.ID, v *templates.RoomView) {
	cookie, err := c.Request.Cookie(rejectedCookie)
	v.Rejected = err == nil && v.State == templates.StateEnded && v.Fence != 0 &&
		cookie.Value == rejectedTurn(id, v.Fence)
}

func rejectedTurn(id room.ID, fence int64) string {
	return url.QueryEscape(string(id) + " " + strconv.FormatInt(fence, 10))
}
