package room

import (
	"context"
	"errors"
	"math"
	"time"
)

const (
	outagesKept = time.Minute // age at which an outage is forgotten
)

// outage is the last time in which a server did not answer this process. Meanwhile a browser may have moved
// to another replica, which could not record that in Redis.
type outage struct {
	ended int64     // unix ms of Redis's clock; `lasting` until the server answers
	noted time.Time // last failure, by this process's clock
}

const lasting = math.MaxInt32 * int64(1000) * 1000

// failed records a call that Redis did not answer, or answered with an error.
func (m *memory) failed(id ID, err error) {
	if errors.Is(err, context.Canceled) {
		return // the caller gave up
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.of(m.server(id), now).outage = outage{lasting, now}
}

// answered records the time (unix ms) of an answer of Redis.
func (m *memory) answered(id ID, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rooms[m.server(id)]
	switch {
	case r == nil || r.outage == (outage{}):
	case r.outage.ended == lasting:
		r.outage.ended = now
	case now-r.outage.ended > settling.Milliseconds():
		r.outage = outage{}
	}
}

// outageEnd returns when the last outage of the room's server ended (unix ms); 0 if there was none lately.
func (m *memory) outageEnd(id ID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known(m.server(id)).outage.ended
}
