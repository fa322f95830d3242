package ledger

import (
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// record is one record of a journal entry with its key in the timeline. A record that is in the timeline
// already is not applied again.
type record struct {
	recordKey
	room.Record
	applied bool   // before: apply only repeats its verdict
	trace   string // parent of the tasks that follow from it, as a traceparent; "" = not traced
}

type recordKey struct {
	epoch int64
	entry string
	n     int64
}

// run is some of a room's records, in the journal's order, and the rows that they change.
type run struct {
	*work
	records []record
	batch
}

// applyPortions writes portions, without the records that were applied before, and sets their verdicts. It
// applies a room's records in the journal's order, and several rooms at once up to their first sequential
// records.
func applyPortions(s sqldb.Session, works []*work, portions []*portion) error {
	runs, err := runsOf(works, portions)
	if err != nil {
		return err
	}
	if err := writeTimeline(s, runs); err != nil {
		return err
	}
	heads := make([]*run, len(runs))
	for i, r := range runs {
		heads[i] = &run{work: r.work, records: r.records[:r.untilSequential()]}
	}
	if err := applyBatch(s, heads); err != nil {
		return err
	}
	for i, r := range runs {
		r.records = r.records[r.untilSequential():]
		if err := r.applyInOrder(); err != nil {
			return err
		}
		portions[i].verdicts = r.verdicts
	}
	return nil
}

func runsOf(works []*work, portions []*portion) ([]*run, error) {
	runs := make([]*run, len(portions))
	for i, p := range portions {
		records, err := recordsOf(p.entries)
		if err != nil {
			return nil, err
		}
		works[i].browsers = p.browsers
		runs[i] = &run{work: works[i], records: records}
	}
	return runs, nil
}

func recordsOf(entries []room.Entry) (records []record, err error) {
	for _, e := range entries {
		if e.Odd != nil {
			return nil, fmt.Errorf("%w: %w", errMalformed, e.Odd)
		}
		trace := wellFormed(e.Trace)
		for n, r := range e.Records {
			records = append(records, record{recordKey: recordKey{e.Epoch, e.ID, int64(n)}, Record: r, trace: trace})
		}
	}
	return records, nil
}

// applyInOrder applies sequential records one by one, and the records between them as batches.
func (r *run) applyInOrder() error {
	for left := r.records; len(left) > 0; {
		next := &run{work: r.work, records: left}
		n := next.untilSequential()
		next.records = left[:n]
		if err := applyBatch(r.Session, []*run{next}); err != nil {
			return err
		}
		if n < len(left) {
			if err := r.deadLetterMalformed(left[n], r.applySequential(left[n])); err != nil {
				return err
			}
			n++
		}
		left = left[n:]
	}
	return nil
}

// untilSequential returns how many records come before the first sequential one.
func (r *run) untilSequential() int {
	if n := slices.IndexFunc(r.records, record.sequential); n >= 0 {
		return n
	}
	return len(r.records)
}

// sequential reports whether a record reads or changes tables outside the batch. The records before it are
// written first.
func (n record) sequential() bool {
	switch n.Type {
	case "epoch", "told", claimed, assigned, rejected, "action":
		return true
	}
	return n.applied
}

// countAll returns the sum of n over all runs.
func countAll(runs []*run, n func(*run) int) (all int) {
	for _, r := range runs {
		all += n(r)
	}
	return all
}

func countRecords(r *run) int { return len(r.records) }

// applySequential applies one sequential record.
func (w *work) applySequential(rec record) error {
	w.trace = rec.trace
	epoch, r := rec.epoch, rec.Record
	if rec.applied {
		return w.repeatApplied(r)
	}
	switch r.Type {
	case "epoch":
		return w.epoch(epoch, r)
	case "told":
		return w.replay(r)
	case claimed, assigned:
		return w.giveMessage(epoch, r)
	case rejected:
		return w.rejectMessage(epoch, r)
	case "action":
		return w.action(rec)
	}
	return nil
}

// repeatApplied repeats the verdict on a match that was judged before: the replica that judged it may have
// died before it informed the room.
func (w *work) repeatApplied(r room.Record) error {
	if !r.Judge && !gives(r.Type) {
		return nil
	}
	agree, found, err := w.verdictOn(r)
	if err == nil && found { // a dead letter has none
		w.repeatVerdict(r, agree)
	}
	return err
}
