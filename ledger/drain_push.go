package ledger

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/outbox/push"
	"github.com/waitroom/waitroom/room"
)

// pushWithin bounds how long a room's journal waits for whom to push to: a turn is sooner over than the journal full.
const pushWithin = time.Second

// newsOf is what a record has to say to a seller who looks elsewhere: that its turn came, or that its place is passed over. "" is nothing.
func newsKind(r room.Record) string {
	switch {
	case r.Type == "granted":
		return push.Turn
	case r.Type == "away" || r.Type == "ended" && r.Outcome == room.Unclaimed:
		return push.Away
	}
	return ""
}

// browsers are those that are to be told what entries say of their places. Where that can not be said, nobody is: the journal goes on.
func (l *Ledger) browsers(ctx context.Context, id room.ID, entries []room.Entry) map[int64][]string {
	if l.cfg.Pushes == nil {
		return nil
	}
	concerned := pick(entries, func(r room.Record) bool { return newsKind(r) != "" })
	if len(concerned) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pushWithin)
	defer cancel()
	found, err := l.cfg.Pushes.Browsers(ctx, id, concerned)
	if err != nil {
		l.log.Debug("ledger does not know whom to push to", "room", string(id), "error", err)
		return nil
	}
	return found
}

// unsubscribe has the subscriptions of places forgotten that are over; one that this misses has an end of its own.
func (l *Ledger) unsubscribe(ctx context.Context, id room.ID, entries []room.Entry) {
	if l.cfg.Pushes == nil {
		return
	}
	var over []int64
	for _, r := range pick(entries, func(r room.Record) bool { return r.Type == "ended" && r.Outcome != room.Unclaimed }) {
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

// push has the browsers of a place told what a record says of it.
func (w *work) push(r room.Record) error {
	what := newsKind(r)
	if what == "" {
		return nil
	}
	for _, browser := range w.browsers[r.Ticket] {
		task, err := push.News{What: what, Room: string(w.id), Ticket: r.Ticket, Fence: r.Fence, At: r.At, Browser: browser}.Task()
		if err != nil {
			return err
		}
		task.Traceparent = w.trace
		w.tasks = append(w.tasks, task)
	}
	return nil
}
