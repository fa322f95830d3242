package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/request"
)

// socketAgain is the retry delay of a client with too many sockets.
const socketAgain = 5 * time.Second

// socket is GET /api/{room}/ws. After the upgrade it writes nothing more here.
func (h *lockAPI) socket(c *gin.Context) {
	if h.Sockets == nil {
		h.Refuse(c, "not_found")
		return
	}
	if stripped(c.Request.Header) {
		h.deaf.note("a handshake without Upgrade")
	}
	session, err := h.socketSession(c)
	if err != nil && !forbids(c, err) {
		h.Fail(c, err)
		return
	}
	serve := func(w http.ResponseWriter) error {
		return h.Sockets.ServeSocket(w, c.Request, request.Room(c), session,
			request.Seller.Page(c.Request))
	}
	if err != nil { // a browser does not see why an upgrade was refused, and would retry
		serve = func(w http.ResponseWriter) error { return h.Sockets.ForbidSocket(w, c.Request) }
	}
	leave, ok := h.open.take(request.Network(h.proxies.Client(c)))
	if !ok {
		h.Fail(c, h.refusedFor(c, quota.Limited{Setting: socketsPerIP, After: socketAgain}))
		return
	}
	w := &counter{ResponseWriter: c.Writer, closed: leave}
	err = serve(w)
	if !w.taken {
		leave()
	}
	if err != nil && !c.Writer.Written() {
		h.Fail(c, err)
	}
}

// forbids reports whether a page's socket is refused because its browser now has another seller. A program
// gets an answer instead.
func forbids(c *gin.Context, err error) bool {
	byPage := inProtocol(c.Request.Header, protocolToken) != ""
	return errors.Is(err, errSellerChanged) || byPage && errors.Is(err, identity.ErrAnother)
}
