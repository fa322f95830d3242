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
func (s *site) socket(c *gin.Context) {
	if s.Sockets == nil {
		s.Refuse(c, "not_found")
		return
	}
	if stripped(c.Request.Header) {
		s.deaf.note("a handshake without Upgrade")
	}
	session, err := s.socketSession(c)
	if err != nil && !forbids(c, err) {
		s.Fail(c, err)
		return
	}
	serve := func(w http.ResponseWriter) error {
		return s.Sockets.ServeSocket(w, c.Request, request.Room(c), session)
	}
	if err != nil { // a browser does not see why an upgrade was refused, and would retry
		serve = func(w http.ResponseWriter) error { return s.Sockets.ForbidSocket(w, c.Request) }
	}
	leave, ok := s.open.take(request.Network(s.proxies.Client(c)))
	if !ok {
		s.Fail(c, s.refusedFor(c, quota.Limited{Setting: socketsPerIP, After: socketAgain}))
		return
	}
	w := &counter{ResponseWriter: c.Writer, closed: leave}
	err = serve(w)
	if !w.taken {
		leave()
	}
	if err != nil && !c.Writer.Written() {
		s.Fail(c, err)
	}
}

// forbids reports whether a page's socket is refused because its browser now has another seller. A program
// gets an answer instead.
func forbids(c *gin.Context, err error) bool {
	byPage := inProtocol(c.Request.Header, protocolToken) != ""
	return errors.Is(err, errSellerChanged) || byPage && errors.Is(err, identity.ErrAnother)
}
