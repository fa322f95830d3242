package web

import (
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/request"
)

// httpsKept makes a browser that came over https use nothing else for a year.
const httpsKept = "max-age=31536000"

// harden sets the headers common to all answers. The referrer is kept within the site, not withheld: without
// one, browsers send a form's Origin as "null".
func (s *site) harden(c *gin.Context) {
	header := c.Writer.Header()
	s.frames(c)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if s.proxies.Secure(c) {
		header.Set("Strict-Transport-Security", httpsKept)
	}
}

// sameSite refuses changes requested by another site's page. Support routes trust no other site. Requests
// with a token pass: browsers never add a token by themselves, and a page needs permission to send one.
func (s *site) sameSite(c *gin.Context) {
	if s.desk != nil {
		if _, ok := s.desk.TokenOf(c); ok {
			return
		}
	}
	sites := s.Origins
	if request.InSupport(c.Request.URL.Path) {
		sites = sites.Alone()
	}
	if sites.Crossed(c.Request) {
		s.Refuse(c, "cross_site")
	}
}

// recover answers 500 for a handler that panicked; the server goes on serving.
func (s *site) recover(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		s.Log.ErrorContext(c.Request.Context(), "handler panicked", "route", c.FullPath(), "panic", v, "stack",
			string(debug.Stack()))
		c.Abort()
		if !c.Writer.Written() {
			s.Refuse(c, "internal")
		}
	}()
	c.Next()
}

// guard admits only signed-in agents to the desk.
func (s *site) guard(c *gin.Context) {
	if !request.InSupport(c.Request.URL.Path) {
		return
	}
	c.Header("Cache-Control", "no-store")
	if s.desk == nil {
		s.Refuse(c, "not_found")
		return
	}
	s.desk.Guard(c)
}

func (s *site) nothingHere(c *gin.Context) { s.Refuse(c, "not_found") }

func (s *site) notLikeThis(c *gin.Context) { s.Refuse(c, "method_not_allowed") }
