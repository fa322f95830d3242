package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
)

const (
	refusedEvery = 2 * time.Second
	refusedMost  = 1000 // places whose refusals wait to be written; those of further ones are not counted
	refusedTries = 30   // times that a write waits for the place, which the drain brings
)

// refusedJoins counts refused joins until they are written. The zero value is ready.
type refusedJoins struct {
	mu     sync.Mutex
	counts map[refusedKey]refusedCount
}

type refusedKey struct {
	room   room.ID
	seller string // an erased place has another one
	ticket int64
}

type refusedCount struct {
	n     int
	at    int64 // the last one's time, unix ms
	tried int
}

// JoinRefused counts a join that was refused at a time (unix ms), since its seller has a place in the room
// with that ticket. Run writes it into the timeline of that place, unless its seller is erased: one row an
// hour, however often it happens. JoinRefused does not wait.
func (l *Ledger) JoinRefused(id room.ID, seller string, ticket, at int64) {
	l.refused.add(refusedKey{id, schema.Plain(seller), ticket}, refusedCount{n: 1, at: at})
}

func (r *refusedJoins) add(key refusedKey, c refusedCount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, counted := r.counts[key]
	if !counted && len(r.counts) >= refusedMost {
		return
	}
	if r.counts == nil {
		r.counts = make(map[refusedKey]refusedCount)
	}
	r.counts[key] = refusedCount{before.n + c.n, max(before.at, c.at), max(before.tried, c.tried)}
}

// take returns all counts, and forgets them.
func (r *refusedJoins) take() map[refusedKey]refusedCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := maps.Clone(r.counts)
	clear(r.counts)
	return counts
}

// writeRefusedAlways writes counted refusals until ctx ends; it returns ctx's error.
func (l *Ledger) writeRefusedAlways(ctx context.Context) error {
	for {
		if err := pause(ctx, refusedEvery); err != nil {
			return err
		}
		l.writeRefused(ctx)
	}
}

// writeRefused writes the counted refusals. It keeps those that the database did not take, and those of a
// place that the ledger does not have yet.
func (l *Ledger) writeRefused(ctx context.Context) {
	for key, c := range l.refused.take() {
		var found bool
		err := l.inRoom(ctx, key.room, func(w *work) (err error) {
			found, err = w.refused(key, c)
			return err
		})
		if err == nil && !found {
			c.tried++
		}
		if err != nil || !found && c.tried < refusedTries {
			l.refused.add(key, c)
		}
	}
}

// refused adds refused joins to the hour's row of the seller's place, if the ledger has it.
func (w *work) refused(key refusedKey, c refusedCount) (found bool, err error) {
	epoch, _, err := w.latestPlace(key.seller, key.ticket)
	if err != nil {
		return false, orNone(err)
	}
	entry := fmt.Sprintf("refused/%d", c.at/time.Hour.Milliseconds())
	var at int64
	var text string
	err = w.Row(`SELECT at, detail FROM timeline WHERE room = $1 AND epoch = $2 AND entry = $3 AND n = $4`,
		string(w.id), epoch, entry, key.ticket).Scan(&at, &text)
	var d schema.Detail
	if err == nil {
		err = json.Unmarshal([]byte(text), &d)
	}
	if err = orNone(err); err != nil {
		return false, err
	}
	d.Times += c.n
	detail, err := json.Marshal(d)
	if err != nil {
		return false, err
	}
	_, err = w.Exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, fence, seller, detail)
		VALUES ($1, $2, $3, $4, $5, 'refused', $4, 0, $6, $7)
		ON CONFLICT (room, epoch, entry, n) DO UPDATE SET at = excluded.at, detail = excluded.detail`,
		string(w.id), epoch, entry, key.ticket, max(at, c.at), key.seller, string(detail))
	return true, err
}

// orNone returns nil for a row that is not there.
func orNone(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
