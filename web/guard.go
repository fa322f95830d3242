package web

import (
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/request"
)

// httpsKept is for how long a browser that came by https comes by nothing else: a year.
const httpsKept = "max-age=31536000"

// harden sets what every answer has. The referrer stays within the site rather than being withheld:
// without one, browsers send a form's Origin as "null".
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

// sameSite refuses a change that another site's page asks for. No other site is trusted with what is
// support's. A token is no page's: browsers send none by themselves, and ask before a page may.
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

// recover answers 500 for a handler that panicked and goes on serving.
func (s *site) recover(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		s.Log.ErrorContext(c.Request.Context(), "handler panicked", "route", c.FullPath(), "panic", v, "stack", string(debug.Stack()))
		c.Abort()
		if !c.Writer.Written() {
			s.Refuse(c, "internal")
		}
	}()
	c.Next()
}

// guard keeps the desk to people who are signed in.
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
