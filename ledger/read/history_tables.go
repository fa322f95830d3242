package read

import (
	"fmt"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/schema"
)

// kind is one table of the history. Its rows are ordered by at, then key. Rows must meet the condition whole;
// "" for none.
type kind struct {
	table, columns, at, key, seller, whole string

	read func(scan func(...any) error, p *position) (func(*history.Page), error)
}

// padded makes numbers sort as text.
func padded(column string) string {
	return `CAST(1000000000000000000 + ` + column + ` AS TEXT)`
}

var kinds = []kind{
	{
		table: "leases", columns: "epoch, fence, ticket, seller, COALESCE(granted_at, 0), COALESCE(ended_at, " +
			"0), COALESCE(outcome, '')",
		at: "COALESCE(granted_at, ended_at, 0)", key: padded("fence"), seller: "seller",
		read: func(scan func(...any) error, p *position) (func(*history.Page), error) {
			var r history.Lease
			err := scan(&p.At, &p.Key, &r.Epoch, &r.Fence, &r.Ticket, &r.Seller, &r.GrantedAt, &r.EndedAt, &r.Outcome)
			return func(page *history.Page) { page.Leases = append(page.Leases, r) }, err
		},
	},
	{
		table: "places", columns: "epoch, ticket, seller, COALESCE(joined_at, 0), COALESCE(ended_at, 0), " +
			"COALESCE(outcome, '')",
		at: "COALESCE(joined_at, ended_at, 0)", key: padded("epoch") + ` || '/' || ` + padded("ticket"),
		seller: "seller",
		read: func(scan func(...any) error, p *position) (func(*history.Page), error) {
			var r history.Place
			err := scan(&p.At, &p.Key, &r.Epoch, &r.Ticket, &r.Seller, &r.JoinedAt, &r.EndedAt, &r.Outcome)
			return func(page *history.Page) { page.Places = append(page.Places, r) }, err
		},
	},
	{
		table: "messages", columns: belongsColumns, at: "received_at", key: "message_id", seller: belongsSeller,
		whole: "state = 'judged'",
		read: func(scan func(...any) error, p *position) (func(*history.Page), error) {
			var r history.Message
			err := scan(append([]any{&p.At, &p.Key}, belongsTo(&r)...)...)
			return func(page *history.Page) { page.Messages = append(page.Messages, r) }, err
		},
	},
	{
		table: "actions", columns: "epoch, who, action, reason, ticket, fence, message_id, at, seller, detail",
		at: "at", key: `entry || '/' || ` + padded("n"), seller: "seller",
		read: func(scan func(...any) error, p *position) (func(*history.Page), error) {
			var r history.Action
			err := scan(&p.At, &p.Key, &r.Epoch, &r.Who, &r.Name, &r.Reason, &r.Ticket, &r.Fence, &r.MessageID,
				&r.At, &r.Seller, detailInto{&r})
			return func(page *history.Page) { page.Actions = append(page.Actions, r) }, err
		},
	},
}

// history reads the rows of one kind that follow a position, one more than fits on the page.
func (w *work) history(n int, k kind, f Filter, after *position) (rows []found, err error) {
	q := &schema.Conditions{Args: []any{string(w.id)}, List: []string{"room = $1"}}
	if k.whole != "" {
		q.List = append(q.List, k.whole)
	}
	q.AddIf(k.seller+" = %s", f.Seller)
	q.AddIf(k.at+" >= %s", f.From)
	q.AddIf(k.at+" < %s", f.To)
	follows, order := " >", ""
	if f.Latest {
		follows, order = " <", " DESC"
	}
	switch {
	case after == nil:
	case n == after.Kind:
		q.Add(k.at+follows+"= %s", after.At)
		q.Add("("+k.at+follows+" %s OR "+k.key+follows+" "+q.Param(schema.Plain(after.Key))+")", after.At)
	case (n < after.Kind) == f.Latest: // rows of the same moment follow
		q.Add(k.at+follows+"= %s", after.At)
	default:
		q.Add(k.at+follows+" %s", after.At)
	}
	query := fmt.Sprintf("SELECT %s, %s, %s FROM %s WHERE %s ORDER BY %s%s, %s%s LIMIT %d", k.at, k.key,
		k.columns, k.table, q.Where(), k.at, order, k.key, order, f.Limit+1)
	err = w.Each(func(scan func(...any) error) error {
		p := position{Kind: n}
		put, err := k.read(scan, &p)
		rows = append(rows, found{position: p, put: put})
		return err
	}, query, q.Args...)
	return rows, err
}

// These columns give the lease that a message belongs to now: by the last agreed decision, else by its first
// answer. The indexes repeat these expressions.
const (
	belongsColumns = `COALESCE(now_epoch, epoch), message_id, COALESCE(now_result, result), COALESCE(now_reason,
		reason),
		COALESCE(now_ticket, ticket), COALESCE(now_fence, fence), sent_at, received_at`
	belongsSeller = `COALESCE(now_seller, seller)`

	// unassigned selects messages without a lease, and late ones that were not given to their lease since.
	unassigned = `COALESCE(now_result, result) IN ('unmatched', 'late')
		AND COALESCE(now_by, 'rejected') = 'rejected'`
)

// belongsTo returns the destinations of belongsColumns.
func belongsTo(m *history.Message) []any {
	return []any{&m.Epoch, &m.MessageID, &m.Result, &m.Reason, &m.Ticket, &m.Fence, &m.SentAt, &m.ReceivedAt}
}
