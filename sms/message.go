package sms

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/waitroom/waitroom/room"
)

const (
	maxID    = 128              // characters
	maxAhead = 60 * time.Second // how far ahead of us a carrier's clock may be
)

// message is an SMS as it was posted. Unix ms; the times are 0 where the carrier gave none.
type message struct {
	id   string
	from string
	text Secret
	sent window
}

// window is a half-open time.
type window struct{ from, to int64 }

// parse reads a body. The error is a *Fault.
func parse(body []byte, now time.Time) (message, error) {
	var fields map[string]json.RawMessage
	if !utf8.Valid(body) || json.Unmarshal(body, &fields) != nil || fields == nil {
		return message{}, faultJSON
	}
	var m message
	var ok bool
	if m.id, ok = text(fields["message_id"]); !ok || !validID(m.id) {
		return message{}, faultID
	}
	if m.from, ok = text(fields["from"]); !ok {
		return message{}, faultFrom
	}
	content, ok := text(fields["text"])
	if !ok || strings.TrimSpace(content) == "" {
		return message{}, faultText
	}
	m.text = NewSecret(content)
	at, ok := text(fields["sent_at"])
	if !ok {
		return message{}, faultSentAt
	}
	if fields["sent_at"] == nil || string(fields["sent_at"]) == "null" {
		return m, nil
	}
	sent, err := parseSentAt(at)
	if err != nil {
		return message{}, err
	}
	if sent.from > now.Add(maxAhead).UnixMilli() {
		return message{}, faultFuture
	}
	m.sent = sent
	return m, nil
}

// text reads a string; absent and null are "". What no database takes (NUL) becomes a replacement character.
func text(raw json.RawMessage) (string, bool) {
	if raw == nil {
		return "", true
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD"), true
}

func validID(id string) bool {
	n := utf8.RuneCountInString(id)
	unprintable := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	return n >= 1 && n <= maxID && strings.TrimSpace(id) != "" && !strings.ContainsFunc(id, unprintable)
}

var (
	rfc3339    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`)
	leapSecond = regexp.MustCompile(`^.{17}60`)
)

// parseSentAt reads RFC 3339. Without a fraction it stands for its whole second, with one for its millisecond.
func parseSentAt(s string) (window, error) {
	s = strings.ToUpper(s)
	parts := rfc3339.FindStringSubmatch(s)
	if parts == nil {
		return window{}, faultSentAt
	}
	if leapSecond.MatchString(s) {
		return window{}, faultLeapSecond
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return window{}, faultSentAt
	}
	length := time.Millisecond
	if parts[1] == "" {
		length = time.Second
	}
	return window{t.UnixMilli(), t.Add(length).UnixMilli()}, nil
}

// note is what is kept of the message.
func (m message) note(received time.Time) room.MessageNote {
	return room.MessageNote{MessageID: m.id, From: room.MaskSender(m.from), Text: room.Mask(m.text.Reveal()), SentAt: m.sent.from,
		Received: received.UnixMilli()}
}

// shown is what its holder sees: one of the two places where the secret is revealed (the other masks it).
func (m message) shown(received time.Time) room.Message {
	shown := room.Message{Text: m.text.Reveal(), ReceivedAt: received.UnixMilli()}
	if code, ok := FindCode(shown.Text); ok {
		value := code.Reveal()
		shown.Code = &value
	}
	return shown
}
