package read

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// TimelineRow is one event of a seller, keyed by Room, Epoch, Entry and N. Its kinds are joined, away, back,
// moved, near, granted, extended, ended, asked, message, claimed, assigned, rejected, action (by support),
// incident, "refused" (joins, while the seller had a place), and "told" (a webhook was delivered or, from a
// journal, a process observed a place that Redis lost). Detail is a Detail as JSON.
type TimelineRow struct {
	Room                     wire.ID
	At, Epoch, Ticket, Fence int64 // At: unix ms
	Kind                     string
	Detail                   json.RawMessage
	Entry                    string // of the journal, or a name that replaces it
	N                        int64  // within the entry
}

// Story selects a seller's timeline.
type Story struct {
	Seller  string
	Room    wire.ID   // "" = every room
	From    int64     // unix ms
	Limit   int       // of the latest rows; default and at most 1,000
	Pending []wire.ID // rooms whose journals are read too
}

// Story returns a seller's events, earliest first, from the ledger and the journals, each once. While the
// database is away, it returns those of the journals beside sqldb.ErrAway. If a journal fails, it returns the
// other events beside the error.
func (r *Reader) Story(ctx context.Context, s Story) ([]TimelineRow, error) {
	s.Seller = schema.Plain(s.Seller)
	if s.Seller == "" {
		return nil, nil
	}
	if s.Limit <= 0 || s.Limit > maxLimit {
		s.Limit = maxLimit
	}
	// The journals are read first: entries that leave them meanwhile are in the ledger.
	pending, failed := r.pending(ctx, s)
	var rows []TimelineRow
	err := r.reading(ctx, s.Room, func(w *work) (err error) {
		rows, err = w.story(s)
		return err
	})
	if sqldb.Temporary(err) && !errors.Is(err, sqldb.ErrAway) {
		err = fmt.Errorf("%w: %w", sqldb.ErrAway, err)
	}
	if err = errors.Join(err, failed); err != nil {
		err = fmt.Errorf("story: %w", err)
	}
	return together(rows, pending, s.Limit), err
}

// story reads the latest rows.
func (w *work) story(s Story) (rows []TimelineRow, err error) {
	q := &schema.Conditions{List: []string{"seller <> ''"}}
	q.Add("seller = %s", s.Seller)
	q.Add("at >= %s", s.From)
	q.AddIf("room = %s", schema.Plain(string(s.Room)))
	err = w.Each(func(scan func(...any) error) error {
		var r TimelineRow
		var detail string
		err := scan(&r.Room, &r.At, &r.Epoch, &r.Ticket, &r.Fence, &r.Kind, &detail, &r.Entry, &r.N)
		r.Detail = json.RawMessage(detail)
		rows = append(rows, r)
		return err
	}, fmt.Sprintf(`SELECT room, at, epoch, ticket, fence, kind, detail, entry, n FROM timeline WHERE %s
		ORDER BY at DESC, room DESC, epoch DESC, entry DESC, n DESC LIMIT %d`, q.Where(), s.Limit), q.Args...)
	return rows, err
}

// pending reads a seller's events from the journals. It continues after a journal that fails, and returns the
// first error.
func (r *Reader) pending(ctx context.Context, s Story) ([]TimelineRow, error) {
	ids := slices.DeleteFunc(slices.Clone(s.Pending),
		func(id wire.ID) bool { return s.Room != "" && id != s.Room })
	found := make([][]TimelineRow, len(ids))
	err := r.eachEntry(ctx, ids, func(i int, e wire.Entry) {
		found[i] = append(found[i], timelineRows(ids[i], e, s)...)
	})
	return slices.Concat(found...), err
}

// timelineRows returns the rows that a journal entry will become.
func timelineRows(id wire.ID, e wire.Entry, s Story) (rows []TimelineRow) {
	for n, r := range e.Records {
		if schema.Plain(r.Seller) == s.Seller && r.At >= s.From {
			rows = append(rows, TimelineRow{Room: id, At: r.At, Epoch: e.Epoch, Ticket: r.Ticket, Fence: r.Fence,
				Kind: schema.Plain(r.Type), Detail: json.RawMessage(schema.DetailOf(r)), Entry: e.ID, N: int64(n)})
		}
	}
	return rows
}

// together merges rows in order, each once, and keeps the latest.
func together(rows, pending []TimelineRow, limit int) []TimelineRow {
	rows = append(rows, pending...)
	slices.SortFunc(rows, TimelineRow.compare)
	rows = slices.CompactFunc(rows, func(a, b TimelineRow) bool { return a.compare(b) == 0 })
	return rows[max(len(rows)-limit, 0):]
}

// compare orders rows by time; rows of the same millisecond in a room, by the journal's order.
func (r TimelineRow) compare(other TimelineRow) int {
	return cmp.Or(cmp.Compare(r.At, other.At), cmp.Compare(r.Room, other.Room),
		cmp.Compare(r.Epoch, other.Epoch), schema.CompareEntries(r.Entry, other.Entry),
		cmp.Compare(r.N, other.N))
}
