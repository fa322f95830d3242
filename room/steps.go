package room

import (
	"sync"
	"time"
)

const (
	stepLeast = time.Second      // clocks drift, and are slewed, by less
	lateMost  = 3 * time.Second  // nobody waits for the answer to a call that took longer on its way
	stepsKept = 10 * time.Minute // a reckoning that was not renewed for so long says nothing
)

// steps finds where Redis's clock was stepped. A lease that ends early for it harms nobody, but the time between two sellers' codes is not kept then.
//
// What a reply says of Redis's time was true somewhere between the sending of the call and the reading of the reply: what two calls say cannot both be true
// where the clock was stepped in between by more than they took. The shards of a cluster have clocks of their own, so there each room is reckoned alone.
type steps struct {
	each bool // room is reckoned alone

	mu     sync.Mutex
	start  time.Time // of this process's own time
	rooms  map[ID]*reckoning
	pruned time.Time
}

// reckoning is by how much Redis's time is ahead of this process's own, and when it was last found to have been stepped.
type reckoning struct {
	least, most time.Duration
	stepped     int64     // ahead, to what unix ms; 0 = not lately
	noted       time.Time // when that was seen
	turned      time.Time // and when a step either way was
	at          time.Time
}

func newSteps(each bool) *steps {
	now := time.Now()
	return &steps{each: each, start: now, rooms: make(map[ID]*reckoning), pruned: now}
}

func (s *steps) of(id ID) ID {
	if s.each {
		return id
	}
	return ""
}

// observe takes in what time (unix ms) the reply to a call named, and returns by how much Redis's clock was stepped ahead since the call before; it is negative
// where the clock was set back, and 0 where it was neither.
func (s *steps) observe(id ID, sent, read time.Time, redis int64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune(read)
	now := time.Duration(redis) * time.Millisecond
	least, most := now-read.Sub(s.start), now+time.Millisecond-sent.Sub(s.start)
	r := s.rooms[s.of(id)]
	if r == nil {
		s.rooms[s.of(id)] = &reckoning{least: least, most: most, at: read}
		return 0
	}
	outside := least > r.most || most < r.least
	if outside && sent.Before(r.turned) { // an answer from before the step that was read after it
		return 0
	}
	ahead, back := least-r.most, r.least-most
	if outside {
		r.least, r.most = least, most
	}
	r.least, r.most, r.at = max(least, r.least), min(most, r.most), read
	switch {
	case ahead > stepLeast:
		r.stepped, r.noted, r.turned = redis, read, read
		return ahead
	case back > stepLeast:
		r.stepped, r.turned = min(r.stepped, redis), read // a step that was corrected lies ahead of nobody
		return -back
	}
	return 0
}

// latest is what Redis's clock (unix ms) says at the most when a call that is sent now is answered in time; 0 where that is not known.
func (s *steps) latest(id ID, now time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[s.of(id)]
	if r == nil {
		return 0
	}
	return (r.most + now.Sub(s.start) + lateMost).Milliseconds()
}

// last is when Redis's clock was last stepped ahead (unix ms of that clock, right afterwards); 0 = not within kept.
func (s *steps) last(id ID, kept time.Duration, now time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[s.of(id)]
	if r == nil || now.Sub(r.noted) > kept {
		return 0
	}
	return r.stepped
}

func (s *steps) prune(now time.Time) {
	if now.Sub(s.pruned) < stepsKept {
		return
	}
	s.pruned = now
	for id, r := range s.rooms {
		if now.Sub(r.at) > stepsKept {
			delete(s.rooms, id)
		}
	}
}
