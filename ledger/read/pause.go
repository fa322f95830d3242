package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// Pause is support's entry when it paused a room.
type Pause struct {
	Who, Reason string
	At          int64 // unix ms
}

// pauseRows is how many pauses and how many resumes are read to find the one that counts.
const pauseRows = 100

// pauseAction is a pause or a resume. One from the ledger also has its key, which orders actions of one
// millisecond.
type pauseAction struct {
	Pause
	resume   bool
	epoch, n int64
	entry    string
}

// LastPause returns by whom and why a room was last paused, from the ledger and the journal. Of pauses with
// no resume between, the first one counts. found is false if there is none, or if the journal is longer than
// storyJournal. The caller knows whether the room is still paused. While the database is away, LastPause uses
// the journal alone, and returns sqldb.ErrAway if that has no pause.
func (r *Reader) LastPause(ctx context.Context, id wire.ID) (p Pause, found bool, err error) {
	// The journal is read first: entries that leave it meanwhile are in the ledger.
	pending, whole, err := r.pendingPauses(ctx, id)
	if err != nil || !whole {
		return Pause{}, false, err
	}
	p, began := lastPause(pending)
	if began {
		return p, true, nil
	}
	var rows []pauseAction
	err = r.reading(ctx, id, func(w *work) (err error) {
		rows, err = w.pauses()
		return err
	})
	switch {
	case sqldb.Temporary(err) && p != (Pause{}):
		return p, true, nil
	case sqldb.Temporary(err) && !errors.Is(err, sqldb.ErrAway):
		err = fmt.Errorf("%w: %w", sqldb.ErrAway, err)
	}
	if err != nil {
		return Pause{}, false, fmt.Errorf("last pause: %w", err)
	}
	p, _ = lastPause(append(rows, pending...))
	return p, p != (Pause{}), nil
}

// lastPause returns the pause that counts, of actions oldest first. began is true if a resume precedes it, so
// that no older pause counts.
func lastPause(all []pauseAction) (p Pause, began bool) {
	for _, one := range slices.Backward(all) {
		switch {
		case !one.resume:
			p = one.Pause
		case p != (Pause{}):
			return p, true
		}
	}
	return p, false
}

// pendingPauses reads the journal. whole is false if the journal is longer than the part that is read.
func (r *Reader) pendingPauses(ctx context.Context, id wire.ID) (found []pauseAction, whole bool, err error) {
	entries, err := r.cfg.Journal.ReadJournal(ctx, id, storyJournal)
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		if e.Odd != nil {
			continue
		}
		for _, r := range e.Records {
			if r.Type == "action" && (r.Action == "pause" || r.Action == "resume") {
				p := Pause{schema.Plain(r.Who), schema.Plain(r.Reason), r.At}
				found = append(found, pauseAction{Pause: p, resume: r.Action == "resume"})
			}
		}
	}
	return found, len(entries) < storyJournal, nil
}

// pauses reads the latest pauses and resumes, oldest first.
func (w *work) pauses() (rows []pauseAction, err error) {
	for _, action := range []string{"pause", "resume"} {
		err = w.Each(func(scan func(...any) error) error {
			p := pauseAction{resume: action == "resume"}
			err := scan(&p.At, &p.epoch, &p.entry, &p.n, &p.Who, &p.Reason)
			rows = append(rows, p)
			return err
		}, fmt.Sprintf(`SELECT at, epoch, entry, n, who, reason FROM actions WHERE room = $1 AND action = $2
			ORDER BY at DESC LIMIT %d`, pauseRows), string(w.id), action)
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(rows, pauseAction.compare)
	return rows, nil
}

func (p pauseAction) compare(other pauseAction) int {
	return cmp.Or(cmp.Compare(p.At, other.At), cmp.Compare(p.epoch, other.epoch),
		schema.CompareEntries(p.entry, other.entry), cmp.Compare(p.n, other.n))
}
