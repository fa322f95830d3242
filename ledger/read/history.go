package read

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// ErrCursor is returned for a cursor that no page returned.
var ErrCursor = errors.New("cursor is not valid")

// Filter selects rows of a room's history. Zero fields select all.
type Filter struct {
	Seller   string
	From, To int64  // half-open, unix ms: joined, granted, received or done
	Limit    int    // rows of all kinds on a page; default 100, at most 1,000
	Cursor   string // Next of the page before, in the same order
	Latest   bool   // latest rows first
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// position is a row's position in the history: time, kind and key.
type position struct {
	At   int64  `json:"a"`
	Kind int    `json:"k"`
	Key  string `json:"i"`
}

// found is a row and the function that puts it on a page.
type found struct {
	position
	put func(*history.Page)
}

// History returns a page of a room's history. It returns ErrCursor for an unknown cursor.
func (r *Reader) History(ctx context.Context, id wire.ID, f Filter) (history.Page, error) {
	after, err := parseCursor[position](f.Cursor)
	if err != nil {
		return history.Page{}, err
	}
	f.Limit, f.Seller = limit(f.Limit), schema.Plain(f.Seller)
	var rows []found
	err = r.reading(ctx, id, func(w *work) error {
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
		return history.Page{}, fmt.Errorf("history: %w", err)
	}
	return page(rows, f), nil
}

// page takes the first rows of all kinds. It orders only rows of different kinds, since the database orders
// keys by its own collation.
func page(rows []found, f Filter) history.Page {
	slices.SortStableFunc(rows, func(a, b found) int {
		if f.Latest {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind))
	})
	var p history.Page
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		p.Next = history.Word(cursor(rows[f.Limit-1].position))
	}
	for _, r := range rows {
		r.put(&p)
	}
	return p
}

func (p position) valid() bool { return p.Kind >= 0 && p.Kind < len(kinds) }

// limit returns how many rows a page has.
func limit(wanted int) int {
	if wanted <= 0 {
		return defaultLimit
	}
	return min(wanted, maxLimit)
}

// cursor returns a row's key as one word.
func cursor(key any) string {
	b, err := json.Marshal(key)
	if err != nil { // integers and strings always marshal
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads the output of cursor. It returns nil for "", and ErrCursor for what is no key.
func parseCursor[K interface{ valid() bool }](text string) (*K, error) {
	if text == "" {
		return nil, nil
	}
	var key K
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &key)
	}
	if err != nil || !key.valid() {
		return nil, ErrCursor
	}
	return &key, nil
}
