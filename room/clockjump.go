package room

import "time"

const (
	jumpLeast   = time.Second      // least jump that counts: drift and slewing are less
	lateMost    = 3 * time.Second  // longest delay of a call: callers give up sooner
	offsetsKept = 10 * time.Minute // how long an offset is kept after the last reply
)

// clockOffset bounds the offset from this process's monotonic time to Redis's clock, and has that clock's
// last jump.
//
// A lease that ends early because of a jump harms no seller, but the quarantine between two sellers' codes is
// then too short. The time in a reply was right at some instant between sending the call and reading the
// reply. If two replies contradict each other, the clock jumped in between by more than the calls took.
type clockOffset struct {
	least, most time.Duration
	ahead       int64     // Redis's time (unix ms) right after its last jump ahead; 0 = none lately
	noted       time.Time // when this process noticed that jump
	turned      time.Time // when it noticed the last jump in either direction
	at          time.Time // of the last reply
}

// observeTime records the time (unix ms) in a reply and returns how far Redis's clock has jumped since the
// last one.
//
// The jump is negative if the clock was set back, and 0 if it did not jump.
func (m *memory) observeTime(id ID, sent, read time.Time, redis int64) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Duration(redis) * time.Millisecond
	least, most := now-read.Sub(m.start), now+time.Millisecond-sent.Sub(m.start)
	r := m.of(m.server(id), read)
	if r.offset == nil {
		r.offset = &clockOffset{least: least, most: most, at: read}
		return 0
	}
	return r.offset.observe(least, most, sent, read, redis)
}

func (o *clockOffset) observe(least, most time.Duration, sent, read time.Time, redis int64) time.Duration {
	outside := least > o.most || most < o.least
	if outside && sent.Before(o.turned) { // a call from before the jump whose reply came after it
		return 0
	}
	ahead, back := least-o.most, o.least-most
	if outside {
		o.least, o.most = least, most
	}
	o.least, o.most, o.at = max(least, o.least), min(most, o.most), read
	switch {
	case ahead > jumpLeast:
		o.ahead, o.noted, o.turned = redis, read, read
		return ahead
	case back > jumpLeast:
		o.ahead, o.turned = min(o.ahead, redis), read // the clock may be back before its last jump ahead
		return -back
	}
	return 0
}

// latestTime returns the latest time (unix ms) of Redis's clock at which a call sent now may run. It is 0 if
// the offset is not known.
func (m *memory) latestTime(id ID, now time.Time) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.known(m.server(id)).offset
	if o == nil {
		return 0
	}
	return (o.most + now.Sub(m.start) + lateMost).Milliseconds()
}

// jumpedAhead returns Redis's time (unix ms) right after its last jump ahead; 0 if none was noticed within
// `kept`.
func (m *memory) jumpedAhead(id ID, kept time.Duration, now time.Time) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.known(m.server(id)).offset
	if o == nil || now.Sub(o.noted) > kept {
		return 0
	}
	return o.ahead
}
