package sms

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
)

const (
	maxID    = 128 // characters, of an id and of a long message's reference
	maxParts = 255 // of a long message
)

// message is an SMS as it was posted. Times are unix ms, 0 if the carrier gave none.
type message struct {
	id   string
	from string
	to   string // the number that it was sent to; "" = not given
	sim  string // the card that received it, as the source calls it; "" = not given
	text Secret
	sent window
	part room.Part
}

// window is a half-open interval.
type window struct{ from, to int64 }

// parse reads a body that was posted to a room. The error is a *Fault.
func parse(id room.ID, body []byte) (message, error) {
	var fields map[string]json.RawMessage
	body = bytes.TrimPrefix(body, []byte("\uFEFF")) // some programs begin a text with a byte-order mark
	if !utf8.Valid(body) || json.Unmarshal(body, &fields) != nil || fields == nil {
		return message{}, faultJSON
	}
	var m message
	var ok bool
	if m.id, ok = textOrNumber(fields["message_id"]); !ok || !validID(m.id) {
		return message{}, faultID
	}
	if m.from, ok = textOrNumber(fields["from"]); !ok {
		return message{}, faultFrom
	}
	if m.to, ok = textOrNumber(fields["to"]); !ok {
		return message{}, faultTo
	}
	content, ok := text(fields["text"])
	if !ok || strings.TrimSpace(content) == "" {
		return message{}, faultText
	}
	m.text = NewSecret(content)
	if to, ok := text(fields["room"]); !ok || (to != "" && to != string(id)) {
		return message{}, faultRoom
	}
	if m.part, ok = part(fields); !ok {
		return message{}, faultPart
	}
	var err error
	m.sent, err = sentAt(fields["sent_at"])
	return m, err
}

func absent(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// text reads a string; absent and null are "". It replaces NUL, which no database accepts.
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

// textOrNumber reads a string, or a whole number as written.
func textOrNumber(raw json.RawMessage) (string, bool) {
	if wholeNumber.Match(raw) {
		return string(raw), true
	}
	return text(raw)
}

func validID(id string) bool {
	n := utf8.RuneCountInString(id)
	unprintable := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	return n >= 1 && n <= maxID && strings.TrimSpace(id) != "" && !strings.ContainsFunc(id, unprintable)
}

// part reads the position of a piece in a long message. A message with some of the three fields missing, or
// with one piece, is whole.
func part(fields map[string]json.RawMessage) (p room.Part, ok bool) {
	if absent(fields["ref"]) || absent(fields["parts"]) || absent(fields["part"]) {
		return room.Part{}, true
	}
	if p.Ref, ok = textOrNumber(fields["ref"]); !ok || utf8.RuneCountInString(p.Ref) > maxID {
		return room.Part{}, false
	}
	if json.Unmarshal(fields["parts"], &p.Parts) != nil || json.Unmarshal(fields["part"], &p.Part) != nil ||
		p.Part < 1 || p.Part > p.Parts || p.Parts > maxParts {
		return room.Part{}, false
	}
	if p.Ref == "" || p.Parts == 1 {
		return room.Part{}, true
	}
	return p, true
}

var (
	wholeNumber = regexp.MustCompile(`^-?[0-9]{1,32}$`)
	rfc3339     = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-](?:[01]\d` +
		`|2[0-3]):[0-5]\d)$`)
	leapSecond = regexp.MustCompile(`^.{17}60`)
)

// sentAt reads when the carrier took a message; the zero window without a time.
func sentAt(raw json.RawMessage) (window, error) {
	if absent(raw) {
		return window{}, nil
	}
	if s, ok := text(raw); ok {
		return parseSentAt(s)
	}
	return unixSentAt(raw)
}

// parseSentAt reads RFC 3339.
func parseSentAt(s string) (window, error) {
	s = strings.ToUpper(s)
	if !rfc3339.MatchString(s) {
		return window{}, faultSentAt
	}
	if leapSecond.MatchString(s) {
		return window{}, faultLeapSecond
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return window{}, faultSentAt
	}
	return windowOf(t), nil
}

// A unix time below this is in seconds, any other in milliseconds: it stands for the year 5138 or 1973.
const milliseconds = 100_000_000_000

// unixSentAt reads unix seconds, with or without a fraction, or unix milliseconds.
func unixSentAt(raw json.RawMessage) (window, error) {
	var n float64
	if json.Unmarshal(raw, &n) != nil || n < 0 || n > 253_402_300_799_999 {
		return window{}, faultSentAt
	}
	if n < milliseconds {
		n = n*1000 + 0.001 // most fractions have no exact float, and finer parts than a millisecond are cut off
	}
	return windowOf(time.UnixMilli(int64(n))), nil
}

// windowOf returns the interval that an instant stands for. It is a millisecond if the fraction is not all
// zeros, else the whole second, since the zeros may not have been measured.
func windowOf(t time.Time) window {
	length := time.Millisecond
	if t.Nanosecond() == 0 {
		length = time.Second
	}
	return window{t.UnixMilli(), t.Add(length).UnixMilli()}
}

// note returns the recorded part of the message.
func (m message) note(received int64) room.MessageNote {
	return room.MessageNote{MessageID: m.id, From: smstext.MaskSender(m.from),
		Text: smstext.Mask(m.text.Reveal()), SentAt: m.sent.from, Received: received}
}

// shown returns the part that the holder sees. It has the text and the code in plain; the engine seals them.
func (m message) shown() room.Message {
	shown := room.Message{MessageID: m.id, Text: m.text.Reveal()}
	if code, ok := findIn(shown.Text, m.part); ok {
		value := code.Reveal()
		shown.Code = &value
	}
	return shown
}
