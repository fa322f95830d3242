package room

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

const (
	trustedFor  = 3000        // ms after an outage in which nobody is judged: as SETTLING in clock.lua
	outagesKept = time.Minute // a room that nobody has asked again in this long is not in anybody's way
)

// outages are when the store did not answer this process. Who was there then may have come elsewhere meanwhile, and nobody was able to say so. Of a cluster's shards
// some may be away while others are not, so there each room has its own.
type outages struct {
	each bool // room has its own

	mu     sync.Mutex
	rooms  map[ID]spell
	pruned time.Time
}

// spell is one of them.
type spell struct {
	ended int64     // unix ms of Redis's clock; lasting while the store has not answered since
	at    time.Time // when it was noted, by this process's clock
}

const lasting = math.MaxInt32 * int64(1000) * 1000

func newOutages(each bool) *outages { return &outages{each: each, rooms: make(map[ID]spell)} }

func (o *outages) of(id ID) ID {
	if o.each {
		return id
	}
	return ""
}

// failed notes a call that the store did not answer as it should.
func (o *outages) failed(id ID, err error) {
	if errors.Is(err, context.Canceled) {
		return // whoever asked has gone
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.prune(now)
	o.rooms[o.of(id)] = spell{lasting, now}
}

// answered notes an answer that was given then (unix ms).
func (o *outages) answered(id ID, now int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.rooms[o.of(id)]; ok && s.ended == lasting {
		o.rooms[o.of(id)] = spell{now, s.at}
	} else if ok && now-s.ended > trustedFor {
		delete(o.rooms, o.of(id))
	}
}

// end is when the room's last outage was over (unix ms); 0 = there was none lately.
func (o *outages) end(id ID) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rooms[o.of(id)].ended
}

// prune forgets rooms that nobody has asked since, now and then.
func (o *outages) prune(now time.Time) {
	if now.Sub(o.pruned) < outagesKept {
		return
	}
	o.pruned = now
	for id, s := range o.rooms {
		if now.Sub(s.at) > outagesKept {
			delete(o.rooms, id)
		}
	}
}
