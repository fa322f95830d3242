package faults

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// tally has the counts of processes that have ended.
type tally struct {
	gone    Counts
	unseen  Counts
	failed  error             // a replica could not be asked
	pending map[string]Counts // by a replica that was ended: what the ledger had when it was asked last
}

func newTally() *tally { return &tally{gone: Counts{}, unseen: Counts{}, pending: map[string]Counts{}} }

// counts reports whether all replicas of the run have this version's metrics.
func (r *Run) counts() bool { return r.plan.Older == "" }

// countedWithin is how long after a write a replica may count it.
const countedWithin = 200 * time.Millisecond

// askLast reads a replica's counts right before it is ended. Later counts are missing; the ledger shows how
// many that can be.
func (r *Run) askLast(ctx context.Context, p *replica) {
	if !r.counts() {
		return
	}
	rows, err := r.rowsNow(ctx)
	if err == nil {
		err = pause(ctx, countedWithin)
	}
	text := ""
	if err == nil {
		text, err = p.metrics(ctx)
	}
	if err != nil {
		r.tally.failed = fmt.Errorf("%s before it was ended: %w", p.name, err)
		return
	}
	r.tally.gone.add(countsOf(text))
	r.tally.pending[p.name] = rows
}

// beganAgain records how much a restarted replica may have written without being counted.
func (r *Run) beganAgain(p *replica) {
	before, ok := r.tally.pending[p.name]
	if !ok {
		return
	}
	delete(r.tally.pending, p.name)
	rows, err := r.rowsNow(context.Background())
	if err != nil {
		r.tally.failed = err
		return
	}
	r.tally.unseen.add(rows.since(before))
}

// rowsNow returns the counts of the ledger's rows now.
func (r *Run) rowsNow(ctx context.Context) (Counts, error) {
	db, err := sql.Open(r.driver, r.dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	var l Ledger
	err = l.read(ctx, db)
	return l.counts(), err
}

// askAll reads every replica's counts, for a while, until they equal the ledger's.
func (r *Run) askAll(ctx context.Context, l *Ledger) {
	if !r.counts() {
		return
	}
	_ = until(10*countedWithin, func() error {
		l.Counted = Counted{Read: true, All: Counts{}, Unseen: r.tally.unseen}
		l.Counted.All.add(r.tally.gone)
		for _, p := range r.replicas {
			text, err := p.metrics(ctx)
			if err != nil {
				r.tally.failed = fmt.Errorf("%s: %w", p.name, err)
				return fatal{err}
			}
			l.Counted.All.add(countsOf(text))
		}
		if wrong := l.counted(); len(wrong) > 0 {
			return fmt.Errorf("%s", wrong[0])
		}
		return nil
	}) // Check says what is wrong
	if r.tally.failed != nil {
		r.trouble(Miscounted, "what replicas counted is not known: %v", r.tally.failed)
		l.Counted.Read = false
	}
}
