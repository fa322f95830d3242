package ledger

import (
	"context"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// apply writes portions in one transaction, and sets their verdicts. If the database refuses an entry, apply
// writes smaller parts in transactions of their own, down to that entry, which becomes a dead letter.
func (l *Ledger) apply(ctx context.Context, portions []*portion) error {
	if len(portions) == 0 {
		return nil
	}
	ids := make([]room.ID, len(portions))
	for i, p := range portions {
		ids[i], p.verdicts = p.id, nil
	}
	err := l.inRooms(ctx, ids, func(s sqldb.Session,
		works []*work) error {
		return applyPortions(s, works, portions)
	})
	if err == nil || !sqldb.OfData(err) {
		return err
	}
	return l.applyParts(ctx, portions, err)
}

// applyParts writes each portion in its own transaction, and a single one in halves. A single entry becomes a
// dead letter.
func (l *Ledger) applyParts(ctx context.Context, portions []*portion, refusal error) error {
	p := portions[0]
	p.verdicts = nil
	switch {
	case len(portions) > 1:
		for _, p := range portions {
			if err := l.apply(ctx, []*portion{p}); err != nil {
				return err
			}
		}
		return nil
	case len(p.entries) > 1:
		return l.applyHalves(ctx, p)
	}
	return l.inRoom(ctx, p.id, func(w *work) error { return w.deadLetter(p.entries[0], refusal) })
}

func (l *Ledger) applyHalves(ctx context.Context, p *portion) error {
	half := len(p.entries) / 2
	for _, entries := range [][]room.Entry{p.entries[:half], p.entries[half:]} {
		part := &portion{id: p.id, entries: entries, browsers: p.browsers}
		if err := l.apply(ctx, []*portion{part}); err != nil {
			return err
		}
		p.verdicts = append(p.verdicts, part.verdicts...)
	}
	return nil
}
