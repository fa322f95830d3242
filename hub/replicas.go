package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/waitroom/waitroom/hub/socket"
)

const (
	silentProbes = 3               // a replica that said nothing for so many probes is gone
	countsEvery  = 2 * time.Second // counts that change are told no more often
)

// replica is how a replica is.
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
}

// uncounted is what of it is told at once.
func (r replica) uncounted() replica {
	r.Sockets, r.Rooms, r.Watchers = 0, 0, 0
	return r
}

// replicas is what support is told of the replicas.
type replicas struct {
	h       *Hub
	id      string
	started int64

	mu       sync.Mutex
	watched  bool
	list     map[string]replica
	heard    map[string]time.Time
	told     []replica
	toldAt   time.Time
	toldText []byte // the frame
}

func newReplicas(h *Hub) *replicas {
	return &replicas{h: h, id: uuid.NewString(), started: time.Now().UnixMilli(), list: make(map[string]replica), heard: make(map[string]time.Time)}
}

// own is how this replica is.
func (r *replicas) own() replica {
	h := r.h
	me := replica{ID: r.id, Name: h.cfg.Name, Sockets: int(h.sockets.Load()), Watchers: h.desks.count(), Store: "ok", Ledger: "ok",
		Draining: h.draining.Load(), StartedAt: r.started}
	h.mu.RLock()
	me.Rooms = len(h.halls)
	h.mu.RUnlock()
	if !h.Fresh() {
		me.Store = "stale"
	}
	if h.cfg.Behind() {
		me.Ledger = "behind"
	}
	return me
}

// announce says how this replica is.
func (r *replicas) announce(ctx context.Context) {
	text, err := json.Marshal(r.own())
	if err == nil {
		err = r.h.cfg.Redis.Publish(ctx, r.h.channels.replicas, text).Err()
	}
	if err != nil {
		r.h.failed(ctx, "replica not announced", "", err)
	}
}

// follow follows the others while there is somebody to tell.
func (r *replicas) follow() {
	r.turn()
	r.tell()
}

func (r *replicas) turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	on := r.h.desks.count() > 0
	if on == r.watched {
		return
	}
	r.watched = on
	clear(r.list)
	clear(r.heard)
	r.told, r.toldText = nil, nil
	if on {
		r.h.sub.Channels.Add(r.h.channels.replicas)
	} else {
		r.h.sub.Channels.Remove(r.h.channels.replicas)
	}
}

// message takes what a replica says of itself.
func (r *replicas) message(payload string) {
	var one replica
	if err := json.Unmarshal([]byte(payload), &one); err != nil || one.ID == "" {
		r.h.log.Error("replica not understood", "bytes", len(payload))
		return
	}
	r.mu.Lock()
	r.list[one.ID], r.heard[one.ID] = one, time.Now()
	r.mu.Unlock()
	r.tell()
}

// sift takes off who was silent for too long when we heard ourselves last: while we do not hear that, it is we who are deaf.
func (r *replicas) sift() {
	r.mu.Lock()
	now := r.heard[r.id]
	for id, at := range r.heard {
		if now.Sub(at) > silentProbes*r.h.cfg.Probe {
			delete(r.list, id)
			delete(r.heard, id)
		}
	}
	r.mu.Unlock()
	r.tell()
}

// tell tells everybody what changed.
func (r *replicas) tell() {
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
	slices.SortFunc(list, func(a, b replica) int { return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.ID, b.ID)) })
	changed := r.worthTelling(list)
	if changed {
		r.told, r.toldAt = list, time.Now()
		b := appendJSON(append(socket.Blank(1024), `{"type":"replicas","list":`...), list)
		r.toldText = socket.Text(append(b, '}'))
	}
	r.mu.Unlock()
	if changed {
		r.h.desks.mark(dueReplicas)
	}
}

func (r *replicas) worthTelling(list []replica) bool {
	if slices.Equal(list, r.told) {
		return false
	}
	same := slices.EqualFunc(list, r.told, func(a, b replica) bool { return a.uncounted() == b.uncounted() })
	return !same || time.Since(r.toldAt) >= countsEvery
}

// frame is what was told last; nil before anything was.
func (r *replicas) frame() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.toldText
}
