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

// socketAgain is when who has too many sockets may try again.
const socketAgain = 5 * time.Second

// socket is GET /api/{room}/ws. After the upgrade nothing more is written here.
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
	if err != nil { // a browser is not told why an upgrade was refused, and would come again
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

// forbids reports whether a page's socket is refused since the seller at its browser is another one by now: a program is answered instead.
func forbids(c *gin.Context, err error) bool {
	byPage := inProtocol(c.Request.Header, protocolToken) != ""
	return errors.Is(err, errSellerChanged) || byPage && errors.Is(err, identity.ErrAnother)
}
