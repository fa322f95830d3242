package support

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/reply"
	"github.com/waitroom/waitroom/web/request"
)

// HistoryFilter selects rows of a room's history. Zero fields do not narrow it.
type HistoryFilter struct {
	Seller   string
	From, To int64 // half-open, unix ms
	Limit    int   // rows on a page; 0 = the ledger's default
	Cursor   string
	Latest   bool // latest first
}

// History is a page of a room's history in the contract's JSON, each list oldest first.
type History struct {
	Leases   []LeaseRow   `json:"leases"`
	Places   []PlaceRow   `json:"places"`
	Messages []MessageRow `json:"messages"`
	Actions  []ActionRow  `json:"actions"`
	Next     Word         `json:"next"` // the cursor of the next page; "" on the last
}

// LeaseRow is one lease.
type LeaseRow struct {
	Epoch     int64  `json:"epoch"`
	Fence     int64  `json:"fence"`
	Ticket    int64  `json:"ticket"`
	Seller    string `json:"seller_id"`
	GrantedAt When   `json:"granted_at"`
	EndedAt   When   `json:"ended_at"`
	Outcome   Word   `json:"outcome"`
}

// PlaceRow is one place in the room.
type PlaceRow struct {
	Epoch    int64  `json:"epoch"`
	Ticket   int64  `json:"ticket"`
	Seller   string `json:"seller_id"`
	JoinedAt When   `json:"joined_at"`
	EndedAt  When   `json:"ended_at"`
	Outcome  Word   `json:"outcome"`
}

// MessageRow is one SMS and its current assignment, without its text.
type MessageRow struct {
	Epoch      int64  `json:"epoch"`
	MessageID  string `json:"message_id"`
	Result     Word   `json:"result"`
	Ticket     Number `json:"ticket"`
	Fence      Number `json:"fence"`
	SentAt     When   `json:"sent_at"`
	ReceivedAt When   `json:"received_at"`

	Reason string `json:"-"` // why it is unmatched: for the page
}

// ActionRow is one action of support.
type ActionRow struct {
	Epoch  int64  `json:"epoch"`
	Who    string `json:"who"`
	Action string `json:"action"`
	Reason string `json:"reason"`
	Ticket Number `json:"ticket"`
	Fence  Number `json:"fence"`
	At     When   `json:"at"`

	MessageID string `json:"message_id,omitempty"` // of the assigned message

	Seller  Word   `json:"seller_id,omitempty"` // of the place or lease
	Seconds Number `json:"seconds,omitempty"`   // how much time was added
	From    Number `json:"from_position,omitempty"`
	To      Number `json:"to_position,omitempty"`
	Text    string `json:"text,omitempty"`  // of an announcement
	Until   When   `json:"until,omitempty"` // when the effect ends
}

// When is a unix millisecond, written as RFC 3339 in UTC; 0 is unknown or not yet: null.
type When int64

// Number is a positive number; 0 is written as null.
type Number int64

// Word is a text of the contract; "" is written as null.
type Word string

// String returns the time in RFC 3339; "" for zero.
func (w When) String() string {
	if w == 0 {
		return ""
	}
	return room.Time(int64(w)).Format(reply.TimeLayout)
}

// MarshalJSON writes the time as String does, or null.
func (w When) MarshalJSON() ([]byte, error) { return Word(w.String()).MarshalJSON() }

// String returns the number; "" for zero.
func (n Number) String() string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// MarshalJSON writes the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(n), 10), nil
}

// MarshalJSON writes the text, or null.
func (w Word) MarshalJSON() ([]byte, error) {
	if w == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(w))
}

// history is GET /api/support/{room}/history.
func (d *Desk) history(c *gin.Context) {
	f, err := historyFilter(c)
	if err != nil {
		d.Fail(c, err)
		return
	}
	switch c.DefaultQuery("format", "json") {
	case "json":
		d.historyJSON(c, f)
	case "csv":
		d.historyCSV(c, f)
	default:
		d.Refuse(c, "invalid_format")
	}
}

func (d *Desk) historyJSON(c *gin.Context, f HistoryFilter) {
	page, err := d.rows(c, f)
	if err != nil {
		d.Fail(c, err)
		return
	}
	d.JSON(c, http.StatusOK, page.filled())
}

// rows reads a page of the history.
func (d *Desk) rows(c *gin.Context, f HistoryFilter) (History, error) {
	ctx, cancel := d.Asking(c)
	defer cancel()
	return d.Records.History(ctx, request.Room(c), f)
}

// filled replaces null lists by empty ones.
func (h History) filled() History {
	h.Leases, h.Places = append([]LeaseRow{}, h.Leases...), append([]PlaceRow{}, h.Places...)
	h.Messages, h.Actions = append([]MessageRow{}, h.Messages...), append([]ActionRow{}, h.Actions...)
	return h
}
