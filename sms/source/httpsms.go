package source

import (
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/waitroom/waitroom/sms"
)

// httpSMS reads the events of httpSMS (NdoleStudio/httpsms): CloudEvents in JSON. Their token, by HS256 under
// the webhook's signing key, authenticates the sender, but does not cover the body. The timestamp is when the
// phone received the message, by the phone's clock.
// https://docs.httpsms.com/webhooks/introduction
type httpSMS struct{ keys keys }

func (h httpSMS) Verify(r sms.Request) error {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return refused("there is no bearer token: give the webhook a signing key in httpSMS")
	}
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Name}),
		jwt.WithExpirationRequired(),
		jwt.WithLeeway(sms.Tolerance), jwt.WithTimeFunc(func() time.Time { return r.Now }))
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return h.keys.set(), nil })
	switch {
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return refused("the secret has to be the webhook's signing key in httpSMS, and the token signed by HS256")
	case errors.Is(err, jwt.ErrTokenInvalidClaims):
		return refused("the token is not valid now")
	case err != nil:
		return refused("the bearer token is no signed token")
	case claims.IssuedAt == nil:
		return refused("the token does not say when it was issued")
	}
	return timely(claims.IssuedAt.Time, r.Now)
}

func (h httpSMS) Parse(r sms.Request) (sms.Post, error) {
	f, err := readFields(r)
	if err != nil {
		return sms.Post{}, err
	}
	if f.text("type") != "message.phone.received" {
		return sms.Post{}, sms.ErrIgnored
	}
	if f.is("data.encrypted") {
		return sms.Post{}, sms.FaultEncrypted
	}
	return sms.Post{ID: f.text("data.message_id"), From: f.text("data.contact"), To: f.text("data.owner"),
		Text: sms.NewSecret(f.text("data.content")), SentAt: f.text("data.timestamp")}, nil
}
