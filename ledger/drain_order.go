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
	applied bool   // before
	trace   string // parent of the tasks that follow from it, as a traceparent; "" = not traced
}

type recordKey struct {
	epoch int64
	entry string
	n     int64
}

// run is a room's records, in the journal's order, and the rows that the next of them change.
type run struct {
	*work
	records []record // not applied yet, without those in next
	next    []record // to be applied together
	batch
}

// applyPortions writes portions, and sets their verdicts. Of the records that were applied before, it repeats
// the verdicts alone: the replica that judged a match may have died before it informed the room.
func applyPortions(s sqldb.Session, works []*work, portions []*portion) error {
	runs, err := runsOf(works, portions)
	if err != nil {
		return err
	}
	if err := writeTimeline(s, runs); err != nil {
		return err
	}
	for _, r := range runs {
		r.records = slices.DeleteFunc(r.records, func(n record) bool { return n.applied && !n.judges() })
	}
	if err := applyInOrder(s, runs); err != nil {
		return err
	}
	for i, w := range works {
		portions[i].verdicts = w.verdicts
	}
	return nil
}

// applyInOrder applies each run's records in order, as few batches. Each batch has the next records of all
// runs.
func applyInOrder(s sqldb.Session, runs []*run) error {
	for {
		var some []*run
		for _, r := range runs {
			if r.advance() {
				some = append(some, r)
			}
		}
		if len(some) == 0 {
			return nil
		}
		if err := applyBatch(s, some); err != nil {
			return err
		}
	}
}

// advance takes the next records: those before the first whose effect is alone. If that is the first of all,
// advance takes only that record. It returns false if no record is left.
func (r *run) advance() bool {
	n := slices.IndexFunc(r.records, func(n record) bool { return effects[n.Type].alone })
	switch n {
	case -1:
		n = len(r.records)
	case 0:
		n = 1
	}
	r.next, r.records = r.records[:n], r.records[n:]
	return n > 0
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

// countAll returns the sum of n over all runs.
func countAll(runs []*run, n func(*run) int) (all int) {
	for _, r := range runs {
		all += n(r)
	}
	return all
}

func countRecords(r *run) int { return len(r.records) }
