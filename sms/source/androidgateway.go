package source

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/sms"
)

// androidGateway reads the webhooks of SMS Gateway for Android (capcom6/android-sms-gateway). They are JSON,
// signed in X-Signature by HMAC-SHA256 of the body and X-Timestamp. An event's id stays the same when the app
// repeats it; a message's id is a hash that two messages may share. receivedAt is the carrier's own
// timestamp, in whole seconds.
// https://docs.sms-gate.app/features/webhooks/
type androidGateway struct{ keys keys }

func (g androidGateway) Verify(r sms.Request) error {
	given, err := hex.DecodeString(r.Header.Get("X-Signature"))
	if err != nil || len(given) == 0 {
		return refused("there is no X-Signature")
	}
	stamp := r.Header.Get("X-Timestamp")
	if !g.keys.match(given, func(key []byte) []byte { return hmacSHA256(key, r.Body, []byte(stamp)) }) {
		return refused("the secret has to be the app's signing key, under Settings, Webhooks")
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return refused("X-Timestamp is no number of seconds")
	}
	return timely(time.Unix(seconds, 0), r.Now)
}

func (g androidGateway) Parse(r sms.Request) (sms.Post, error) {
	f, err := readFields(r)
	if err != nil {
		return sms.Post{}, err
	}
	if f.text("event") != "sms:received" {
		return sms.Post{}, sms.ErrIgnored
	}
	from := f.text("payload.sender")
	if from == "" {
		from = f.text("payload.phoneNumber") // name in older versions of the app
	}
	return sms.Post{ID: f.text("id"), From: from, To: f.text("payload.recipient"), Text: sms.NewSecret(f.text("payload.message")),
		SentAt: f.text("payload.receivedAt")}, nil
}
