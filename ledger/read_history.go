package ledger

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/room"
)

// ErrCursor says that a cursor is not one that a page gave out.
var ErrCursor = errors.New("cursor is not valid")

// Filter says which rows of a room's history are wanted. Zero fields do not narrow it.
type Filter struct {
	Seller   string
	From, To int64  // half-open, unix ms: when it was joined, granted, received, done
	Limit    int    // rows in all on a page; default 100, at most 1,000
	Cursor   string // Next of the page before, of the same order
	Latest   bool   // the latest rows first
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Page is a part of a room's history. Each list is oldest first, and so are pages: all rows of a page
// are from before those of the next. With Filter.Latest it is the other way round. Times are unix ms, 0 = not yet, or not known.
type Page struct {
	Leases   []LeaseRow
	Places   []PlaceRow
	Messages []MessageRow
	Actions  []ActionRow
	Next     string // "" = this was the last
}

// LeaseRow is one holding of the lock.
type LeaseRow struct {
	Epoch, Fence, Ticket int64
	Seller               string
	GrantedAt, EndedAt   int64
	Outcome              room.Outcome // "" = it goes on
}

// PlaceRow is one standing in the room.
type PlaceRow struct {
	Epoch, Ticket     int64
	Seller            string
	JoinedAt, EndedAt int64
	Outcome           room.Outcome // "" = it goes on
}

// MessageRow is one SMS and where it belongs now, which may not be what it was first answered; it has no text.
type MessageRow struct {
	Epoch              int64
	MessageID          string
	Result             room.Result
	Reason             room.Reason
	Ticket, Fence      int64 // 0 = bound to none
	SentAt, ReceivedAt int64
}

// ActionRow is something support did.
type ActionRow struct {
	Epoch               int64
	Who, Action, Reason string
	Ticket, Fence       int64
	MessageID           string // "" = it was about none
	At                  int64
	Seller              string // whose place or lease it was; "" = nobody's
	ActionDetail
}

// position is where a row is in the history: by time, kind and key.
type position struct {
	At   int64  `json:"a"`
	Kind int    `json:"k"`
	Key  string `json:"i"`
}

// found is a row and how to put it on a page.
type found struct {
	position
	put func(*Page)
}

// History reads a page of a room's history. ErrCursor when the cursor is nobody's.
func (l *Ledger) History(ctx context.Context, id room.ID, f Filter) (Page, error) {
	after, err := parseCursor(f.Cursor)
	if err != nil {
		return Page{}, err
	}
	if f.Limit <= 0 {
		f.Limit = defaultLimit
	}
	f.Limit, f.Seller = min(f.Limit, maxLimit), plain(f.Seller)
	var rows []found
	err = l.reading(ctx, id, func(w *work) error {
		for kind, k := range kinds {
			some, err := w.history(kind, k, f, after)
			if err != nil {
				return err
			}
			rows = append(rows, some...)
		}
		return nil
	})
	if err != nil {
		return Page{}, fmt.Errorf("history: %w", err)
	}
	return page(rows, f), nil
}

// page takes the first rows of all kinds. What the database ordered by its collation stays in that
// order: only rows of different kinds are put in order here.
func page(rows []found, f Filter) Page {
	slices.SortStableFunc(rows, func(a, b found) int {
		if f.Latest {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind))
	})
	var p Page
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		p.Next = rows[f.Limit-1].cursor()
	}
	for _, r := range rows {
		r.put(&p)
	}
	return p
}

func (p position) cursor() string {
	b, err := json.Marshal(p)
	if err != nil { // integers and strings always marshal
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(text string) (*position, error) {
	if text == "" {
		return nil, nil
	}
	var p position
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil || p.Kind < 0 || p.Kind >= len(kinds) {
		return nil, ErrCursor
	}
	p.Key = plain(p.Key)
	return &p, nil
}
