package room

import (
	"context"
	"errors"
	"math"
	"time"
)

const (
	trustedFor  = 3000        // ms after an outage in which no session counts as gone: as SETTLING in clock.lua
	outagesKept = time.Minute // the outage of a server that no call has met for so long concerns no call
)

// outage is when a server did not answer this process. A browser may have moved to another replica meanwhile, which could not say so.
type outage struct {
	ended int64     // unix ms of Redis's clock; lasting while the server has not answered since
	noted time.Time // by this process's clock
}

const lasting = math.MaxInt32 * int64(1000) * 1000

// failed notes a call that Redis did not answer as it should.
func (m *memory) failed(id ID, err error) {
	if errors.Is(err, context.Canceled) {
		return // the caller gave up
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.of(m.server(id), now).outage = outage{lasting, now}
}

// answered notes an answer that Redis gave then (unix ms).
func (m *memory) answered(id ID, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rooms[m.server(id)]
	switch {
	case r == nil || r.outage == (outage{}):
	case r.outage.ended == lasting:
		r.outage.ended = now
	case now-r.outage.ended > trustedFor:
		r.outage = outage{}
	}
}

// outageEnd returns when the last outage of the room's server was over (unix ms); 0 = there was none lately.
func (m *memory) outageEnd(id ID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known(m.server(id)).outage.ended
}
