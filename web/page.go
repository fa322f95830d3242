package web

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

// home is GET /: the default room's page.
func (s *site) home(c *gin.Context) {
	id, ok := s.Rooms.Default()
	if !ok {
		s.refuse(c, "not_found")
		return
	}
	s.showRoom(c, id)
}

// page is GET /rooms/{room}.
func (s *site) page(c *gin.Context) { s.showRoom(c, roomOf(c)) }

func (s *site) toPage(c *gin.Context) {
	to := url.URL{Path: "/rooms/" + string(roomOf(c)), RawQuery: c.Request.URL.RawQuery}
	c.Redirect(http.StatusPermanentRedirect, to.String())
}

func (s *site) showRoom(c *gin.Context, id room.ID) {
	lang := sellerLanguages.page(c.Request)
	if s.arrives(c, id) {
		return
	}
	s.choose(c, c.Query("lang"))
	session, err := s.guest(c)
	if err != nil {
		s.fail(c, err)
		return
	}
	view, seat, err := s.look(c, id, session)
	if err != nil {
		s.fail(c, err)
		return
	}
	v := roomView(id, view, seat, s.lease(id))
	v.Lang, v.AssetPrefix = lang, s.AssetPrefix
	s.addRules(id, &v)
	v.Ask, v.AskKey = c.Query("ask"), uuid.NewString()
	v.Offers = slices.DeleteFunc(v.Offers, func(o templates.OfferView) bool { return o.MessageID == c.Query("not") })
	s.addNotice(c, id, &v)
	s.addRejected(c, id, &v)
	s.addSeller(c, &v)
	s.addJoined(c, id, session, &v)
	s.addPushKey(c, &v)
	show := s.showZipped
	if len(v.SMS) > 0 { // a code is the one secret that a page may hold
		show = s.show
	}
	show(c, http.StatusOK, lang, templates.RoomPage(v))
}

// addRules adds what the operator says of the room, and by which rules a place in it is kept.
func (s *site) addRules(id room.ID, v *templates.RoomView) {
	v.Info = s.info(id, v.Lang)
	v.AwaySeconds, v.DropSeconds = int(room.Seconds(s.AwayAfter)), int(room.Seconds(s.DropAfter))
	if s.Terms != nil {
		v.ClaimSeconds = int(room.Seconds(s.Terms(id).ClaimWithin))
	}
}

// info is what the operator says of a room, in that language.
func (s *site) info(id room.ID, lang string) (info templates.RoomInfo) {
	if s.Info != nil {
		info = s.Info(id, lang)
	}
	return info
}

// visitor is the browser's session. One that has none is given it now, so that its first 준비 완료
// already comes from the session that it will keep; where sellers are known by tokens, one is what a token is exchanged for.
func (s *site) visitor(c *gin.Context) (string, error) {
	session, err := room.ParseSession(s.cookie(c))
	if s.Sellers != nil {
		return s.acting(c, session)
	}
	if err != nil {
		session = room.NewSession()
		s.remember(c, session)
	}
	return session, nil
}

// roomView is what the page shows of a room to one reader.
func roomView(id room.ID, v room.View, seat room.Seat, lease time.Duration) templates.RoomView {
	page := templates.RoomView{Room: string(id), State: string(seat.Status), Outcome: string(seat.Outcome),
		Epoch: strconv.FormatInt(v.Epoch, 10), Version: v.Version, Ticket: seat.Ticket, QueuePosition: seat.Position,
		QueueLength: v.Waiting, ServerTime: v.Now, LeaseSeconds: int(room.Seconds(lease)), Paused: v.Paused, SellerID: seat.Seller,
		Fence: seat.Fence, Unclaimed: seat.Unclaimed}
	if v.Lease != nil {
		page.LeaseExpiresAt = v.Lease.ExpiresAt
	}
	switch seat.Status {
	case room.Waiting:
		page.EstimatedWait, page.MaximumWait = pageWaits(v, seat.Position, lease)
	case room.Locked: // nobody waits for what one has
		page.ClaimBy = v.Lease.ClaimBy
	default:
		page.EstimatedWait, page.MaximumWait = pageWaits(v, v.Waiting+1, lease)
	}
	addCodes(&page, v, seat)
	return page
}

// addCodes adds the reader's asks and messages. A message that came in its turn is shown until the next place, a late
// one also then.
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
	v := templates.SMSView{MessageID: m.MessageID, Text: m.Text, ReceivedAt: m.ReceivedAt, Late: m.Late, Fence: m.Fence}
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

// show renders a page whole before any of it is sent, so that a failure is still a 500.
func (s *site) show(c *gin.Context, status int, lang string, page templ.Component) {
	s.render(c, lang, page, func(body []byte) { c.Data(status, htmlKind, body) })
}

// showZipped is show for a page without secrets, see sendZipped.
func (s *site) showZipped(c *gin.Context, status int, lang string, page templ.Component) {
	s.render(c, lang, page, func(body []byte) { s.sendZipped(c, status, htmlKind, body) })
}

const htmlKind = "text/html; charset=utf-8"

func (s *site) render(c *gin.Context, lang string, page templ.Component, send func(body []byte)) {
	var body bytes.Buffer
	if err := page.Render(c.Request.Context(), &body); err != nil {
		s.Log.ErrorContext(c.Request.Context(), "page not rendered", "route", c.FullPath(), "error", err)
		writeProblem(c, "internal", problemFor("internal"), nil)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Language", lang)
	send(body.Bytes())
}

func (s *site) errorPage(c *gin.Context, code string, p problem) {
	in := spoken(c)
	lang := in.page(c.Request)
	if sent := c.Request.PostForm.Get("lang"); in.has(sent) { // see readForm
		lang = sent
	}
	s.choose(c, c.Query("lang"))
	v := templates.ErrorView{Lang: lang, Languages: in.names, AssetPrefix: s.AssetPrefix, Code: code, DropSeconds: int(room.Seconds(s.DropAfter))}
	if inSupport(c.Request.URL.Path) { // a seller's page is no way back
		v.Detail = p.said(lang).Detail
	} else if id, err := room.ParseID(c.Param("room")); err == nil && s.Rooms.Has(id) {
		v.Room = string(id)
	} else if id, ok := s.Rooms.Default(); ok {
		v.Room = string(id)
	}
	again(c, &v)
	s.showZipped(c, p.status, lang, templates.ErrorPage(v))
}

// againAfter is after how many seconds at least a page that can not be shown now is asked for again by itself: as often as one that waits.
const againAfter = 5

// again has the browser ask by itself for a page that can not be shown now, with a script or without. It asks for the same address, which is said
// to nobody by that. What a form answered is not sent again: a room's leads to the room, a link's to the link, which asks before it is used.
func again(c *gin.Context, v *templates.ErrorView) {
	if !v.Passing() {
		return
	}
	if c.Request.Method != http.MethodGet {
		switch {
		case v.Room == "":
			return
		case strings.HasSuffix(c.FullPath(), linkPath+":token"):
			v.AgainAt = "?lang=" + v.Lang
		default:
			v.AgainAt = pagePath(room.ID(v.Room), "?lang="+v.Lang)
		}
	}
	wanted, _ := strconv.Atoi(c.Writer.Header().Get("Retry-After"))
	v.Again = max(wanted, againAfter)
}

// wantsPage reports whether a person is asking: never of the API, always of a room's page, and of support's unless it asks for JSON.
func wantsPage(c *gin.Context) bool {
	path := c.Request.URL.Path
	switch {
	case strings.HasPrefix(path, "/api/"):
		return false
	case strings.HasPrefix(path, "/rooms/"):
		return true
	case inSupport(path) && !strings.Contains(c.GetHeader("Accept"), "application/json"):
		return true
	}
	return strings.Contains(c.GetHeader("Accept"), "text/html")
}

// pagePath is the address of a room's page.
func pagePath(id room.ID, rest string) string { return "/rooms/" + url.PathEscape(string(id)) + rest }
