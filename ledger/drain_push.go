package ledger

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/outbox/push"
	"github.com/waitroom/waitroom/room"
)

// pushWithin bounds how long a journal waits for the list of browsers. After that it is drained without
// pushes.
const pushWithin = time.Second

// newsKind returns the push that a record causes: the seller's turn came, or its place was passed over. "" is
// none.
func newsKind(r room.Record) string {
	switch {
	case r.Type == "granted":
		return push.Turn
	case r.Type == "away" || r.Type == "ended" && r.Outcome == room.Unclaimed:
		return push.Away
	}
	return ""
}

// browsers returns the browsers to push to, by ticket.
func (l *Ledger) browsers(ctx context.Context, id room.ID, entries []room.Entry) (map[int64][]string, error) {
	if l.cfg.Pushes == nil {
		return nil, nil
	}
	concerned := pick(entries, func(r room.Record) bool { return newsKind(r) != "" })
	if len(concerned) == 0 {
		return nil, nil
	}
	return l.cfg.Pushes.Browsers(ctx, id, concerned)
}

// unsubscribe deletes the subscriptions of places that have ended. A missed one expires by itself.
func (l *Ledger) unsubscribe(ctx context.Context, id room.ID, entries []room.Entry) {
	if l.cfg.Pushes == nil {
		return
	}
	var over []int64
	for _, r := range pick(entries, func(r room.Record) bool {
		return r.Type == "ended" &&
			r.Outcome != room.Unclaimed
	}) {
		over = append(over, r.Ticket)
	}
	if len(over) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pushWithin)
	defer cancel()
	if err := l.cfg.Pushes.Forget(ctx, id, over...); err != nil {
		l.log.Debug("subscriptions of places that are over were not forgotten", "room", string(id), "error", err)
	}
}

func pick(entries []room.Entry, wanted func(room.Record) bool) (list []room.Record) {
	for _, e := range entries {
		for _, r := range e.Records {
			if wanted(r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// push adds the tasks that push a record's news to its place's browsers.
func (w *work) push(r room.Record) error {
	what := newsKind(r)
	if what == "" {
		return nil
	}
	for _, browser := range w.browsers[r.Ticket] {
		task, err := push.News{What: what, Room: string(w.id), Ticket: r.Ticket, Fence: r.Fence, At: r.At,
			Browser: browser}.Task()
		if err != nil {
			return err
		}
		task.Traceparent = w.trace
		w.tasks = append(w.tasks, task)
	}
	return nil
}
