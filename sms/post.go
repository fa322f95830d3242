package sms

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/waitroom/waitroom/room"
)

// Post is an SMS as a source's own format gives it, before it is validated.
type Post struct {
	ID     string // "" if the source gives no id that stays the same when it repeats a message
	From   string
	To     string // the number that the message was sent to; "" if the source does not name it
	SIM    string // the card that received the message, as the source calls it; "" if it names none
	Text   Secret
	SentAt string // RFC 3339, or unix seconds or ms, µs or ns, told apart by their size; "" if there is none
	Stamp  int64  // unix ms: replaces SentAt in a derived ID only, and is not a time of sending

	Ref, Part, Parts string // of a piece of a long message
}

// mostPost is how many bytes a message may have. A source's request may be larger, by the pictures of an MMS.
const mostPost = 16 << 10

// message validates a post like a body that is posted to the room itself. Its id is "" if the post has none.
func (p Post) message() (m message, err error) {
	m = message{id: p.ID, from: printable(p.From), to: numberOf(p.To), sim: p.SIM,
		text: NewSecret(printable(p.Text.Reveal()))}
	if p.ID != "" && !validID(p.ID) {
		return message{}, faultID
	}
	if len(m.from)+len(m.to)+len(m.sim)+len(m.text.Reveal()) > mostPost {
		return message{}, faultLong
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

// numberOf returns the number that a source names as recipient; "" for a word such as "unknown".
func numberOf(to string) string {
	if !strings.ContainsFunc(to, unicode.IsDigit) {
		return ""
	}
	return printable(to)
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
		return postedAt(text)
	}
	return parseSentAt(text)
}

// Some sources give unix microseconds, or nanoseconds; as milliseconds these would be after the year 9999.
const (
	microseconds = 253_402_300_800_000
	nanoseconds  = 1000 * microseconds
)

// postedAt reads unix seconds, milliseconds, microseconds or nanoseconds.
func postedAt(text string) (window, error) {
	switch at, err := strconv.ParseInt(text, 10, 64); {
	case err == nil && at >= nanoseconds:
		return windowOf(time.Unix(0, at)), nil
	case err == nil && at >= microseconds:
		return windowOf(time.UnixMicro(at)), nil
	}
	return unixSentAt(json.RawMessage(text))
}
