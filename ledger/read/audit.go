package read

import (
	"context"
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/ledger/history"
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

// detailInto is the destination of an action's column detail.
type detailInto struct{ *history.Action }

func (a detailInto) Scan(value any) error {
	var d schema.ActionDetail
	err := d.Scan(value)
	a.Seconds, a.From, a.To = history.Number(d.Seconds), history.Number(d.From), history.Number(d.To)
	a.Text, a.Until = d.Text, history.Time(d.Until)
	return err
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
func (r *Reader) Audit(ctx context.Context, f AuditFilter) (rows []history.Audited, next string, err error) {
	before, err := parseCursor[actionKey](f.Cursor)
	if err != nil {
		return nil, "", err
	}
	f.Limit = limit(f.Limit)
	var keys []actionKey
	err = r.reading(ctx, f.Room, func(w *work) error {
		rows, keys, err = w.audit(f, before)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("audit: %w", err)
	}
	if len(rows) > f.Limit {
		rows, next = rows[:f.Limit], cursor(keys[f.Limit-1])
	}
	return rows, next, nil
}

// audit reads a page and one more row.
func (w *work) audit(f AuditFilter, before *actionKey) (rows []history.Audited, keys []actionKey, err error) {
	q := &schema.Conditions{}
	q.Add("at >= %s", f.From)
	q.AddIf("room = %s", schema.Plain(string(f.Room)))
	q.AddIf("who = %s", schema.Plain(f.Who))
	q.AddIf("action = %s", schema.Plain(f.Action))
	q.AddIf("at < %s", f.To)
	if k := before; k != nil {
		q.Add("at <= %s", k.At)
		q.Add("(at, room, epoch, entry, n) < ("+strings.Join([]string{q.Param(k.At), q.Param(schema.Plain(k.Room)),
			q.Param(k.Epoch), q.Param(schema.Plain(k.Entry))}, ", ")+", %s)", k.N)
	}
	err = w.Each(func(scan func(...any) error) error {
		var k actionKey
		var r history.Audited
		err := scan(&k.At, &k.Room, &k.Epoch, &k.Entry, &k.N, &r.Who, &r.Name, &r.Reason, &r.Ticket, &r.Fence,
			&r.MessageID, &r.Seller, detailInto{&r.Action}, &r.Address)
		r.Epoch, r.At = k.Epoch, history.Time(k.At)
		if k.Room != string(wire.SupportRoom) {
			r.Room = history.Word(k.Room)
		}
		rows, keys = append(rows, r), append(keys, k)
		return err
	}, fmt.Sprintf(`SELECT at, room, epoch, entry, n, who, action, reason, ticket, fence, message_id, seller,
		detail, address FROM actions WHERE %s
		ORDER BY at DESC, room DESC, epoch DESC, entry DESC, n DESC LIMIT %d`, q.Where(), f.Limit+1), q.Args...)
	return rows, keys, err
}

func (k actionKey) valid() bool { return k.Room != "" }
