package source

import (
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// androidGateway reads the webhooks of SMS Gateway for Android (capcom6/android-sms-gateway). They are JSON,
// signed in X-Signature by HMAC-SHA256 of the body and X-Timestamp. An event's id stays the same when the app
// repeats it; a message's id is a hash that two messages may share. receivedAt is the carrier's own
// timestamp, in whole seconds. A text of over 90 bytes in EUC-KR reaches a Korean phone as an MMS.
// https://docs.sms-gate.app/features/webhooks/
type androidGateway struct{}

func newAndroidGateway(k keys) (parts, error) {
	v, err := newVerifier(k, Signature{Scheme: hmacSHA256, Header: "X-Signature",
		Signed: "{body}{header X-Timestamp}", SignedAt: "header X-Timestamp"})
	if m, ok := v.(*signedMAC); ok {
		m.hint = "the secret has to be the app's signing key, under Settings, Webhooks"
	}
	return parts{v, androidGateway{}}, err
}

// The events that have messages: one in payload, or several in payload.messages.
const (
	smsReceived   = "sms:received"
	mmsDownloaded = "mms:downloaded"
	smsBatch      = "sms:batch:received"
	mmsBatch      = "mms:batch:downloaded"
)

// withoutText is the event of an MMS that has pictures alone.
const withoutText = "mms:without-text"

func blank(p sms.Post) bool { return strings.TrimSpace(p.Text.Reveal()) == "" }

// Parse returns the messages of an event.
func (androidGateway) Parse(r sms.Request) ([]sms.Post, error) {
	f, err := readFields(r)
	if err != nil {
		return nil, err
	}
	id, event := f.text("id"), f.text("event")
	switch event {
	case smsReceived, mmsDownloaded:
		p := gatewayPost(id, fields{f.at("payload")})
		if event == mmsDownloaded && blank(p) {
			return nil, sms.Ignored(withoutText)
		}
		return []sms.Post{p}, nil
	case smsBatch, mmsBatch:
		messages, ok := f.list("payload.messages")
		if !ok {
			return nil, sms.FaultLacks("payload.messages")
		}
		var posts []sms.Post
		ignored := event
		for i, message := range messages {
			p := gatewayPost(fmt.Sprintf("%s.%d", id, i), fields{message})
			if event == mmsBatch && blank(p) {
				ignored = withoutText
				continue
			}
			posts = append(posts, p)
		}
		if len(posts) == 0 {
			return nil, sms.Ignored(ignored)
		}
		return posts, nil
	}
	return nil, sms.Ignored(event)
}

// gatewayPost reads a message. Subject and body of an MMS are its text.
func gatewayPost(id string, f fields) sms.Post {
	from, text := f.text("sender"), f.text("message")
	if from == "" {
		from = f.text("phoneNumber") // name in older versions of the app
	}
	if text == "" {
		text = strings.Trim(f.text("subject")+"\n"+f.text("body"), "\n")
	}
	return sms.Post{ID: id, From: from, To: f.text("recipient"), SIM: f.text("simNumber"),
		Text: sms.NewSecret(text), SentAt: f.text("receivedAt")}
}
