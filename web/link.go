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

// linkPath separates a room's page from a link's token.
const linkPath = "/link/"

// devices lets a seller continue a place in another browser, by a link.
type devices struct{ *lockAPI }

func (h *devices) routes(api, pages *gin.RouterGroup) {
	api.POST("/lock/link", h.makeLink)
	pages.POST("/link", h.makeLinkForm)
	pages.GET("/link", func(c *gin.Context) { h.back(c, "") }) // for a reload of the form's answer
	pages.GET(linkPath+":token", h.linkPage)
	pages.POST(linkPath+":token", h.useLink)
}

// linkAnswer is the answer to a seller that continues on another device.
type linkAnswer struct {
	URL       string        `json:"url"`
	ExpiresAt reply.Instant `json:"expires_at"`
	QR        *link.QR      `json:"qr,omitempty"` // if requested
}

// makeLink is POST /api/{room}/lock/link, the page's button 다른 기기에서 이어하기 ("continue on another device").
func (h *devices) makeLink(c *gin.Context) {
	body, err := readOptionalLock(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	session, err := h.sessionOf(c, body.Session)
	if err != nil {
		h.Fail(c, err)
		return
	}
	wanted, _ := strconv.ParseBool(c.Query("qr"))
	answer, err := h.newLink(c, session, wanted)
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.JSON(c, http.StatusOK, answer)
}

// makeLinkForm is makeLink without a script. Its answer has no address of its own: the link is for the other
// device.
func (h *devices) makeLinkForm(c *gin.Context) {
	if !h.ReadForm(c) {
		return
	}
	session, err := h.visitor(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	answer, err := h.newLink(c, session, true)
	if err != nil {
		h.notice(c, err, "")
		h.back(c, "")
		return
	}
	lang := request.Seller.Page(c.Request)
	if chosen := c.PostForm("lang"); request.Seller.Has(chosen) {
		lang = chosen
	}
	info := h.info(request.Room(c), lang)
	h.Show(c, http.StatusOK, lang, templates.NewLinkPage(templates.NewLinkView{Lang: lang,
		AssetPrefix: h.AssetPrefix, Room: string(request.Room(c)), Name: info.Name, Brand: info.Brand,
		URL: answer.URL, ExpiresAt: int64(answer.ExpiresAt), QRSize: answer.QR.Size, QRPath: answer.QR.Path}))
}

// newLink makes a link to the live place of a session, or to the place it joined by a link.
func (h *devices) newLink(c *gin.Context, session string, qr bool) (linkAnswer, error) {
	id := request.Room(c)
	_, seat, err := h.look(c, id, session)
	if err != nil {
		return linkAnswer{}, err
	}
	if !seat.Live() {
		return linkAnswer{}, room.ErrNoPlace
	}
	if l, ok := linkedOf(c); ok {
		session = l.Session
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	token, until, err := h.Links.Make(ctx, id,
		link.Place{Session: session, Ticket: seat.Ticket, Seller: seat.Seller})
	if err != nil {
		return linkAnswer{}, err
	}
	a := linkAnswer{URL: h.publicURL(c) + pagePath(id, linkPath+token), ExpiresAt: reply.Instant(until)}
	if qr {
		a.QR, err = link.Draw(a.URL)
	}
	return a, err
}

// linkPage is GET of a link: it shows the place. It changes nothing, so link previews and mail scanners do
// not use the link up.
func (h *devices) linkPage(c *gin.Context) {
	lang := request.Seller.Page(c.Request)
	h.ChooseLanguage(c, c.Query("lang"))
	hideAddress(c)
	session, err := h.linkSession(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	l, err := h.openLink(c, session)
	switch {
	case err != nil:
		h.Fail(c, err)
		return
	case l.inside && l.used:
		h.back(c, "")
		return
	}
	h.probeCookies(c)
	info := h.info(request.Room(c), lang)
	h.Show(c, http.StatusOK, lang, templates.LinkPage(templates.LinkView{Lang: lang, AssetPrefix: h.AssetPrefix,
		Room: string(request.Room(c)), Name: info.Name, Brand: info.Brand,
		Token: c.Param("token"), SellerID: l.Seller, State: string(l.status), Refused: h.refusedLink(c, l)}))
}

// probeCookies sets a short-lived cookie in a browser that has none, so that the form shows whether cookies
// work. The page itself creates no session.
func (h *devices) probeCookies(c *gin.Context) {
	if len(c.Request.Cookies()) == 0 {
		http.SetCookie(c.Writer, &http.Cookie{Name: "waitroom_cookies", Value: "1",
			Path: pagePath(request.Room(c), ""), MaxAge: probeKept,
			HttpOnly: true, Secure: h.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
	}
}

// probeKept is the probe's lifetime in seconds, longer than a link's.
const probeKept = 600

// useLink is POST of a link: this browser continues with the place.
func (h *devices) useLink(c *gin.Context) {
	hideAddress(c)
	if !h.ReadForm(c) {
		return
	}
	if cookieless(c) {
		h.Refuse(c, "cookies_blocked")
		return
	}
	session, err := h.visitor(c)
	if err == nil {
		err = h.follow(c, session)
	}
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.back(c, "")
}

// hideAddress keeps the token in the address out of referrers. Browsers that know the second policy use it:
// without any referrer they would send the form's Origin as "null", and without TLS no other header shows the
// form's site.
func hideAddress(c *gin.Context) { c.Header("Referrer-Policy", "no-referrer, strict-origin") }

// linkSession returns the session of a browser that opens a link; "" without one. Opening a link creates no
// session.
func (h *devices) linkSession(c *gin.Context) (string, error) {
	session, err := h.named(c, "")
	if err != nil {
		return "", err
	}
	return h.reading(c, session)
}

// openedLink is a link with the session that opened it.
type openedLink struct {
	link.Place
	status room.Status
	used   bool // by this browser
	inside bool // its session has a live place in the room, its own or by a link
}

// openLink resolves a link. Errors: link.ErrNone, also if the place has ended, and link.ErrUsed.
func (h *devices) openLink(c *gin.Context, session string) (l openedLink, err error) {
	ctx, cancel := h.Asking(c)
	defer cancel()
	id := request.Room(c)
	if l.Place, l.used, err = h.Links.Open(ctx, id, c.Param("token"), h.publicSession(c, session)); err != nil {
		return l, err
	}
	_, seats, err := h.Engine.Look(ctx, id, l.Session, session)
	if err != nil {
		return l, err
	}
	if l.status = seats[0].Status; !seats[0].Live() || !l.Is(seats[0]) {
		return l, link.ErrNone
	}
	if l.inside = seats[1].Live(); !l.inside {
		stands, ok, failed := h.linked(ctx, c, id, session)
		l.inside, err = ok && stands.seat.Live(), failed
	}
	return l, err
}

// refusedLink returns the code for why this browser cannot use a link; "" if it can.
func (h *devices) refusedLink(c *gin.Context, l openedLink) string {
	if h.Sellers == nil {
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

// follow lets the session act for the place of the request's link.
func (h *devices) follow(c *gin.Context, session string) error {
	l, err := h.openLink(c, session)
	if err != nil || l.used && l.inside {
		return err
	}
	if code := h.refusedLink(c, l); code != "" {
		return problem.Refusal(code)
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	id, token, own := request.Room(c), c.Param("token"), ""
	if h.Sellers == nil {
		own = session // its open windows show the place from now on
		err = h.Links.Use(ctx, id, token, session, l.Place)
	} else {
		err = h.Links.Spend(ctx, id, token, h.publicSession(c, session), l.Place)
	}
	if err == nil {
		h.notifyJoined(ctx, id, l.Session, own)
	}
	return err
}

// notifyJoined notifies the place's other devices and the browser's own windows. A failure is only logged:
// the browser has already joined.
func (h *devices) notifyJoined(ctx context.Context, id room.ID, session, own string) {
	if h.Sockets == nil {
		return
	}
	if err := h.Sockets.JoinedDevice(ctx, id, session, own); err != nil {
		h.Log.WarnContext(ctx, "a place's browsers are not notified that another one joined them", "room",
			string(id), "error", err)
	}
}

// addJoined shows on a page that another device joined its place. The device that joined does not see it.
func (h *devices) addJoined(c *gin.Context, id room.ID, session string, v *templates.RoomView) {
	if _, ok := linkedOf(c); ok || h.Links == nil ||
		(v.State != templates.StateWaiting && v.State != templates.StateLocked) {
		return
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	v.JoinedDevice, _ = h.Links.Joined(ctx, id, session, v.Ticket) // without an answer, the page leaves it out
}

// loggedPath returns a path without a link's token or anything after it.
func loggedPath(path string) string {
	before, _, found := strings.Cut(path, linkPath)
	if !found {
		return path
	}
	return before + linkPath + "***"
}
