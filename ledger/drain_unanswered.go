package ledger

import (
	"context"
	"errors"
	"sync"

	"github.com/waitroom/waitroom/internal/sqldb"
)

// maxUnanswered bounds how many commits without an answer are remembered; the oldest is dropped first.
const maxUnanswered = 256

// unansweredCommits are transactions whose commit the database has not answered. Only this process can count
// and log them, once it knows that they were committed: a replica that applies the entries again finds them
// applied.
type unansweredCommits struct {
	mu   sync.Mutex
	list []unansweredCommit
}

type unansweredCommit struct {
	commit *sqldb.Unanswered
	works  []*work
}

// add remembers a transaction if its error leaves open whether it was committed.
func (d *unansweredCommits) add(err error, works []*work) {
	var u *sqldb.Unanswered
	if !errors.As(err, &u) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, unansweredCommit{u, works})
	d.list = d.list[max(0, len(d.list)-maxUnanswered):]
}

// take removes and returns all of them.
func (d *unansweredCommits) take() []unansweredCommit {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.list
	d.list = nil
	return list
}

// putBack remembers transactions that are still without an answer.
func (d *unansweredCommits) putBack(list []unansweredCommit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(list, d.list...)
}

// resolveUnanswered counts and logs the transactions that turn out to be committed. The caller has just had
// an answer from the database.
func (l *Ledger) resolveUnanswered(ctx context.Context) {
	var left []unansweredCommit
	for _, d := range l.unanswered.take() {
		committed, known, err := l.db.Committed(ctx, d.commit)
		switch {
		case err != nil || !known:
			left = append(left, d)
		case committed:
			l.allCommitted(d.works)
		}
	}
	l.unanswered.putBack(left)
}
