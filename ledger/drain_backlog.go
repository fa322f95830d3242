package ledger

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/room"
)

// alarmEvery is how often a journal that fills up is logged.
const logEvery = 5 * time.Second

func newLogLimiter() *rate.Limiter { return rate.NewLimiter(rate.Every(logEvery), 1) }

// Looked takes in what the engine's sweep found in a room; it does not wait. Run drains the room then. A
// journal that fills up is told loudly long before its bound.
func (l *Ledger) JournalSeen(id room.ID, found room.Checked) {
	l.backlog.seen(id, found.Journal)
	if full := l.cfg.JournalMax; full > 0 && found.Journal*2 >= full {
		l.metrics.filling.Inc()
		if l.backlogLog.Allow() {
			l.log.Error("a room's journal fills up: what does not fit will be missing in the ledger", "room", string(id),
				"entries", found.Journal, "bound", full)
		}
	}
}

// lookAgainEvery is how often what is known of the journals and of the database is doubted.
const requeueEvery = 500 * time.Millisecond

// lookAgain keeps Status true where nothing happens, until ctx ends; it returns ctx's error: rooms that nobody names any more are drained, which
// finds what other replicas took in. Where none is left, nobody would notice that a database that was away is back.
func (l *Ledger) requeueStale(ctx context.Context) error {
	for {
		if err := pause(ctx, requeueEvery); err != nil {
			return err
		}
		if !l.backlog.requeueStale() {
			l.db.AskAgain(ctx)
		}
	}
}

// forgetAfter is how long a room counts that this replica saw waiting and has not seen since: the
// others look after it.
const forgetAfter = 10 * time.Second

// againAfter is how long a room waits that nobody has named since, until its journal is looked at again: another replica may have drained it.
const staleAfter = time.Second

// backlog is what this replica knows of journals that are not drained, and the queue of rooms to drain.
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

// queueRooms bounds the queue; a room that finds no space is looked at again in a second.
const queueRooms = 4096

func newBacklog(now func() time.Time) *backlog {
	return &backlog{now: now, queue: make(chan room.ID, queueRooms), rooms: make(map[room.ID]*waiting)}
}

// saw takes in how long a room's journal is, and queues it for a drain.
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

// again queues the rooms that nobody has named lately, and is false where no room waits.
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

// next waits for a queued room and returns it with others from the queue, as many as one transaction drains. It
// returns ctx's error when ctx ends.
func (b *backlog) next(ctx context.Context) ([]room.ID, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case id := <-b.queue:
		return b.dequeue(id), nil
	}
}

func (b *backlog) dequeue(id room.ID) []room.ID {
	ids := []room.ID{id}
	for len(ids) < maxRooms && len(b.queue) > 0 {
		select {
		case id := <-b.queue:
			ids = append(ids, id)
		default: // another drainer was faster
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if w := b.rooms[id]; w != nil {
			w.queued = false
		}
	}
	return ids
}

// drained says that a room's journal was read to its end.
func (b *backlog) drained(id room.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.rooms, id)
}

// sum is how many entries wait, in how many rooms, and since when the longest does.
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
