package ledger

import (
	"context"
	"errors"
	"sync"

	"github.com/waitroom/waitroom/internal/sqldb"
)

// doubtsMost bounds how many commits without an answer are remembered; the oldest is forgotten first.
const maxUnanswered = 256

// doubts are transactions whose commit the database has not answered. Nobody counts or logs what they wrote but this
// process, once it knows that they were committed: whoever applies the same entries again finds them applied.
type unansweredCommits struct {
	mu   sync.Mutex
	list []unansweredCommit
}

type unansweredCommit struct {
	commit *sqldb.Unanswered
	works  []*work
}

// note remembers a transaction where its error says that it may have been committed.
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

// take hands all of them over.
func (d *unansweredCommits) take() []unansweredCommit {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.list
	d.list = nil
	return list
}

// back remembers some that are in doubt still.
func (d *unansweredCommits) putBack(list []unansweredCommit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(list, d.list...)
}

// resolve counts the transactions that were committed without an answer. It is called when the database
// has just answered.
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
