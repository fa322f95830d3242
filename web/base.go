package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

// base is shared by all handlers: the configuration, and how requests are answered.
type base struct {
	Config
	*reply.Replies
	proxies request.Proxies
}

func newBase(cfg Config) *base {
	b := &base{Config: cfg, proxies: request.Proxies{Trusted: cfg.Proxies, HTTPS: cfg.Hosts.scheme == "https"}}
	b.Replies = reply.New(reply.Config{Log: cfg.Log, AssetPrefix: cfg.AssetPrefix, Timeout: cfg.Timeout,
		DropAfter: cfg.DropAfter, Traced: cfg.Tracer != nil, Proxies: b.proxies, ErrorRoom: b.errorRoom})
	return b
}

// lease returns the length of a new lease in a room.
func (b *base) lease(id room.ID) time.Duration { return b.Terms(id).Lease }

// opensAt returns when a room takes new places again, in unix ms; 0 if it does now.
func (b *base) opensAt(id room.ID, v room.View) int64 {
	if b.OpensAt == nil {
		return 0
	}
	return b.OpensAt(id, v.Support, v.Now)
}

// info returns the operator's texts for a room in the page's language.
func (b *base) info(id room.ID, lang string) (info templates.RoomInfo) {
	if b.Info != nil {
		info = b.Info(id, lang)
	}
	return info
}

// publicURL returns the server's outside address, from the configuration or from the request.
func (b *base) publicURL(c *gin.Context) string {
	switch {
	case b.PublicURL != "":
		return b.PublicURL
	case b.proxies.Secure(c):
		return "https://" + c.Request.Host
	}
	return "http://" + c.Request.Host
}

// back answers a form with a redirect to the room's page, so that a reload does not submit the form again.
// rest is appended to the page's path, such as "/link"; "" = the page itself.
func (b *base) back(c *gin.Context, rest string) {
	if c.Request.Method == http.MethodPost {
		b.markPlain(c)
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, pagePath(request.Room(c), rest))
}

// plainCookie marks a browser in which the page's script did not run: a script sends no forms. The page then
// refreshes itself. A script that does run deletes the cookie (room.js).
const plainCookie = "waitroom_plain"

func (b *base) markPlain(c *gin.Context) {
	http.SetCookie(c.Writer, &http.Cookie{Name: plainCookie, Value: "1", Path: pagePath(request.Room(c), ""),
		Secure: b.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// isPlain reports whether the browser's last form came without the page's script.
func isPlain(c *gin.Context) bool {
	_, err := c.Request.Cookie(plainCookie)
	return err == nil
}

// notice stores a refused form's error code and the typed seller in a cookie for noticeKept seconds. The page
// that the browser is redirected to shows the error. Without an error it does nothing.
func (b *base) notice(c *gin.Context, err error, seller string) {
	if err != nil {
		b.setNotice(c, request.Room(c), url.QueryEscape(problem.CodeOf(err)+" "+seller), noticeKept)
	}
}

func (b *base) setNotice(c *gin.Context, id room.ID, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: noticeCookie, Value: value, Path: pagePath(id, ""),
		MaxAge:   maxAge,
		HttpOnly: true, Secure: b.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// errorRoom adds to an error page the link to its room and, after a form, the address to retry. A room's form
// leads to the room; a link's form leads to the link, which asks before it is used.
func (b *base) errorRoom(c *gin.Context, v *templates.ErrorView) {
	if id, err := room.ParseID(c.Param("room")); err == nil && b.Rooms.Has(id) {
		v.Room = string(id)
	} else if id, ok := b.Rooms.Default(); ok {
		v.Room = string(id)
	}
	if v.Room == "" {
		return
	}
	v.Brand = b.info(room.ID(v.Room), v.Lang).Brand
	if c.Request.Method == http.MethodGet {
		return
	}
	v.AgainAt = pagePath(room.ID(v.Room), "?lang="+v.Lang)
	if strings.HasSuffix(c.FullPath(), linkPath+":token") {
		v.AgainAt = "?lang=" + v.Lang
	}
}
