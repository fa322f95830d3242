package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/templates/brand"
	"github.com/waitroom/waitroom/web/describe"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// pages are what a seller's browser shows, and the forms that work without a script.
type pages struct {
	*lockAPI
	devices *devices
	push    *pushAPI
	portal  *portal
}

func (h *pages) routes(g *gin.RouterGroup) {
	g.GET("", h.page)
	g.GET("/", h.toPage)
	g.GET("/brand/:digest/:file", h.brandFile)
	g.POST("/arrive", h.arriveForm)
	g.POST("/join", h.joinForm)
	g.POST("/leave", h.leaveForm)
	g.POST("/expect", h.expectForm)
	g.POST("/reject", h.rejectForm)
	g.POST("/claim", h.claimForm)
}

// home is GET /: the default room's page.
func (h *pages) home(c *gin.Context) {
	id, ok := h.Rooms.Default()
	if !ok {
		h.Refuse(c, "not_found")
		return
	}
	h.showRoom(c, id)
}

// page is GET /rooms/{room}.
func (h *pages) page(c *gin.Context) { h.showRoom(c, request.Room(c)) }

func (h *pages) toPage(c *gin.Context) {
	to := url.URL{Path: "/rooms/" + string(request.Room(c)), RawQuery: c.Request.URL.RawQuery}
	c.Redirect(http.StatusPermanentRedirect, to.String())
}

func (h *pages) showRoom(c *gin.Context, id room.ID) {
	lang := request.Seller.Page(c.Request)
	if h.arrives(c, id) {
		return
	}
	h.ChooseLanguage(c, c.Query("lang"))
	session, err := h.guest(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	view, seat, err := h.look(c, id, session)
	if err != nil {
		h.Fail(c, err)
		return
	}
	v := roomView(id, lang, view, seat, h.lease(id), h.opensAt(id, view))
	v.AssetPrefix, v.Plain = h.AssetPrefix, isPlain(c)
	h.addPace(id, &v)
	h.addRules(id, &v)
	market, _ := strconv.Atoi(c.Query("market")) // none: the first
	v.Info = v.Info.Choose(market)
	v.Ask, v.AskKey, v.Entered = c.Query("ask"), uuid.NewString(), c.Query("entered")
	v.Offers = slices.DeleteFunc(v.Offers, func(
		o templates.OfferView) bool {
		return o.MessageID == c.Query("not")
	})
	h.addNotice(c, id, &v)
	h.addRejected(c, id, &v)
	h.addSeller(c, &v)
	h.devices.addJoined(c, id, session, &v)
	h.push.addPushKey(c, &v)
	h.portal.addReach(c, &v)
	if seat.Ticket != 0 || h.Sellers == nil { // an idle page of a proven seller does nothing without the cookie
		v.Session = masked(h.publicSession(c, session))
	}
	show := h.ShowZipped
	if len(v.SMS) > 0 { // a code is the one secret that a page may hold as it is
		show = h.Show
	}
	show(c, http.StatusOK, lang, templates.RoomPage(v))
}

// addPace adds how long turns were before, while the room has no average of its own.
func (h *pages) addPace(id room.ID, v *templates.RoomView) {
	if h.Pace == nil || !v.NeedsHistory() {
		return
	}
	if hold, spread := h.Pace(id, v.ServerTime); hold > 0 {
		v.HoldSeconds, v.SpreadSeconds = hold.Seconds(), spread.Seconds()
	}
}

// addRules adds the operator's texts for the room, and the rules of its places.
func (h *pages) addRules(id room.ID, v *templates.RoomView) {
	v.Info = h.info(id, v.Lang)
	if h.WayBack != nil && v.Info.ReturnURL != "" {
		v.Info.ReturnURL = pagePath(id, "/return")
	}
	v.AwaySeconds, v.DropSeconds = int(room.Seconds(h.AwayAfter)), int(room.Seconds(h.DropAfter))
	if h.Terms != nil {
		v.ClaimSeconds = int(room.Seconds(h.Terms(id).ClaimWithin))
	}
}

// roomView returns a reader's view of a room.
func roomView(id room.ID, lang string, v room.View, seat room.Seat, lease time.Duration,
	opensAt int64) templates.RoomView {
	page := templates.RoomView{Room: string(id), State: string(seat.Status), Outcome: string(seat.Outcome),
		Epoch: strconv.FormatInt(v.Epoch, 10), Version: v.Version, Ticket: seat.Ticket,
		QueuePosition: seat.Position,
		QueueLength:   v.Waiting, ServerTime: v.Now, LeaseSeconds: int(room.Seconds(lease)), Public: v.Public,
		SellerID: seat.Seller, OpensAt: opensAt, Lang: lang, Notice: v.Support.NoticeIn(lang, v.Now),
		Fence: seat.Fence, Marks: seat.Marks, SpreadSeconds: v.Spread.Seconds(), Holds: v.Holds}
	if v.Lease != nil {
		page.LeaseExpiresAt = v.Lease.ExpiresAt
	}
	switch seat.Status {
	case room.Waiting:
		page.EstimatedWait, page.MaximumWait = pageWaits(v, seat.Position, lease)
	case room.Locked: // a holder's room shows no waits
		page.ClaimBy = v.Lease.ClaimBy
	default:
		page.EstimatedWait, page.MaximumWait = pageWaits(v, v.Waiting+1, lease)
	}
	addCodes(&page, v, seat)
	return page
}

// addCodes adds the holder's asks and offers, and the reader's messages. Of earlier turns it adds late
// messages alone.
func addCodes(page *templates.RoomView, v room.View, seat room.Seat) {
	if seat.Status == room.Locked && v.Lease != nil {
		page.Codes = &templates.CodesView{Asked: v.Lease.Asked, Open: v.Lease.Open}
		if v.Lease.AskAfter > v.Now {
			page.Codes.AskAfter = v.Lease.AskAfter
		}
		for _, o := range seat.Offers {
			page.Offers = append(page.Offers, templates.OfferView{MessageID: o.MessageID, ReceivedAt: o.ReceivedAt})
		}
	}
	for _, m := range seat.Messages {
		if m.Late || m.Fence == 0 || m.Fence == seat.Fence {
			page.SMS = append(page.SMS, smsView(m))
		}
	}
}

func smsView(m room.Message) templates.SMSView {
	v := templates.SMSView{MessageID: m.MessageID, Text: m.Text, ReceivedAt: m.ReceivedAt, Late: m.Late,
		Fence: m.Fence, Unreadable: m.Unreadable}
	if m.Code != nil {
		v.Code = *m.Code
	}
	return v
}

func pageWaits(v room.View, position int, lease time.Duration) (estimated, maximum *int) {
	e, m := waits(v, position, lease)
	if e == nil {
		return nil, nil
	}
	return new(int(*e)), new(int(*m))
}

// pagePath returns the address of a room's page.
func pagePath(id room.ID, rest string) string { return "/rooms/" + url.PathEscape(string(id)) + rest }

// logoPolicy is the policy of a logo. An SVG has its own styles; opened as a page, it runs no script.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; " + noFrames

// brandFile is GET /rooms/{room}/brand/{digest}/logo and …/style. Only the current digest's address is
// cached: while replicas read a changed file, browsers ask this one for another one's.
func (h *pages) brandFile(c *gin.Context) {
	var file *brand.File
	of := h.info(request.Room(c), "").Brand
	switch c.Param("file") {
	case "style":
		file = of.Style
	case "logo":
		if of.Logo != nil {
			file = &of.Logo.File
			c.Header("Content-Security-Policy", logoPolicy)
		}
	}
	if file == nil {
		h.Refuse(c, "not_found")
		return
	}
	cache := "no-store"
	if c.Param("digest") == file.Digest {
		cache = "public, max-age=31536000, immutable"
	}
	c.Header("Cache-Control", cache)
	c.Data(http.StatusOK, file.Kind, file.Content)
}

const docsPath = "/docs"

// docs is GET /docs: a page made from the descriptions of the API.
func (h *pages) docs(c *gin.Context) {
	h.ChooseLanguage(c, c.Query("lang"))
	v := describe.Page()
	v.Lang, v.AssetPrefix = request.Desk.Page(c.Request), h.AssetPrefix
	for _, code := range problem.Codes() {
		p := problem.For(code)
		v.Problems = append(v.Problems, templates.DocsProblem{Code: code, Status: p.Status,
			Problem: p.Words(v.Lang)})
	}
	h.Show(c, http.StatusOK, v.Lang, templates.DocsPage(v))
}
