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
	"github.com/waitroom/waitroom/web/request"
)

// home is GET /: the default room's page.
func (s *site) home(c *gin.Context) {
	id, ok := s.Rooms.Default()
	if !ok {
		s.Refuse(c, "not_found")
		return
	}
	s.showRoom(c, id)
}

// page is GET /rooms/{room}.
func (s *site) page(c *gin.Context) { s.showRoom(c, request.Room(c)) }

func (s *site) toPage(c *gin.Context) {
	to := url.URL{Path: "/rooms/" + string(request.Room(c)), RawQuery: c.Request.URL.RawQuery}
	c.Redirect(http.StatusPermanentRedirect, to.String())
}

func (s *site) showRoom(c *gin.Context, id room.ID) {
	lang := request.Seller.Page(c.Request)
	if s.arrives(c, id) {
		return
	}
	s.ChooseLanguage(c, c.Query("lang"))
	session, err := s.guest(c)
	if err != nil {
		s.Fail(c, err)
		return
	}
	view, seat, err := s.look(c, id, session)
	if err != nil {
		s.Fail(c, err)
		return
	}
	v := roomView(id, view, seat, s.lease(id))
	v.Lang, v.AssetPrefix = lang, s.AssetPrefix
	s.addRules(id, &v)
	v.Ask, v.AskKey = c.Query("ask"), uuid.NewString()
	v.Offers = slices.DeleteFunc(v.Offers, func(
		o templates.OfferView) bool {
		return o.MessageID == c.Query("not")
	})
	s.addNotice(c, id, &v)
	s.addRejected(c, id, &v)
	s.addSeller(c, &v)
	s.addJoined(c, id, session, &v)
	s.addPushKey(c, &v)
	s.addReach(c, &v)
	show := s.ShowZipped
	if len(v.SMS) > 0 { // a code is the one secret that a page may hold
		show = s.Show
	}
	show(c, http.StatusOK, lang, templates.RoomPage(v))
}

// addRules adds the operator's texts for the room, and the rules of its places.
func (s *site) addRules(id room.ID, v *templates.RoomView) {
	v.Info = s.info(id, v.Lang)
	if s.WayBack != nil && v.Info.ReturnURL != "" {
		v.Info.ReturnURL = pagePath(id, "/return")
	}
	v.AwaySeconds, v.DropSeconds = int(room.Seconds(s.AwayAfter)), int(room.Seconds(s.DropAfter))
	if s.Terms != nil {
		v.ClaimSeconds = int(room.Seconds(s.Terms(id).ClaimWithin))
	}
}

// info returns the operator's texts for a room in the page's language.
func (s *site) info(id room.ID, lang string) (info templates.RoomInfo) {
	if s.Info != nil {
		info = s.Info(id, lang)
	}
	return info
}

// visitor returns the browser's session, or gives it a new one. The first 준비 완료 then already comes from the
// session that the browser keeps. Where sellers come with tokens, a session is exchanged for a token instead.
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

// roomView returns a reader's view of a room.
func roomView(id room.ID, v room.View, seat room.Seat, lease time.Duration) templates.RoomView {
	page := templates.RoomView{Room: string(id), State: string(seat.Status), Outcome: string(seat.Outcome),
		Epoch: strconv.FormatInt(v.Epoch, 10), Version: v.Version, Ticket: seat.Ticket,
		QueuePosition: seat.Position,
		QueueLength:   v.Waiting, ServerTime: v.Now, LeaseSeconds: int(room.Seconds(lease)), Paused: v.Paused,
		SellerID: seat.Seller,
		Fence:    seat.Fence, Unclaimed: seat.Unclaimed}
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

// addCodes adds the reader's asks and messages. The page shows a turn's message until the next place, a late
// one too.
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
		Fence: m.Fence}
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
