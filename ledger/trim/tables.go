package trim

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/ledger/schema"
)

// stepRows is about how many rows of a table one step deletes.
const stepRows = 200

// trimTable is a table that is trimmed by an index on room and time. A row stays while the row that it
// belongs to stays.
type trimTable struct {
	table string // t in the conditions below
	at    string // the time that counts as its age, unix ms
	key   string // its primary key
	only  string // restricts the rows; begins with AND
	stays string // what an old row must also meet to be deleted, else it stays; begins with AND
}

// ofPlace keeps rows of a place as long as the place.
const ofPlace = ` AND NOT EXISTS (SELECT 1 FROM places p WHERE p.room = t.room AND p.epoch = t.epoch
	AND p.ticket = t.ticket)`

// trimTables are in the order of the trim: rows that others belong to come first.
var trimTables = []trimTable{
	{table: "leases", at: "COALESCE(granted_at, ended_at, 0)", key: "room, fence",
		stays: " AND t.ended_at < $2"},
	{table: "places", at: "ended_at", key: "room, epoch, ticket", only: " AND ended_at IS NOT NULL"},
	{table: "verifications", at: "ended_at", key: "id",
		stays: ` AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.room = t.room AND l.fence = t.fence)`},
	{table: "messages", at: "received_at", key: "room, message_id",
		stays: ` AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.room = t.room
			AND l.fence = COALESCE(t.now_fence, t.fence))`},
	{table: "attributions", at: "at", key: "room, message_id, kind, fence",
		stays: ` AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.room = t.room AND m.message_id = t.message_id)`},
	// The audit's chain is trimmed by shorten; its first row stays, without texts.
	{table: "actions", at: "at", key: "room, epoch, entry, n", only: ` AND +seq > 0
		AND NOT (salt = '' AND seller = '' AND reason = '')`, stays: ofPlace},
	{table: "incidents", at: "at", key: "room, kind, subject, fence"},
	// Rows without a journal entry: their names begin with a letter, the ids of entries with a digit.
	{table: "timeline", at: "at", key: "room, epoch, entry, n", only: " AND entry >= 'a'", stays: ofPlace},
}

// nthRow returns the time of the row that has n older ones; found is false with fewer rows.
func (w *work) nthRow(s trimTable, n int) (at int64, found bool, err error) {
	err = w.Row(fmt.Sprintf(`SELECT %[2]s FROM %[1]s t WHERE room = $1%[3]s ORDER BY %[2]s LIMIT 1 OFFSET $2`,
		s.table, s.at, s.only), string(w.id), n).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return at, err == nil, err
}

// deletion returns a statement that deletes the found rows t of a table. For PostgreSQL it names their
// locations: by key, the planner would read a whole table that it takes to be small.
func (w *work) deletion(table, key, found string) string {
	if w.Dialect == dialect.Postgres {
		return fmt.Sprintf(`DELETE FROM %[1]s WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM %[1]s t %[2]s))`, table,
			found)
	}
	return fmt.Sprintf(`DELETE FROM %[1]s WHERE (%[3]s) IN (SELECT %[3]s FROM %[1]s t %[2]s)`, table, found, key)
}

// clear deletes a table's rows from before an instant.
func (w *work) clear(s trimTable, before int64, most int) (int64, error) {
	due := fmt.Sprintf(`WHERE t.room = $1 AND %[1]s < $2%[2]s%[3]s ORDER BY %[1]s LIMIT $3`, s.at, s.only,
		s.stays)
	return w.Exec(w.deletion(s.table, s.key, due), string(w.id), before, most)
}

// shorten is clear for the audit chain. Of the oldest rows that are due without a gap it deletes all but the
// last, which begins the chain then, without its texts: the next row still has that row's hash, so no younger
// row can vanish unseen. Due rows behind one that stays wait for it.
func (w *work) shorten(_ trimTable, before int64, most int) (int64, error) {
	var first, last int64
	err := w.Each(func(scan func(...any) error) error {
		var seq int64
		var due bool
		err := scan(&seq, &due)
		if first == 0 {
			first = seq
		}
		if due && (seq == first || seq == last+1) {
			last = seq
		}
		return err
	}, `SELECT t.seq, CASE WHEN t.at < $2 AND (SELECT COUNT(*) FROM places p WHERE p.room = t.room
			AND p.epoch = t.epoch AND p.ticket = t.ticket) = 0 THEN TRUE ELSE FALSE END FROM actions t
		WHERE t.room = $1 AND t.seq > 0
		AND t.seq >= (SELECT c.first FROM audit_chains c WHERE c.room = $1)
		ORDER BY t.seq LIMIT $3`, string(w.id), before, most)
	if err != nil || last == 0 || first == 0 {
		return 0, err
	}
	gone, err := w.Exec(`DELETE FROM actions WHERE room = $1 AND seq > 0 AND seq >= $2 AND seq < $3`, string(w.id),
		first, last)
	if err != nil {
		return 0, err
	}
	_, err = w.Exec(`UPDATE audit_chains SET first = $2 WHERE room = $1`, string(w.id), last)
	if err == nil {
		_, err = w.Exec(`UPDATE actions SET seller = '', reason = '', salt = '' WHERE room = $1 AND seq > 0
			AND seq = $2`, string(w.id), last)
	}
	return gone, err
}

// entryBefore returns a text that sorts after every journal entry before an instant. Entries begin with their
// time.
func entryBefore(at int64) string { return strconv.FormatInt(at, 10) }

// epochsOf returns a room's epochs in the timeline.
func (w *work) epochsOf() (epochs []int64, err error) {
	for after := int64(math.MinInt64); ; {
		var next sql.NullInt64
		if err := w.Row(`SELECT MIN(epoch) FROM timeline WHERE room = $1 AND epoch > $2`, string(w.id),
			after).Scan(&next); err != nil || !next.Valid {
			return epochs, err
		}
		after = next.Int64
		epochs = append(epochs, after)
	}
}

// nthEntry is nthRow for the journal entries of an epoch.
func (w *work) nthEntry(epoch int64, n int) (at int64, found bool, err error) {
	var entry string
	err = w.Row(`SELECT entry FROM timeline WHERE room = $1 AND epoch = $2 AND entry < 'a' ORDER BY entry, n
		LIMIT 1 OFFSET $3`, string(w.id), epoch, n).Scan(&entry)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	written, odd := schema.EntryTime(entry)
	if odd != nil {
		return 0, err == nil, err // malformed, and treated as the oldest
	}
	return written.UnixMilli(), err == nil, err
}

func (w *work) clearEntries(epoch, before int64, most int) (int64, error) {
	return w.Exec(w.deletion("timeline", "room, epoch, entry, n", `WHERE t.room = $1 AND t.epoch = $2
		AND t.entry < $3`+ofPlace+` ORDER BY entry, n LIMIT $4`),
		string(w.id), epoch, entryBefore(before), most)
}

// ages has the time of a room's oldest row, in unix ms. full is the earliest time of a row that has n older
// ones in its table, or in its epoch of the timeline. Both are never if there is no such row.
type ages struct{ oldest, full int64 }

const never = math.MaxInt64 // later than all times

func (a *ages) take(nth func(n int) (int64, bool, error), n int) error {
	at, found, err := nth(0)
	if err != nil || !found {
		return err
	}
	a.oldest = min(a.oldest, at)
	if at, found, err = nth(n); err != nil || !found {
		return err
	}
	a.full = min(a.full, at)
	return nil
}

// ages reads the ages of all the room's tables.
func (w *work) ages(n int) (a ages, err error) {
	a = ages{never, never}
	for _, s := range trimTables {
		if err := a.take(func(n int) (int64, bool, error) { return w.nthRow(s, n) }, n); err != nil {
			return a, fmt.Errorf("look at %s: %w", s.table, err)
		}
	}
	epochs, err := w.epochsOf()
	for _, epoch := range epochs {
		if err == nil {
			err = a.take(func(n int) (int64, bool, error) { return w.nthEntry(epoch, n) }, n)
		}
	}
	if err != nil {
		return a, fmt.Errorf("look at timeline: %w", err)
	}
	return a, nil
}

// trimmed counts rows by table.
type trimmed map[string]int64

func (t trimmed) sum() (rows int64) {
	for _, n := range t {
		rows += n
	}
	return rows
}

// trim deletes the room's rows from before an instant. All tables use the same instant, so that the remaining
// history begins at one time.
func (w *work) trim(before int64, most int) (trimmed, error) {
	gone := make(trimmed)
	if err := w.raiseHighWater(before, most); err != nil {
		return nil, fmt.Errorf("high-water mark: %w", err)
	}
	for _, s := range trimTables {
		clear := w.clear
		if s.table == "actions" {
			clear = w.shorten
		}
		n, err := clear(s, before, most)
		if err != nil {
			return nil, fmt.Errorf("trim %s: %w", s.table, err)
		}
		gone[s.table] += n
	}
	epochs, err := w.epochsOf()
	if err != nil {
		return nil, err
	}
	for _, epoch := range epochs {
		n, err := w.clearEntries(epoch, before, most)
		if err != nil {
			return nil, fmt.Errorf("trim timeline: %w", err)
		}
		gone["timeline"] += n
	}
	n, err := w.Exec(`DELETE FROM parked WHERE room = $1 AND entry < $2`, string(w.id), entryBefore(before))
	gone["parked"] += n
	return gone, err
}
