package ledger

import (
	"context"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// apply writes entries in one transaction; where one of them is odd, each half in its own, until that one is alone and is parked. It returns
// the verdicts on their matches, in the journal's order.
func (l *Ledger) apply(ctx context.Context, id room.ID, entries []room.Entry) (verdicts []verdict, err error) {
	verdicts, err = l.applyAtOnce(ctx, id, entries)
	if err == nil || !sqldb.OfData(err) {
		return verdicts, err
	}
	if len(entries) == 1 {
		return nil, l.inRoom(ctx, id, func(w *work) error { return w.park(entries[0], err) })
	}
	half := len(entries) / 2
	first, err := l.apply(ctx, id, entries[:half])
	if err != nil {
		return nil, err
	}
	second, err := l.apply(ctx, id, entries[half:])
	return append(first, second...), err
}

func (l *Ledger) applyAtOnce(ctx context.Context, id room.ID, entries []room.Entry) (verdicts []verdict, err error) {
	p := &portion{id: id, entries: entries, browsers: l.browsers(ctx, id, entries)}
	err = l.applyPortions(ctx, []*portion{p})
	return p.verdicts, err
}

// applyTogether writes all portions in one transaction; where something in them is odd, each in its own.
func (l *Ledger) applyTogether(ctx context.Context, portions []*portion) (err error) {
	if len(portions) == 0 {
		return nil
	}
	var spans spans
	defer func() { spans.end(err) }()
	for _, p := range portions {
		spans = append(spans, l.spansOf(ctx, p.id, p.entries)...)
	}
	for _, p := range portions {
		p.browsers = l.browsers(ctx, p.id, p.entries)
	}
	if err = l.applyPortions(ctx, portions); err == nil || !sqldb.OfData(err) {
		return err
	}
	for _, p := range portions {
		if p.verdicts, err = l.apply(ctx, p.id, p.entries); err != nil {
			return err
		}
	}
	return nil
}

// applyPortions writes what several rooms' journals had, in one transaction.
func (l *Ledger) applyPortions(ctx context.Context, portions []*portion) error {
	ids, runs := make([]room.ID, len(portions)), make([]*run, len(portions))
	for i, p := range portions {
		notes, err := notesOf(p.entries)
		if err != nil {
			return err
		}
		ids[i], runs[i] = p.id, &run{notes: notes}
	}
	return l.inRooms(ctx, ids, func(s sqldb.Session, works []*work) error {
		for i, w := range works {
			w.browsers, runs[i].work = portions[i].browsers, w
		}
		err := apply(s, runs)
		for i, w := range works {
			portions[i].verdicts = w.verdicts
		}
		return err
	})
}
