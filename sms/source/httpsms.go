package source

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/waitroom/waitroom/sms"
)

// httpSMS takes the events of httpSMS (NdoleStudio/httpsms): a CloudEvent in JSON, with a token by HS256 under
// the webhook's signing key. The token proves who sends, not what: it does not cover the body. The timestamp
// is when the phone received the message, by the phone's clock.
// https://docs.httpsms.com/webhooks/introduction
type httpSMS struct{ keys keys }

func (h httpSMS) Verify(r sms.Request) error {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return refused("there is no bearer token: give the webhook a signing key in httpSMS")
	}
	return h.keys.checkToken(token, r.Now)
}

// checkToken checks a JSON Web Token by HS256 and its times. It is not go-jose's: that takes no key under
// 32 bytes, and
// httpSMS signs with whatever a person typed.
func (k keys) checkToken(token string, now time.Time) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return refused("the bearer token is no signed token")
	}
	var header struct {
		Algorithm string   `json:"alg"`
		Critical  []string `json:"crit"`
	}
	if !readPart(parts[0], &header) || header.Algorithm != "HS256" || header.Critical != nil {
		return refused("the token is not signed by HS256")
	}
	given, err := base64.RawURLEncoding.DecodeString(parts[2])
	signed := []byte(parts[0] + "." + parts[1])
	if err != nil || !k.match(given, func(key []byte) []byte { return hmacSHA256(key, signed) }) {
		return refused("the secret has to be the webhook's signing key in httpSMS")
	}
	var said struct {
		Issued  float64 `json:"iat"`
		Begins  float64 `json:"nbf"`
		Expires float64 `json:"exp"`
	}
	if !readPart(parts[1], &said) {
		return refused("the token's claims can not be read")
	}
	at := float64(now.UnixMilli()) / 1000
	if said.Expires <= at-sms.Tolerance.Seconds() || said.Begins > at+sms.Tolerance.Seconds() {
		return refused("the token is not valid now")
	}
	return timely(time.UnixMilli(int64(min(said.Issued, 1e11)*1000)), now)
}

// readPart reads a part of a token.
func readPart(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
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
	return sms.Post{ID: f.text("data.message_id"), From: f.text("data.contact"),
		Text: sms.NewSecret(f.text("data.content")), SentAt: f.text("data.timestamp")}, nil
}
