package ledger

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
)

// work is one room's share of a transaction: its rows, and what to do once the transaction is committed.
type work struct {
	sqldb.Session
	id          room.ID
	webhooks    bool
	guard       time.Duration // how far a carrier's clock may be off
	alarms      []alarm       // to log after the commit
	verdicts    []verdict     // on the transaction's matches, new or repeated, to be sent to the room
	judged      int           // new verdicts
	refusals    int           // new verdicts that refuse
	deadLetters []deadLetter
	tasks       []outbox.Task      // to put into the outbox before the commit
	browsers    map[int64][]string // to push to, by ticket
	counts      counts
	trace       string // of the record in progress, as record.trace
}

// reading runs do outside any transaction.
func (l *Ledger) reading(ctx context.Context, id room.ID, do func(*work) error) error {
	return l.db.Read(ctx, func(s sqldb.Session) error { return do(&work{Session: s, id: id}) })
}

// inRoom runs do in a transaction that is alone in its room, across all replicas. If do fails, nothing is
// written.
func (l *Ledger) inRoom(ctx context.Context, id room.ID, do func(*work) error) error {
	return l.inRooms(ctx, []room.ID{id}, func(_ sqldb.Session, works []*work) error { return do(works[0]) })
}

// inRooms is inRoom for several rooms in one transaction. The ids are sorted.
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

// committed counts and logs what a committed transaction did, and calls Pushed and OnIncident for it. The
// outbox sends its tasks.
func (l *Ledger) committed(w *work) {
	l.metrics.judged.WithLabelValues(agreed).Add(float64(w.judged - w.refusals))
	l.metrics.judged.WithLabelValues(refused).Add(float64(w.refusals))
	l.metrics.counters.add(w.counts)
	for _, p := range w.deadLetters {
		l.metrics.deadLetters.Inc()
		l.log.Error("ledger could not apply a journal entry; it is in table parked", "room", string(w.id), "entry",
			p.entry, "error", p.err)
	}
	for _, a := range w.alarms {
		l.metrics.incidents.WithLabelValues(a.kind).Inc()
		l.log.ErrorContext(within(context.Background(), a.trace), "ledger incident: "+a.detail, "kind", a.kind,
			"room", string(w.id), "subject", a.subject,
			"ticket", a.ticket, "fence", a.fence)
	}
	if len(w.browsers) > 0 {
		l.cfg.Pushes.Pushed()
	}
	if len(w.alarms) > 0 {
		l.alerts.raise(w.id)
	}
}
