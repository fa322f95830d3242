// Package near finds the places whose turn is near, for the event place.near.
package near

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// Most is how many waiters of a room are checked, from the first. Later ones are near only if leases last a
// few seconds, and are found as the line moves.
const Most = 200

const (
	workers  = 2
	queueMax = 4096 // rooms; one that does not fit is queued when it is seen again
	within   = 10 * time.Second
	forgotIn = 10 * time.Minute // since a room was last looked at
)

// Rooms reads rooms; *room.Engine implements it.
type Rooms interface {
	Head(ctx context.Context, id room.ID, most int) (room.Roster, error)
	Terms(id room.ID) room.Terms
}

// Config configures a Watch.
type Config struct {
	Rooms     Rooms
	Threshold Threshold
	// Wanted reports for each seller whether to send place.near about its place; nil = about all.
	Wanted func(context.Context, []string) ([]bool, error)
	// Record records places whose turn is near, as ledger.RecordNear does: each place once, however often it
	// is called.
	Record func(context.Context, room.ID, []ledger.NearPlace) error
	Failed func(error) // called after each failed look; the room is looked at again when it is next seen
}

// Watch checks the rooms that Seen names, and records the places that are near. It is safe for concurrent
// use; several replicas may each have one.
type Watch struct {
	cfg   Config
	queue chan room.ID

	mu    sync.Mutex
	rooms map[room.ID]*known
}

// known is what a Watch remembers of a room.
type known struct {
	queued         bool
	looked         time.Time
	epoch, version int64          // when it was looked at; 0 = it has to be looked at again
	next           int            // the first position that is not near; 0 = none
	recorded       map[place]bool // the near places
}

// place identifies a place across epochs.
type place struct{ ticket, joined int64 }

// New returns a watch; Run makes it work.
func New(c Config) *Watch {
	return &Watch{cfg: c, queue: make(chan room.ID, queueMax), rooms: make(map[room.ID]*known)}
}

// Seen makes Run check a room if places may have come near since the last check. The engine's sweep calls it
// about once a second for each room in use; it does not block. An empty view means that the room has changed.
func (w *Watch) Seen(id room.ID, v room.View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.rooms[id]
	switch {
	case v.Epoch != 0 && v.Waiting == 0:
		delete(w.rooms, id)
		return
	case k == nil:
		k = &known{looked: time.Now()}
		w.rooms[id] = k
	case k.queued || v.Epoch != 0 && !k.changed(v, w.cfg.Threshold, w.cfg.Rooms.Terms(id).Lease):
		return
	}
	select {
	case w.queue <- id:
		k.queued = true
	default:
	}
}

// changed reports whether a room may have places that are near and not recorded.
func (k *known) changed(v room.View, t Threshold, lease time.Duration) bool {
	return v.Epoch != k.epoch || v.Version != k.version || k.next != 0 && t.reached(v, k.next, lease)
}

// Run checks rooms until ctx ends; it returns ctx's error.
func (w *Watch) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error { return w.work(ctx) })
	}
	g.Go(func() error { return w.forget(ctx) })
	return g.Wait()
}

func (w *Watch) work(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case id := <-w.queue:
			bounded, cancel := context.WithTimeout(ctx, within)
			err := w.look(bounded, id)
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				w.cfg.Failed(err)
			}
		}
	}
}

// look records the places of a room that are near.
func (w *Watch) look(ctx context.Context, id room.ID) error {
	recorded := w.begin(id)
	r, err := w.cfg.Rooms.Head(ctx, id, Most)
	if err != nil {
		return err
	}
	near := w.nearIn(r, w.cfg.Rooms.Terms(id).Lease)
	found, err := w.wanted(ctx, near)
	if err != nil {
		return err
	}
	var fresh []ledger.NearPlace
	for _, p := range found {
		if !recorded[place{p.Ticket, p.JoinedAt}] {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) > 0 {
		if err := w.cfg.Record(ctx, id, fresh); err != nil {
			return err
		}
	}
	w.end(id, r, len(near), found)
	return nil
}

// wanted returns the places whose event is wanted.
func (w *Watch) wanted(ctx context.Context, near []ledger.NearPlace) ([]ledger.NearPlace, error) {
	if w.cfg.Wanted == nil || len(near) == 0 {
		return near, nil
	}
	sellers := make([]string, len(near))
	for i, p := range near {
		sellers[i] = p.Seller
	}
	wanted, err := w.cfg.Wanted(ctx, sellers)
	if err != nil {
		return nil, err
	}
	var found []ledger.NearPlace
	for i, p := range near {
		if wanted[i] {
			found = append(found, p)
		}
	}
	return found, nil
}

// nearIn returns the near places of a line, which are its first ones.
func (w *Watch) nearIn(r room.Roster, lease time.Duration) (found []ledger.NearPlace) {
	for i, waiter := range r.Line {
		if !w.cfg.Threshold.reached(r.View, i+1, lease) {
			break
		}
		p := ledger.NearPlace{Ticket: waiter.Ticket, Seller: waiter.Seller, JoinedAt: waiter.JoinedAt,
			Position: i + 1, At: r.Now}
		if waits, known := r.WaitsAt(i+1, r.Now, lease); known {
			seconds := room.Seconds(waits.Estimated)
			p.Wait = &seconds
		}
		found = append(found, p)
	}
	return found
}

// begin returns the recorded places of a room. Until end, the room counts as not checked.
func (w *Watch) begin(id room.ID) map[place]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.rooms[id]
	if k == nil {
		return nil
	}
	k.queued, k.epoch, k.version, k.looked = false, 0, 0, time.Now()
	return k.recorded
}

// end records the result of a check: how many places are near, and the recorded ones among them.
func (w *Watch) end(id room.ID, r room.Roster, near int, found []ledger.NearPlace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.rooms[id]
	if k == nil {
		return
	}
	if r.Waiting == 0 && !k.queued {
		delete(w.rooms, id)
		return
	}
	k.epoch, k.version, k.next = r.Epoch, r.Version, 0
	if near < len(r.Line) {
		k.next = near + 1
	}
	k.recorded = make(map[place]bool, len(found))
	for _, p := range found {
		k.recorded[place{p.Ticket, p.JoinedAt}] = true
	}
}

// forget drops rooms that only other replicas see.
func (w *Watch) forget(ctx context.Context) error {
	tick := time.NewTicker(forgotIn)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			w.mu.Lock()
			for id, k := range w.rooms {
				if !k.queued && now.Sub(k.looked) > forgotIn {
					delete(w.rooms, id)
				}
			}
			w.mu.Unlock()
		}
	}
}
