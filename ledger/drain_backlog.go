package ledger

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/room"
)

// logEvery is the shortest time between two log lines of the same kind.
const logEvery = 5 * time.Second

func newLogLimiter() *rate.Limiter { return rate.NewLimiter(rate.Every(logEvery), 1) }

// JournalSeen queues a room for Run if its journal has entries. The server calls it for each room that
// room.Engine.Sweep looks at; it does not wait. It logs an error while a journal is at least half full.
func (l *Ledger) JournalSeen(id room.ID, found room.Checked) {
	l.backlog.seen(id, found.Journal)
	if full := l.cfg.JournalMax; full > 0 && found.Journal*2 >= full {
		l.metrics.filling.Inc()
		if l.backlogLog.Allow() {
			l.log.Error("a room's journal fills up: what does not fit will be missing in the ledger", "room",
				string(id),
				"entries", found.Journal, "bound", full)
		}
	}
}

// requeueEvery is how often stale rooms are queued again and the database is probed.
const requeueEvery = 500 * time.Millisecond

// requeueStale keeps Status true in an idle process, until ctx ends; it returns ctx's error. It queues rooms
// that JournalSeen stopped naming, since another replica may have drained them. If no room waits at all, it
// probes the database, to notice that an outage is over.
func (l *Ledger) requeueStale(ctx context.Context) error {
	for {
		if err := pause(ctx, requeueEvery); err != nil {
			return err
		}
		if !l.backlog.requeueStale() {
			l.db.Reprobe(ctx)
		}
	}
}

// forgetAfter is how long a room counts as waiting after this replica last saw it. Other replicas take care
// of it then.
const forgetAfter = 10 * time.Second

// staleAfter is how long after JournalSeen last named a waiting room the room is queued again.
const staleAfter = time.Second

// backlog holds the journals that have entries, as far as this replica knows, and the queue of rooms to
// drain.
type backlog struct {
	now   func() time.Time
	queue chan room.ID

	mu    sync.Mutex
	rooms map[room.ID]*waiting
}

type waiting struct {
	entries int
	since   time.Time
	seen    time.Time
	queued  bool
}

// queueRooms bounds the queue. A room that does not fit is queued again after a second.
const queueRooms = 4096

func newBacklog(now func() time.Time) *backlog {
	return &backlog{now: now, queue: make(chan room.ID, queueRooms), rooms: make(map[room.ID]*waiting)}
}

// seen records how long a room's journal is, and queues the room.
func (b *backlog) seen(id room.ID, entries int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if entries == 0 {
		delete(b.rooms, id)
		return
	}
	w := b.rooms[id]
	if w == nil {
		w = &waiting{since: b.now()}
		b.rooms[id] = w
	}
	w.entries, w.seen = entries, b.now()
	b.enqueue(id, w)
}

func (b *backlog) enqueue(id room.ID, w *waiting) {
	if w.queued {
		return
	}
	select {
	case b.queue <- id:
		w.queued = true
	default:
	}
}

// requeueStale queues the rooms that were not seen lately. It reports whether any room waits.
func (b *backlog) requeueStale() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, w := range b.rooms {
		if b.now().Sub(w.seen) > staleAfter {
			b.enqueue(id, w)
		}
	}
	return len(b.rooms) > 0
}

// next waits for a queued room and returns it with others from the queue, as many as one transaction drains.
// It returns ctx's error when ctx ends.
func (b *backlog) next(ctx context.Context) ([]room.ID, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case id := <-b.queue:
		return b.dequeue(id), nil
	}
}

// dequeue returns a room and further ones from the queue.
func (b *backlog) dequeue(id room.ID) []room.ID {
	ids, entries := []room.ID{id}, b.dequeued(id)
	for len(ids) < maxRooms && entries < maxEntries {
		select {
		case id := <-b.queue:
			ids, entries = append(ids, id), entries+b.dequeued(id)
		default:
			return ids
		}
	}
	return ids
}

// dequeued notes that a room is no longer in the queue, and returns how long its journal was last.
func (b *backlog) dequeued(id room.ID) (entries int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.rooms[id]; w != nil {
		w.queued, entries = false, w.entries
	}
	return entries
}

// drained removes a room whose journal was read to its end.
func (b *backlog) drained(id room.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.rooms, id)
}

// sum returns how many entries wait, and since when the oldest does.
func (b *backlog) sum() (entries int, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, w := range b.rooms {
		if b.now().Sub(w.seen) > forgetAfter {
			delete(b.rooms, id)
			continue
		}
		entries += w.entries
		if since.IsZero() || w.since.Before(since) {
			since = w.since
		}
	}
	return entries, since
}
