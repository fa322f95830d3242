// Package history has the rows of a room's history: as the ledger fills them, as JSON and CSV write them, and
// as pages draw them. It imports nothing of ours.
package history

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Page is a part of a room's history, in the contract's JSON. Lists and pages are oldest first: no row of a
// page is later than a row of the next. A reader may ask for the reverse.
type Page struct {
	Leases   []Lease   `json:"leases"`
	Places   []Place   `json:"places"`
	Messages []Message `json:"messages"`
	Actions  []Action  `json:"actions"`
	Next     Word      `json:"next"` // the cursor of the next page; "" on the last
}

// Lease is one lease.
type Lease struct {
	Epoch     int64  `json:"epoch"`
	Fence     int64  `json:"fence"`
	Ticket    int64  `json:"ticket"`
	Seller    string `json:"seller_id"`
	GrantedAt Time   `json:"granted_at"`
	EndedAt   Time   `json:"ended_at"`
	Outcome   Word   `json:"outcome"` // "" = live
}

// Place is one place in the room.
type Place struct {
	Epoch    int64  `json:"epoch"`
	Ticket   int64  `json:"ticket"`
	Seller   string `json:"seller_id"`
	JoinedAt Time   `json:"joined_at"`
	EndedAt  Time   `json:"ended_at"`
	Outcome  Word   `json:"outcome"` // "" = open
}

// Message is an SMS and its current lease, which may differ from its first answer. It has no text.
type Message struct {
	Epoch      int64  `json:"epoch"`
	MessageID  string `json:"message_id"`
	Result     Word   `json:"result"`
	Ticket     Number `json:"ticket"`
	Fence      Number `json:"fence"`
	SentAt     Time   `json:"sent_at"`
	ReceivedAt Time   `json:"received_at"`

	Reason string `json:"-"` // why it is unmatched: for the page
}

// Action is one action of support.
type Action struct {
	Epoch  int64  `json:"epoch"`
	Who    string `json:"who"`
	Name   string `json:"action"`
	Reason string `json:"reason"`
	Ticket Number `json:"ticket"`
	Fence  Number `json:"fence"`
	At     Time   `json:"at"`

	MessageID string `json:"message_id,omitempty"` // of the assigned message

	Seller  Word   `json:"seller_id,omitempty"` // of the place or lease
	Seconds Number `json:"seconds,omitempty"`   // how much time was added
	From    Number `json:"from_position,omitempty"`
	To      Number `json:"to_position,omitempty"`
	Text    string `json:"text,omitempty"`  // of an announcement
	Until   Time   `json:"until,omitempty"` // when the effect ends
}

// Audited is an action of support in a room, or in none.
type Audited struct {
	Room Word `json:"room"` // "" = it concerns no room
	Action
	Address Word `json:"address"` // from which support acted; "" = none, or unknown
}

// Row is a Lease, Place, Message or Action.
type Row interface {
	Kind() string          // lease, place, message or action
	Span() (from, to Time) // 0 = not known, or not yet
	Of() (seller string, ticket, fence Number)
}

func (Lease) Kind() string   { return "lease" }
func (Place) Kind() string   { return "place" }
func (Message) Kind() string { return "message" }
func (Action) Kind() string  { return "action" }

func (r Lease) Span() (from, to Time)   { return r.GrantedAt, r.EndedAt }
func (r Place) Span() (from, to Time)   { return r.JoinedAt, r.EndedAt }
func (r Message) Span() (from, to Time) { return r.ReceivedAt, 0 }
func (r Action) Span() (from, to Time)  { return r.At, 0 }

func (r Lease) Of() (string, Number, Number)   { return r.Seller, Number(r.Ticket), Number(r.Fence) }
func (r Place) Of() (string, Number, Number)   { return r.Seller, Number(r.Ticket), 0 }
func (r Message) Of() (string, Number, Number) { return "", r.Ticket, r.Fence }
func (r Action) Of() (string, Number, Number)  { return string(r.Seller), r.Ticket, r.Fence }

// Rows returns the rows of all kinds, oldest or latest first: by when they began, or by when they ended where
// that alone is known.
func (p Page) Rows(latest bool) []Row {
	rows := make([]Row, 0, len(p.Leases)+len(p.Places)+len(p.Messages)+len(p.Actions))
	rows = append(rows, rowsOf(p.Leases)...)
	rows = append(rows, rowsOf(p.Places)...)
	rows = append(rows, rowsOf(p.Messages)...)
	rows = append(rows, rowsOf(p.Actions)...)
	slices.SortStableFunc(rows, func(a, b Row) int {
		if latest {
			a, b = b, a
		}
		return cmp.Compare(cmp.Or(a.Span()), cmp.Or(b.Span()))
	})
	return rows
}

func rowsOf[R Row](list []R) []Row {
	rows := make([]Row, len(list))
	for i, r := range list {
		rows[i] = r
	}
	return rows
}

// Time is a unix millisecond, written as RFC 3339 in UTC; 0 is unknown or not yet: null.
type Time int64

// Number is a positive number; 0 is written as null.
type Number int64

// Word is a text of the contract; "" is written as null.
type Word string

// String returns the time in RFC 3339; "" for zero.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// MarshalJSON writes the time as String does, or null.
func (t Time) MarshalJSON() ([]byte, error) { return Word(t.String()).MarshalJSON() }

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
