package faults

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// tally is what processes that are gone have counted.
type tally struct {
	gone    Counts
	unseen  Counts
	failed  error             // a replica could not be asked
	pending map[string]Counts // by a replica that was ended: what the ledger had when it was asked last
}

func newTally() *tally { return &tally{gone: Counts{}, unseen: Counts{}, pending: map[string]Counts{}} }

// counts is true of a run whose replicas all count what this program counts.
func (r *Run) counts() bool { return r.plan.Older == "" }

// countedWithin is how long a replica has to count what it has written.
const countedWithin = 200 * time.Millisecond

// askLast asks a replica what it has counted, right before it is ended. The run does not see what it counts
// after that; the ledger says how much that can be.
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

// beganAgain takes in how much a replica that is started again can have written unseen.
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

// rowsNow are the ledger's rows at this moment.
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

// askAll asks every replica what it has counted, until that is what the ledger has, for a while.
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
