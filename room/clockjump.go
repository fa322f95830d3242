package room

import "time"

const (
	jumpLeast   = time.Second      // clocks drift, and are slewed, by less
	lateMost    = 3 * time.Second  // no caller waits for the answer to a call that took longer on its way
	offsetsKept = 10 * time.Minute // an offset that was not renewed for so long says nothing
)

// clockOffset is by how much Redis's clock is ahead of this process's own time, and when that clock last jumped. A lease that ends early for a
// jump harms no seller, but the time between two sellers' codes is not kept then.
//
// What a reply says of Redis's time was true somewhere between the sending of the call and the reading of the reply. What two calls say cannot
// both be true where the clock jumped in between by more than they took.
type clockOffset struct {
	least, most time.Duration
	ahead       int64     // to what unix ms the clock jumped ahead; 0 = not lately
	noted       time.Time // when that was seen
	turned      time.Time // and when a jump either way was
	at          time.Time
}

// observeTime takes in what time (unix ms) the reply to a call named, and returns by how much Redis's clock jumped ahead since the call before. It
// is negative where the clock was set back, and 0 where it did not jump.
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
	if outside && sent.Before(o.turned) { // an answer from before the jump that was read after it
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
		o.ahead, o.turned = min(o.ahead, redis), read // a jump that was corrected lies ahead of no clock
		return -back
	}
	return 0
}

// latestTime returns what Redis's clock (unix ms) says at the most when a call that is sent now is answered in time; 0 where that is not known.
func (m *memory) latestTime(id ID, now time.Time) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.known(m.server(id)).offset
	if o == nil {
		return 0
	}
	return (o.most + now.Sub(m.start) + lateMost).Milliseconds()
}

// jumpedAhead returns when Redis's clock last jumped ahead (unix ms of that clock, right afterwards); 0 = not within kept.
func (m *memory) jumpedAhead(id ID, kept time.Duration, now time.Time) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.known(m.server(id)).offset
	if o == nil || now.Sub(o.noted) > kept {
		return 0
	}
	return o.ahead
}
