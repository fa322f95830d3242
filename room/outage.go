package room

import (
	"context"
	"errors"
	"math"
	"sync"
)

// trustedFor is for how long nobody is judged after an outage (ms): as in prelude.lua.
const trustedFor = 3000

// outages are when the store did not answer this process. Who was there then may have come elsewhere meanwhile, and nobody was able to say so. Of a cluster's shards
// some may be away while others are not, so there each room has its own.
type outages struct {
	each bool // room has its own

	mu    sync.Mutex
	ended map[ID]int64 // unix ms of Redis's clock; lasting while the store has not answered since
}

const lasting = math.MaxInt32 * int64(1000) * 1000

func newOutages(each bool) *outages { return &outages{each: each, ended: make(map[ID]int64)} }

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
	o.ended[o.of(id)] = lasting
}

// answered notes an answer that was given then (unix ms), and forgets outages that are long over.
func (o *outages) answered(id ID, now int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.ended) == 0 {
		return
	}
	if o.ended[o.of(id)] == lasting {
		o.ended[o.of(id)] = now
	}
	for other, at := range o.ended {
		if at != lasting && now-at > trustedFor {
			delete(o.ended, other)
		}
	}
}

// end is when the room's last outage was over (unix ms); 0 = there was none lately.
func (o *outages) end(id ID) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended[o.of(id)]
}
