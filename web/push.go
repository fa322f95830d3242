package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/request"
)

// pushBody is a browser's subscription as the browser writes it, with the seller's language. Other fields are
// ignored.
type pushBody struct {
	Session  string   `json:"session_id"`
	Language string   `json:"language"`
	Endpoint string   `json:"endpoint"`
	Keys     pushKeys `json:"keys"`
}

type pushKeys struct {
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// UnmarshalJSON accepts exact field names only.
func (k *pushKeys) UnmarshalJSON(text []byte) error {
	type plain pushKeys
	read, err := request.Decode[plain](text)
	if read != nil {
		*k = pushKeys(*read)
	}
	return err
}

// subscribedAnswer is the answer to a browser that is subscribed.
type subscribedAnswer struct {
	Status string `json:"status"`
	Ticket int64  `json:"ticket"`
}

// pushAPI takes subscriptions of sellers' browsers.
type pushAPI struct{ *lockAPI }

// subscribe is POST /api/{room}/lock/push. This browser receives the place's notifications, also without an
// open page.
func (h *pushAPI) subscribe(c *gin.Context) {
	ticket, err := h.subscribed(c)
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.JSON(c, http.StatusOK, subscribedAnswer{"subscribed", ticket})
}

func (h *pushAPI) subscribed(c *gin.Context) (ticket int64, err error) {
	body, err := readPush(c)
	if err != nil {
		return 0, err
	}
	session, err := h.sessionOf(c, body.Session)
	if err != nil {
		return 0, err
	}
	sub, err := h.Pushes.Parse(body.Endpoint, body.Keys.P256dh, body.Keys.Auth)
	if err != nil {
		return 0, err
	}
	id := request.Room(c)
	_, seat, err := h.look(c, id, session)
	if err != nil {
		return 0, err
	}
	if !seat.Live() {
		return 0, room.ErrNoPlace
	}
	sub.Seller, sub.Language = seat.Seller, body.Language
	if !request.Seller.Has(sub.Language) {
		sub.Language = request.Seller.Accepted(c.Request)
	}
	if site := h.publicURL(c); strings.HasPrefix(site, "https:") {
		sub.Site = site
	}
	return seat.Ticket, h.keep(c, session, seat.Ticket, sub)
}

// keep keeps a subscription for as long as its place is live. The place may have ended since it was read, and
// only keep can then delete the subscription.
func (h *pushAPI) keep(c *gin.Context, session string, ticket int64, sub push.Subscription) error {
	ctx, cancel := h.Asking(c)
	defer cancel()
	id := request.Room(c)
	if err := h.Pushes.Subscribe(ctx, id, ticket, sub); err != nil {
		return err
	}
	_, seat, err := h.look(c, id, session)
	if err != nil {
		return err
	}
	if seat.Live() && seat.Ticket == ticket {
		return nil
	}
	if err := h.Pushes.Unsubscribe(ctx, id, ticket, sub); err != nil {
		return err
	}
	return room.ErrNoPlace
}

// addPushKey adds the key that makes the page subscribe. Without it, notifications come only while the page
// is open.
func (h *pushAPI) addPushKey(c *gin.Context, v *templates.RoomView) {
	if h.Pushes == nil {
		return
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	v.PushKey, _ = h.Pushes.PublicKey(ctx)
}

// readPush reads the body of a subscription.
func readPush(c *gin.Context) (pushBody, error) {
	text, err := readJSON(c)
	if err != nil {
		return pushBody{}, err
	}
	return parseBody[pushBody](text, push.ErrInvalid)
}
