package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/link"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

// linkPath is what stands between a room's page and a link's token.
const linkPath = "/link/"

func (s *site) linkRoutes(api, pages *gin.RouterGroup) {
	api.POST("/lock/link", s.makeLink)
	pages.POST("/link", s.makeLinkForm)
	pages.GET("/link", func(c *gin.Context) { s.back(c, "") }) // of a reload of what the form answered
	pages.GET(linkPath+":token", s.linkPage)
	pages.POST(linkPath+":token", s.useLink)
}

// linkAnswer is told to who continues on another device.
type linkAnswer struct {
	URL       string        `json:"url"`
	ExpiresAt reply.Instant `json:"expires_at"`
	QR        *link.QR      `json:"qr,omitempty"` // where it is asked for
}

// makeLink is POST /api/{room}/lock/link: 다른 기기에서 이어하기.
func (s *site) makeLink(c *gin.Context) {
	body, err := readOptionalLock(c)
	if err != nil {
		s.Fail(c, err)
		return
	}
	session, err := s.sessionOf(c, body.Session)
	if err != nil {
		s.Fail(c, err)
		return
	}
	wanted, _ := strconv.ParseBool(c.Query("qr"))
	answer, err := s.newLink(c, session, wanted)
	if err != nil {
		s.Fail(c, err)
		return
	}
	s.JSON(c, http.StatusOK, answer)
}

// makeLinkForm is the same without a script. What it answers has no address of its own: the link is for the other device.
func (s *site) makeLinkForm(c *gin.Context) {
	if !s.ReadForm(c) {
		return
	}
	session, err := s.visitor(c)
	if err != nil {
		s.Fail(c, err)
		return
	}
	answer, err := s.newLink(c, session, true)
	if err != nil {
		s.notice(c, problem.CodeOf(err), "")
		s.back(c, "")
		return
	}
	lang := request.Seller.Page(c.Request)
	if chosen := c.PostForm("lang"); request.Seller.Has(chosen) {
		lang = chosen
	}
	s.Show(c, http.StatusOK, lang, templates.NewLinkPage(templates.NewLinkView{Lang: lang, AssetPrefix: s.AssetPrefix, Room: string(request.Room(c)), Name: s.info(request.Room(c), lang).Name,
		URL: answer.URL, ExpiresAt: int64(answer.ExpiresAt), QRSize: answer.QR.Size, QRPath: answer.QR.Path}))
}

// newLink makes a link to the live place that a session has or stands for.
func (s *site) newLink(c *gin.Context, session string, qr bool) (linkAnswer, error) {
	id := request.Room(c)
	_, seat, err := s.look(c, id, session)
	if err != nil {
		return linkAnswer{}, err
	}
	if !seat.Live() {
		return linkAnswer{}, room.ErrNoPlace
	}
	if l, ok := linkedOf(c); ok {
		session = l.Session
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	token, until, err := s.Links.Make(ctx, id, link.Place{Session: session, Ticket: seat.Ticket, Seller: seat.Seller})
	if err != nil {
		return linkAnswer{}, err
	}
	a := linkAnswer{URL: s.publicURL(c) + pagePath(id, linkPath+token), ExpiresAt: reply.Instant(until)}
	if qr {
		a.QR, err = link.Draw(a.URL)
	}
	return a, err
}

// publicURL is what the server is called from outside, as far as it was told or the request shows.
func (s *site) publicURL(c *gin.Context) string {
	switch {
	case s.PublicURL != "":
		return s.PublicURL
	case s.proxies.Secure(c):
		return "https://" + c.Request.Host
	}
	return "http://" + c.Request.Host
}

// linkPage is GET of a link: whose place it leads to. It changes nothing, so that what looks at addresses before a person does (a chat, a mail
// scanner) uses nothing up.
func (s *site) linkPage(c *gin.Context) {
	lang := request.Seller.Page(c.Request)
	s.ChooseLanguage(c, c.Query("lang"))
	hideAddress(c)
	session, err := s.linkSession(c)
	if err != nil {
		s.Fail(c, err)
		return
	}
	l, err := s.openLink(c, session)
	switch {
	case err != nil:
		s.Fail(c, err)
		return
	case l.inside && l.used:
		s.back(c, "")
		return
	}
	s.probeCookies(c)
	s.Show(c, http.StatusOK, lang, templates.LinkPage(templates.LinkView{Lang: lang, AssetPrefix: s.AssetPrefix, Room: string(request.Room(c)), Name: s.info(request.Room(c), lang).Name,
		Token: c.Param("token"), SellerID: l.Seller, State: string(l.status), Refused: s.refusedLink(c, l)}))
}

// probeCookies has a browser that came without a cookie keep one for a while, so that the form says whether it does: the page itself gives it no session.
func (s *site) probeCookies(c *gin.Context) {
	if len(c.Request.Cookies()) == 0 {
		http.SetCookie(c.Writer, &http.Cookie{Name: "waitroom_cookies", Value: "1", Path: pagePath(request.Room(c), ""), MaxAge: probeKept,
			HttpOnly: true, Secure: s.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
	}
}

// probeKept is for how many seconds: a link is good for less.
const probeKept = 600

// useLink is POST of a link: this browser continues with the place.
func (s *site) useLink(c *gin.Context) {
	hideAddress(c)
	if !s.ReadForm(c) {
		return
	}
	if cookieless(c) {
		s.Refuse(c, "cookies_blocked")
		return
	}
	session, err := s.visitor(c)
	if err == nil {
		err = s.follow(c, session)
	}
	if err != nil {
		s.Fail(c, err)
		return
	}
	s.back(c, "")
}

// hideAddress keeps the token in an address from where the page leads. A browser that knows the second policy goes by it: without any
// referrer it would send the form's Origin as "null", and where there is no TLS nothing else says whose form it is.
func hideAddress(c *gin.Context) { c.Header("Referrer-Policy", "no-referrer, strict-origin") }

// linkSession is the session of who opens a link, "" for none: to look makes none.
func (s *site) linkSession(c *gin.Context) (string, error) {
	session, err := s.named(c, "")
	if err != nil {
		return "", err
	}
	return s.reading(c, session)
}

// openedLink is a link, and who opens it.
type openedLink struct {
	link.Place
	status room.Status
	used   bool // by the browser that asks
	inside bool // it has a live place in the room, or stands for one
}

// openLink looks where a link leads. Refusals: link.ErrNone, also where the place is over, and link.ErrUsed.
func (s *site) openLink(c *gin.Context, session string) (l openedLink, err error) {
	ctx, cancel := s.Asking(c)
	defer cancel()
	id := request.Room(c)
	if l.Place, l.used, err = s.Links.Open(ctx, id, c.Param("token"), s.told(c, session)); err != nil {
		return l, err
	}
	_, seats, err := s.Engine.Look(ctx, id, l.Session, session)
	if err != nil {
		return l, err
	}
	if l.status = seats[0].Status; !seats[0].Live() || !l.Is(seats[0]) {
		return l, link.ErrNone
	}
	if l.inside = seats[1].Live(); !l.inside {
		stands, ok, failed := s.linked(ctx, c, id, session)
		l.inside, err = ok && stands.seat.Live(), failed
	}
	return l, err
}

// refusedLink is the code of why this browser can not use a link; "" where it can.
func (s *site) refusedLink(c *gin.Context, l openedLink) string {
	if s.Sellers == nil {
		if l.inside {
			return "session_has_place"
		}
		return ""
	}
	switch p, ok := proofOf(c); {
	case !ok:
		return "not_identified"
	case p.Seller != l.Seller:
		return "another_seller"
	}
	return ""
}

// follow has the session act for the place that the link of the request leads to.
func (s *site) follow(c *gin.Context, session string) error {
	l, err := s.openLink(c, session)
	if err != nil || l.used && l.inside {
		return err
	}
	if code := s.refusedLink(c, l); code != "" {
		return problem.Refusal(code)
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	id, token, own := request.Room(c), c.Param("token"), ""
	if s.Sellers == nil {
		own = session // its windows that are open show the place from now on
		err = s.Links.Use(ctx, id, token, session, l.Place)
	} else {
		err = s.Links.Spend(ctx, id, token, s.told(c, session), l.Place)
	}
	if err == nil {
		s.tellJoined(ctx, id, l.Session, own)
	}
	return err
}

// tellJoined tells the other devices, and the browser's own windows. It has been let in, whether or not they hear of it.
func (s *site) tellJoined(ctx context.Context, id room.ID, session, own string) {
	if s.Sockets == nil {
		return
	}
	if err := s.Sockets.JoinedDevice(ctx, id, session, own); err != nil {
		s.Log.WarnContext(ctx, "a place's browsers are not told that another one joined them", "room", string(id), "error", err)
	}
}

// addJoined says on a page that another device was let into its place. Of the device that was let in, it is no news.
func (s *site) addJoined(c *gin.Context, id room.ID, session string, v *templates.RoomView) {
	if _, ok := linkedOf(c); ok || s.Links == nil || (v.State != templates.StateWaiting && v.State != templates.StateLocked) {
		return
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	v.JoinedDevice, _ = s.Links.Joined(ctx, id, session, v.Ticket) // the page is shown though that is not known
}

// loggedPath is a path without the token of a link, however it goes on.
func loggedPath(path string) string {
	before, _, found := strings.Cut(path, linkPath)
	if !found {
		return path
	}
	return before + linkPath + "***"
}
