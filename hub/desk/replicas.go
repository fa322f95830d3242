package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/hub/frame"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

const (
	silentProbes = 3               // a replica without an announcement for so many probes is gone
	countsEvery  = 2 * time.Second // counts that change are sent no more often
)

// replica is the state of a replica, as it is published.
type replica struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Sockets   int    `json:"sockets"`
	Rooms     int    `json:"rooms"`
	Watchers  int    `json:"watchers"`
	Store     string `json:"store"`  // ok, stale
	Ledger    string `json:"ledger"` // ok, behind
	Draining  bool   `json:"draining"`
	StartedAt int64  `json:"started_at"` // unix ms
	// names of settings that are others in another replica, with commas
	Differing string `json:"differing,omitempty"`
}

// uncounted returns the state without its numbers of sockets, rooms and watchers. A change of the rest is
// sent at once.
func (r replica) uncounted() replica {
	r.Sockets, r.Rooms, r.Watchers = 0, 0, 0
	return r
}

// replicas are the states of all replicas for support.
type replicas struct {
	d       *Desk
	id      string
	started int64

	mu        sync.Mutex
	watched   bool
	list      map[string]replica
	heard     map[string]time.Time
	sent      []replica
	sentAt    time.Time
	lastFrame []byte // the frame with sent
}

func newReplicas(d *Desk) *replicas {
	return &replicas{d: d, id: uuid.NewString(), started: time.Now().UnixMilli(),
		list: make(map[string]replica), heard: make(map[string]time.Time)}
}

// own returns this replica's state.
func (r *replicas) own() replica {
	s := r.d.Host.Status()
	me := replica{ID: r.id, Name: r.d.Name, Sockets: s.Sockets, Rooms: s.Rooms, Watchers: r.d.sockets.count(),
		Store: "ok", Ledger: "ok",
		Draining: s.Draining, StartedAt: r.started, Differing: r.d.Differing()}
	if s.Stale {
		me.Store = "stale"
	}
	if r.d.Behind() {
		me.Ledger = "behind"
	}
	return me
}

// announce publishes this replica's state.
func (r *replicas) announce(ctx context.Context) {
	text, err := json.Marshal(r.own())
	if err == nil {
		err = room.MasterOf(ctx, r.d.Redis, r.d.announced).Publish(ctx, r.d.announced, text).Err()
	}
	if err != nil {
		r.d.Host.Failed(ctx, "replica not announced", "", err)
	}
}

// follow subscribes to the other replicas while an agent watches.
func (r *replicas) follow() {
	r.turn()
	r.send()
}

func (r *replicas) turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	on := r.d.sockets.count() > 0
	if on == r.watched {
		return
	}
	r.watched = on
	clear(r.list)
	clear(r.heard)
	r.sent, r.lastFrame = nil, nil
	if on {
		r.d.Sub.Channels.Add(r.d.announced)
	} else {
		r.d.Sub.Channels.Remove(r.d.announced)
	}
}

// message handles a replica's announcement.
func (r *replicas) message(payload string) {
	var one replica
	if err := json.Unmarshal([]byte(payload), &one); err != nil || one.ID == "" {
		r.d.Log.Error("replica not understood", "bytes", len(payload))
		return
	}
	r.mu.Lock()
	r.list[one.ID], r.heard[one.ID] = one, time.Now()
	r.mu.Unlock()
	r.send()
}

// sift removes replicas that have been silent for too long, if this replica has received its own announcement
// since. Otherwise this replica may be the one that receives nothing.
func (r *replicas) sift() {
	r.mu.Lock()
	now := r.heard[r.id]
	for id, at := range r.heard {
		if now.Sub(at) > silentProbes*r.d.Probe {
			delete(r.list, id)
			delete(r.heard, id)
		}
	}
	r.mu.Unlock()
	r.send()
}

// send sends every watcher what has changed.
func (r *replicas) send() {
	me := r.own()
	r.mu.Lock()
	if !r.watched {
		r.mu.Unlock()
		return
	}
	r.list[r.id] = me
	list := make([]replica, 0, len(r.list))
	for _, one := range r.list {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b replica) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt),
			cmp.Compare(a.ID, b.ID))
	})
	changed := r.worthSending(list)
	if changed {
		r.sent, r.sentAt = list, time.Now()
		b := frame.JSON(append(socket.Blank(1024), `{"type":"replicas","list":`...), list)
		r.lastFrame = socket.Text(append(b, '}'))
	}
	r.mu.Unlock()
	if changed {
		r.d.sockets.mark(dueReplicas)
	}
}

func (r *replicas) worthSending(list []replica) bool {
	if slices.Equal(list, r.sent) {
		return false
	}
	same := slices.EqualFunc(list, r.sent, func(a, b replica) bool { return a.uncounted() == b.uncounted() })
	return !same || time.Since(r.sentAt) >= countsEvery
}

// frame returns the latest frame; nil before the first.
func (r *replicas) frame() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastFrame
}
