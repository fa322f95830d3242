package support

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

const (
	maxReason    = 200 // characters
	maxMessageID = 128
	maxExtension = 120 // seconds
	maxTickets   = 200 // of one action
	maxText      = 300 // characters of an announcement in one language
	maxUntil     = 7 * 24 * time.Hour
)

// actionBody is an action's body with raw fields: an action parses only its own, in the order of docs/api.md.
// Other fields are ignored.
type actionBody struct {
	Reason    json.RawMessage `json:"reason"`
	Fence     json.RawMessage `json:"fence"`
	Ticket    json.RawMessage `json:"ticket"`
	Tickets   json.RawMessage `json:"tickets"`
	Seconds   json.RawMessage `json:"seconds"`
	Position  json.RawMessage `json:"position"`
	MessageID json.RawMessage `json:"message_id"`
	Text      json.RawMessage `json:"text"`
	Level     json.RawMessage `json:"level"`
	Until     json.RawMessage `json:"until"`
}

// asked is an action with its author. Fields that the action does not read are zero.
type asked struct {
	room          room.ID
	by            room.Action
	request       string // the engine's id of it
	reason        string
	fence, ticket int64
	tickets       []int64 // instead of ticket
	more          time.Duration
	position      int
	messageID     string
	texts         []wire.Wording // of an announcement; none = it is taken back
	level         string         // of the announcement
	until         time.Time      // zero = not given
}

// take parses one field of an action's body.
type take func(*actionBody, *asked) error

// readAction parses the fields of an action's body that takes lists.
func readAction(c *gin.Context, takes []take) (q asked, err error) {
	if !request.IsJSON(c) {
		return q, problem.Refusal("unsupported_media_type")
	}
	text, err := request.Body(c)
	if err != nil {
		return q, err
	}
	body, err := request.Decode[actionBody](text)
	if !utf8.Valid(text) || err != nil || body == nil {
		return q, problem.Refusal("invalid_json")
	}
	for _, read := range append([]take{takeReason}, takes...) {
		if err := read(body, &q); err != nil {
			return q, err
		}
	}
	return q, nil
}

func takeReason(b *actionBody, q *asked) error {
	if json.Unmarshal(b.Reason, &q.reason) != nil {
		return problem.Refusal("invalid_reason")
	}
	if q.reason = strings.TrimSpace(q.reason); !validText(q.reason, maxReason) {
		return problem.Refusal("invalid_reason")
	}
	return nil
}

// validText reports whether a text is visible and has at most so many characters.
func validText(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		strings.ContainsFunc(text, seen) && !strings.ContainsFunc(text, control)
}

// seen reports whether a rune is visible by itself: a reason of only fillers, blanks or combining marks is
// refused.
func seen(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.M, r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !strings.ContainsRune(inkless, r)
}

// inkless are blank symbols and letters that Unicode does not list as such. They are an empty Braille cell, a
// note without a head, the place of an embedded object, and blank hieroglyphs.
const inkless = "\u2800\U0001D159\uFFFC\U00013441\U00013442"

func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

func takeFence(b *actionBody, q *asked) (err error) {
	q.fence, err = whole(b.Fence, 1, request.MaxSafe, "invalid_fence")
	return err
}

func takeTicket(b *actionBody, q *asked) (err error) {
	q.ticket, err = whole(b.Ticket, 1, request.MaxSafe, "invalid_ticket")
	return err
}

// takeTickets reads one ticket, or a list of them.
func takeTickets(b *actionBody, q *asked) error {
	if b.Tickets == nil {
		return takeTicket(b, q)
	}
	var list []json.RawMessage
	if b.Ticket != nil || json.Unmarshal(b.Tickets, &list) != nil || len(list) == 0 || len(list) > maxTickets {
		return problem.Refusal("invalid_ticket")
	}
	for _, raw := range list {
		ticket, err := whole(raw, 1, request.MaxSafe, "invalid_ticket")
		if err != nil {
			return err
		}
		q.tickets = append(q.tickets, ticket)
	}
	return nil
}

func takeSeconds(b *actionBody, q *asked) error {
	n, err := whole(b.Seconds, 1, maxExtension, "invalid_seconds")
	q.more = time.Duration(n) * time.Second
	return err
}

func takePosition(b *actionBody, q *asked) error {
	n, err := whole(b.Position, 1, request.MaxSafe, "invalid_position")
	q.position = int(n)
	return err
}

func takeMessage(b *actionBody, q *asked) error {
	if json.Unmarshal(b.MessageID, &q.messageID) != nil {
		return problem.Refusal("invalid_message")
	}
	if n := utf8.RuneCountInString(q.messageID); n == 0 || n > maxMessageID {
		return problem.Refusal("invalid_message")
	}
	return nil
}

// takeText reads an announcement: its texts by language, its level and its end. A null text takes back what
// was announced.
func takeText(b *actionBody, q *asked) error {
	if string(b.Text) == "null" {
		return nil
	}
	var err error
	if q.texts, err = wordings(b.Text); err != nil {
		return err
	}
	q.level = wire.LevelInfo
	if b.Level != nil && json.Unmarshal(b.Level, &q.level) != nil ||
		q.level != wire.LevelInfo && q.level != wire.LevelWarning {
		return problem.Refusal("invalid_level")
	}
	if err = takeUntil(b, q); err == nil && q.until.IsZero() {
		err = problem.Refusal("invalid_until")
	}
	return err
}

// wordings parses an object of texts by language, in its order: the first is for all other languages.
func wordings(raw json.RawMessage) (list []wire.Wording, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, problem.Refusal("invalid_text")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, problem.Refusal("invalid_text")
		}
		tag, wrong := language.Parse(name.(string)) // an object's names are strings
		var text string
		if wrong != nil || d.Decode(&text) != nil {
			return nil, problem.Refusal("invalid_text")
		}
		w := wire.Wording{Lang: request.Seller.Closest(tag), Text: strings.TrimSpace(text)}
		twice := slices.ContainsFunc(list, func(o wire.Wording) bool { return o.Lang == w.Lang })
		if twice || !request.Seller.Has(w.Lang) || !validText(w.Text, maxText) {
			return nil, problem.Refusal("invalid_text")
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		return nil, problem.Refusal("invalid_text")
	}
	return list, nil
}

// takeUntil reads an end in the future, of at most seven days; it may be absent.
func takeUntil(b *actionBody, q *asked) error {
	if b.Until == nil || string(b.Until) == "null" {
		return nil
	}
	var text string
	err := json.Unmarshal(b.Until, &text)
	if err == nil {
		q.until, err = time.Parse(time.RFC3339, text)
	}
	if left := time.Until(q.until); err != nil || left <= 0 || left > maxUntil {
		return problem.Refusal("invalid_until")
	}
	return nil
}

// whole parses a whole number; null and a missing field are refused.
func whole(raw json.RawMessage, least, most int64, code problem.Refusal) (int64, error) {
	var n *int64
	if err := json.Unmarshal(raw, &n); err != nil || n == nil || *n < least || *n > most {
		return 0, code
	}
	return *n, nil
}
