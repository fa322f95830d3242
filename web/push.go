package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
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

// subscribe is POST /api/{room}/lock/push. This browser receives the place's notifications, also without an
// open page.
func (s *site) subscribe(c *gin.Context) {
	ticket, err := s.subscribed(c)
	if err != nil {
		s.Fail(c, err)
		return
	}
	s.JSON(c, http.StatusOK, subscribedAnswer{"subscribed", ticket})
}

func (s *site) subscribed(c *gin.Context) (ticket int64, err error) {
	body, err := readPush(c)
	if err != nil {
		return 0, err
	}
	session, err := s.sessionOf(c, body.Session)
	if err != nil {
		return 0, err
	}
	sub, err := s.Pushes.Parse(body.Endpoint, body.Keys.P256dh, body.Keys.Auth)
	if err != nil {
		return 0, err
	}
	id := request.Room(c)
	_, seat, err := s.look(c, id, session)
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
	if site := s.publicURL(c); strings.HasPrefix(site, "https:") {
		sub.Site = site
	}
	return seat.Ticket, s.keep(c, session, seat.Ticket, sub)
}

// keep keeps a subscription for as long as its place is live. The place may have ended since it was read, and
// only keep can then delete the subscription.
func (s *site) keep(c *gin.Context, session string, ticket int64, sub push.Subscription) error {
	ctx, cancel := s.Asking(c)
	defer cancel()
	id := request.Room(c)
	if err := s.Pushes.Subscribe(ctx, id, ticket, sub); err != nil {
		return err
	}
	_, seat, err := s.look(c, id, session)
	if err != nil {
		return err
	}
	if seat.Live() && seat.Ticket == ticket {
		return nil
	}
	if err := s.Pushes.Unsubscribe(ctx, id, ticket, sub); err != nil {
		return err
	}
	return room.ErrNoPlace
}

// addPushKey adds the key that makes the page subscribe. Without it, notifications come only while the page
// is open.
func (s *site) addPushKey(c *gin.Context, v *templates.RoomView) {
	if s.Pushes == nil {
		return
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	v.PushKey, _ = s.Pushes.PublicKey(ctx)
}

// readPush reads the body of a subscription.
func readPush(c *gin.Context) (body pushBody, err error) {
	if !request.IsJSON(c) {
		return body, problem.Refusal("unsupported_media_type")
	}
	text, err := request.Body(c)
	if err != nil {
		return body, err
	}
	return parsePush(text)
}

// parsePush accepts exactly one JSON object. A field of the wrong type is refused as a bad subscription.
func parsePush(text []byte) (body pushBody, err error) {
	read, err := request.Decode[pushBody](text)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field == "session_id" {
		return body, problem.Refusal("invalid_session")
	} else if ok && wrong.Field != "" {
		return body, push.ErrInvalid
	}
	if err != nil || read == nil {
		return body, problem.Refusal("invalid_json")
	}
	return *read, nil
}
