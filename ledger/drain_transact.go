package ledger

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

// work is one transaction's way to a room's rows.
type work struct {
	sqldb.Session
	id          room.ID
	webhooks    bool
	guard       time.Duration // how far a carrier's clock may be off
	alarms      []alarm       // to be logged when the transaction is through
	verdicts    []verdict     // on the matches in it, given now or before; the room is to be told
	judged      int           // those given now
	refusals    int           // of those given now
	deadLetters []deadLetter
	tasks       []outbox.Task      // to be put into the outbox before it commits
	browsers    map[int64][]string // that are to be told of a turn, by ticket
	counts      counts
	trace       string // of the note that is applied, as of rec.trace
}

// reading runs do outside of any transaction.
func (l *Ledger) reading(ctx context.Context, id room.ID, do func(*work) error) error {
	return l.db.Read(ctx, func(s sqldb.Session) error { return do(&work{Session: s, id: id}) })
}

// inRoom runs do in a transaction that is alone in its room, across all replicas: it waits for the one
// before it. Where do fails nothing is written.
func (l *Ledger) inRoom(ctx context.Context, id room.ID, do func(*work) error) error {
	return l.inRooms(ctx, []room.ID{id}, func(_ sqldb.Session, works []*work) error { return do(works[0]) })
}

// inRooms is inRoom for several rooms, in order of their ids, in the same transaction.
func (l *Ledger) inRooms(ctx context.Context, ids []room.ID, do func(sqldb.Session, []*work) error) error {
	keys, works := make([]string, len(ids)), make([]*work, len(ids))
	for i, id := range ids {
		keys[i] = string(id)
	}
	err := l.db.TransactIn(ctx, keys, func(s sqldb.Session) error {
		for i, id := range ids {
			works[i] = &work{Session: s, id: id, webhooks: l.cfg.Webhooks, guard: l.cfg.Guard}
		}
		if err := do(s, works); err != nil {
			return err
		}
		return enqueue(s, works)
	})
	if err != nil {
		l.unanswered.add(err, works)
		return err
	}
	l.resolveUnanswered(ctx)
	l.allCommitted(works)
	return nil
}

func (l *Ledger) allCommitted(works []*work) {
	for _, w := range works {
		l.committed(w)
	}
}

// through tells what must be told once it is certain.
func (l *Ledger) committed(w *work) {
	l.metrics.judged.WithLabelValues(agreed).Add(float64(w.judged - w.refusals))
	l.metrics.judged.WithLabelValues(refused).Add(float64(w.refusals))
	l.metrics.counters.add(w.counts)
	for _, p := range w.deadLetters {
		l.metrics.deadLetters.Inc()
		l.log.Error("ledger can not apply a journal entry and has parked it", "room", string(w.id), "entry", p.entry, "error", p.err)
	}
	for _, a := range w.alarms {
		l.metrics.incidents.WithLabelValues(a.kind).Inc()
		l.log.ErrorContext(within(context.Background(), a.trace), "ledger incident: "+a.detail, "kind", a.kind, "room", string(w.id), "subject", a.subject,
			"ticket", a.ticket, "fence", a.fence)
	}
	if len(w.browsers) > 0 {
		l.cfg.Pushes.Pushed()
	}
	if len(w.alarms) > 0 {
		l.alerts.raise(w.id)
	}
}
