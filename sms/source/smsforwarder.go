package source

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/waitroom/waitroom/sms"
)

// smsForwarder reads the webhooks of SmsForwarder (pppscn/SmsForwarder): JSON, or a form, with the names of
// the app's own tags. sign is the HMAC-SHA256 of "timestamp\nsecret" under the secret: it authenticates the
// sender, but does not cover the body. The app has no id; receive_time is when the phone received the
// message, by the phone's clock.
// https://github.com/pppscn/SmsForwarder/wiki
type smsForwarder struct{ keys keys }

func (s smsForwarder) Verify(r sms.Request) error {
	f, err := readFields(r)
	if err != nil {
		return refused("the body can not be read, and the signature is in it")
	}
	given, err := base64.StdEncoding.DecodeString(unescaped(f.text("sign")))
	if err != nil || len(given) == 0 {
		return refused("there is no sign: give the app's webhook a secret, and [timestamp] and [sign]")
	}
	stamp := f.text("timestamp")
	if !s.keys.match(given, func(key []byte) []byte { return hmacSHA256(key, []byte(stamp+"\n"), key) }) {
		return refused("the secret has to be the one of the app's webhook")
	}
	ms, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return refused("timestamp is no number of milliseconds")
	}
	return timely(time.UnixMilli(ms), r.Now)
}

// unescaped returns the signature without the escapes that the app adds in either format.
func unescaped(sign string) string {
	if !strings.Contains(sign, "%") {
		return sign
	}
	plain, err := url.QueryUnescape(sign)
	if err != nil {
		return ""
	}
	return plain
}

func (s smsForwarder) Parse(r sms.Request) (sms.Post, error) {
	f, err := readFields(r)
	if err != nil {
		return sms.Post{}, err
	}
	// content has the app's own template around the text, unless the user changed that
	text := f.text("org_content")
	if text == "" {
		text = f.text("content")
	}
	stamp, _ := strconv.ParseInt(f.text("timestamp"), 10, 64) // Verify has parsed it
	return sms.Post{From: f.text("from"), Text: sms.NewSecret(text),
		SentAt: f.text("receive_time"), Stamp: stamp}, nil
}
