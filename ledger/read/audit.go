package read

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// AuditFilter selects actions of support. Zero fields select all.
type AuditFilter struct {
	Room     wire.ID
	Who      string
	Action   string
	From, To int64  // half-open, unix ms
	Limit    int    // default 100, at most 1,000
	Cursor   string // next of the page before
}

// AuditRow is an action of support in a room, or in wire.SupportRoom if it concerns no room.
type AuditRow struct {
	Room    wire.ID
	Address string // from which support acted; "" = none
	ActionRow
}

// actionKey is the position of an action among all actions.
type actionKey struct {
	At    int64  `json:"a"`
	Room  string `json:"r"`
	Epoch int64  `json:"e"`
	Entry string `json:"i"`
	N     int64  `json:"n"`
}

// Audit returns actions of support, latest first. It returns ErrCursor for an unknown cursor.
func (r *Reader) Audit(ctx context.Context, f AuditFilter) (rows []AuditRow, next string, err error) {
	before, err := parseActionKey(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	if f.Limit <= 0 {
		f.Limit = defaultLimit
	}
	f.Limit = min(f.Limit, maxLimit)
	var keys []actionKey
	err = r.reading(ctx, f.Room, func(w *work) error {
		rows, keys, err = w.audit(f, before)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("audit: %w", err)
	}
	if len(rows) > f.Limit {
		rows, next = rows[:f.Limit], keys[f.Limit-1].cursor()
	}
	return rows, next, nil
}

// audit reads a page and one more row.
func (w *work) audit(f AuditFilter, before *actionKey) (rows []AuditRow, keys []actionKey, err error) {
	q := &schema.Conditions{}
	q.Add("at >= %s", f.From)
	if f.Room != "" {
		q.Add("room = %s", schema.Plain(string(f.Room)))
	}
	if f.Who != "" {
		q.Add("who = %s", schema.Plain(f.Who))
	}
	if f.Action != "" {
		q.Add("action = %s", schema.Plain(f.Action))
	}
	if f.To != 0 {
		q.Add("at < %s", f.To)
	}
	if k := before; k != nil {
		q.Add("at <= %s", k.At)
		q.Add("(at, room, epoch, entry, n) < ("+strings.Join([]string{q.Param(k.At), q.Param(schema.Plain(k.Room)),
			q.Param(k.Epoch),
			q.Param(schema.Plain(k.Entry))}, ", ")+", %s)", k.N)
	}
	err = w.Each(func(scan func(...any) error) error {
		var k actionKey
		var r AuditRow
		err := scan(&k.At, &k.Room, &k.Epoch, &k.Entry, &k.N, &r.Who, &r.Action, &r.Reason, &r.Ticket, &r.Fence,
			&r.MessageID, &r.Seller, &r.ActionDetail, &r.Address)
		r.Room, r.Epoch, r.At = wire.ID(k.Room), k.Epoch, k.At
		rows, keys = append(rows, r), append(keys, k)
		return err
	}, fmt.Sprintf(`SELECT at, room, epoch, entry, n, who, action, reason, ticket, fence, message_id, seller,
		detail, address FROM actions WHERE %s
		ORDER BY at DESC, room DESC, epoch DESC, entry DESC, n DESC LIMIT %d`, q.Where(), f.Limit+1), q.Args...)
	return rows, keys, err
}

func (k actionKey) cursor() string {
	b, err := json.Marshal(k)
	if err != nil { // integers and strings always marshal
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseActionKey(text string) (*actionKey, error) {
	if text == "" {
		return nil, nil
	}
	var k actionKey
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err != nil || k.Room == "" {
		return nil, ErrCursor
	}
	return &k, nil
}
