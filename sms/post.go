package sms

import (
	"encoding/json"
	"strings"

	"github.com/waitroom/waitroom/room"
)

// Post is an SMS as a source's own format gives it, before it is validated.
type Post struct {
	ID     string // "" if the source gives no id that stays the same when it repeats a message
	From   string
	To     string // the number that the message was sent to; "" if the source does not name it
	Text   Secret
	SentAt string // RFC 3339, or unix seconds or milliseconds; "" if the source gives none
	Stamp  int64  // unix ms: replaces SentAt in a derived ID only, and is not a time of sending

	Ref, Part, Parts string // of a piece of a long message
}

// message validates a post like a body that is posted to the room itself. Its id is "" if the post has none.
func (p Post) message() (m message, err error) {
	m = message{id: p.ID, from: printable(p.From), to: printable(p.To),
		text: NewSecret(printable(p.Text.Reveal()))}
	if p.ID != "" && !validID(p.ID) {
		return message{}, faultID
	}
	if strings.TrimSpace(m.text.Reveal()) == "" {
		return message{}, faultNoText
	}
	if m.part, err = p.piece(); err != nil {
		return message{}, err
	}
	m.sent, err = p.sentAt()
	return m, err
}

// printable returns a text as databases accept it.
func printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func (p Post) piece() (room.Part, error) {
	fields := map[string]json.RawMessage{}
	for name, value := range map[string]string{"part": p.Part, "parts": p.Parts} {
		if value = strings.TrimSpace(value); value != "" {
			fields[name] = json.RawMessage(value)
		}
	}
	if p.Ref != "" {
		fields["ref"], _ = json.Marshal(p.Ref) // a string always marshals
	}
	piece, ok := part(fields)
	if !ok {
		return room.Part{}, faultPart
	}
	return piece, nil
}

func (p Post) sentAt() (window, error) {
	text := strings.TrimSpace(p.SentAt)
	switch {
	case text == "":
		return window{}, nil
	case json.Valid([]byte(text)): // a number: no RFC 3339 is JSON
		return unixSentAt(json.RawMessage(text))
	}
	return parseSentAt(text)
}
