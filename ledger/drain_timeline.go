package ledger

import (
	"fmt"
	"hash/fnv"
	"iter"
	"slices"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
)

// writeTimeline inserts the rooms' records into the timeline, and marks those that it already has as applied.
func writeTimeline(s sqldb.Session, runs []*run) error {
	if err := markApplied(s, runs); err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return insertTimeline(s, runs)
}

// markApplied marks the records that the timeline has. A store that lost its last writes may reuse an entry's
// id when its clock is behind; an entry whose id another one has gets a new name.
func markApplied(s sqldb.Session, runs []*run) error {
	there, err := readTimeline(s, runs)
	if err != nil {
		return err
	}
	if renameConflicting(runs, there) {
		if there, err = readTimeline(s, runs); err != nil {
			return err
		}
	}
	for _, r := range runs {
		for i := range r.records {
			_, r.records[i].applied = there[r.id][r.records[i].recordKey]
		}
	}
	return nil
}

// readTimeline returns the timeline's rows of the records' entries.
func readTimeline(s sqldb.Session, runs []*run) (map[room.ID]map[recordKey]identity, error) {
	rows, there := dialect.NewRows(countAll(runs, countRecords), "room TEXT", "epoch BIGINT", "entry TEXT"),
		make(map[room.ID]map[recordKey]identity)
	for _, r := range runs {
		for entry := range r.entries() {
			rows.Add(string(r.id), entry[0].epoch, entry[0].entry)
		}
	}
	err := s.EachRow(func(scan func(...any) error) error {
		var id room.ID
		var k recordKey
		var is identity
		err := scan(&id, &k.epoch, &k.entry, &k.n, &is.at, &is.kind, &is.ticket, &is.fence)
		if there[id] == nil {
			there[id] = make(map[recordKey]identity)
		}
		there[id][k] = is
		return err
	}, rows, `SELECT t.room, t.epoch, t.entry, t.n, t.at, t.kind, t.ticket, t.fence`+
		s.Dialect.Matching("timeline", "t.room = v.room AND t.epoch = v.epoch AND t.entry = v.entry"))
	return there, err
}

// entries yields the records of each journal entry.
func (r *run) entries() iter.Seq[[]record] {
	return func(yield func([]record) bool) {
		for left := r.records; len(left) > 0; {
			n := slices.IndexFunc(left, func(n record) bool {
				return n.epoch != left[0].epoch ||
					n.entry != left[0].entry
			})
			if n < 0 {
				n = len(left)
			}
			if !yield(left[:n]) {
				return
			}
			left = left[n:]
		}
	}
}

// identity distinguishes records that have the same key in the timeline.
type identity struct {
	at            int64
	kind          string
	ticket, fence int64
}

func (n record) identity() identity { return identity{n.At, plain(n.Type), n.Ticket, n.Fence} }

// renameConflicting renames entries whose ids other entries had before. It reports whether there are any. The
// same entry always gets the same name.
func renameConflicting(runs []*run, there map[room.ID]map[recordKey]identity) (found bool) {
	for _, r := range runs {
		for entry := range r.entries() {
			another := func(n record) bool {
				is, ok := there[r.id][n.recordKey]
				return ok && is != n.identity()
			}
			if !slices.ContainsFunc(entry, another) {
				continue
			}
			found = true
			sum := fnv.New64a()
			for _, n := range entry {
				_, _ = fmt.Fprintln(sum, n.n, n.identity())
			}
			for i := range entry {
				entry[i].entry += fmt.Sprintf("~%x", sum.Sum64())
			}
		}
	}
	return found
}

// insertTimeline inserts the records that are not applied; existing rows stay.
func insertTimeline(s sqldb.Session, runs []*run) error {
	rows := dialect.NewRows(countAll(runs, countRecords), "room TEXT", "epoch BIGINT", "entry TEXT", "n BIGINT",
		"at BIGINT", "kind TEXT", "ticket BIGINT",
		"fence BIGINT", "seller TEXT", "detail TEXT")
	for _, r := range runs {
		for _, n := range r.records {
			if !n.applied {
				rows.Add(string(r.id), n.epoch, n.entry, n.n, n.At, plain(n.Type), n.Ticket, n.Fence, plain(n.Seller),
					schema.DetailOf(n.Record))
			}
		}
	}
	err := s.ExecRows(rows, `INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence, seller,
		detail)
		SELECT room, epoch, entry, n, at, kind, ticket, fence, seller, detail FROM v WHERE true
		ON CONFLICT DO NOTHING`)
	if err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	return nil
}

// addTimeline inserts a record that is in no journal entry.
func (w *work) addTimeline(epoch int64, entry string, n int64, r room.Record) error {
	return insertTimeline(w.Session,
		[]*run{{work: w, records: []record{{recordKey: recordKey{epoch, entry, n}, Record: r}}}})
}
