package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// stay is one place as a client saw it. Times that it cannot know to the millisecond are
// spans; both ends are possible.
type stay struct {
	room, session, seller string
	ticket                int64
	fence                 int64 // 0: it did not see itself holding the lock
	granted               span
	ended                 span
	outcome               string
	repeated              bool // the join was repeated: the first may have made a place that no client saw
	manner                manner
	requests              []*request // its asks, in order
}

// manner is how a simulated seller announces to the server that it asks the marketplace for codes.
type manner int

const (
	plain    manner = iota // announces nothing
	asks                   // joins with asks:true, and calls expect before each code
	calls                  // only calls expect
	promises               // only joins with asks:true
)

func (m manner) joinsAsking() bool { return m == asks || m == promises }

// request is one POST of expect, with its repeats after lost answers.
type request struct {
	span   // from its first attempt to its answer
	filter filter
	number int64 // of the ask in its lease; 0 if the answer had none
	until  int64 // the number was busy until then; 0 if it was not
	late   bool  // the lease was over, or was when the repeat came
	again  bool  // it was posted more than once
}

// span is a time between two, in unix ms.
type span struct{ from, to int64 }

func (s span) has(ms int64) bool      { return s.from <= ms && ms <= s.to }
func (s *span) narrow(from, to int64) { s.from, s.to = max(s.from, from), min(s.to, to) }

const lastMoment = 1 << 60

// party is the session as one seller: another seller that uses the session counts as another session.
func (p *stay) party() string { return p.session + "=" + p.seller }

func newStay(s *seller, name string) *stay {
	return &stay{room: s.room, session: s.session, seller: name, manner: s.manner(),
		granted: span{0, lastMoment}, ended: span{0, lastMoment}}
}

func (p *stay) joined(r reply, now standing) {
	p.ticket, p.repeated = now.Ticket, r.attempts > 1
	p.granted.from = r.asked
	p.locked(r, now)
}

// seen records a status answer. The answer about an ended place has no ticket.
func (p *stay) seen(r reply, now standing) error {
	if now.Ticket != p.ticket && (now.Status != "ended" || now.Ticket != 0) {
		return fmt.Errorf("ticket %d has become %d", p.ticket, now.Ticket)
	}
	p.locked(r, now)
	if now.Status != "ended" {
		return nil
	}
	if p.outcome != "" && p.outcome != now.Outcome {
		return fmt.Errorf("ticket %d: outcome %s has become %s", p.ticket, p.outcome, now.Outcome)
	}
	p.outcome = now.Outcome
	p.ended.narrow(p.granted.from, r.answered)
	p.granted.narrow(0, r.answered)
	if p.outcome == "expired" && p.fence != 0 {
		end := p.granted.from + leaseLength.Milliseconds()
		p.ended.narrow(end, end+p.manner.putOff())
	}
	return nil
}

// putOff returns by how much (ms) a busy number may extend a lease.
func (m manner) putOff() int64 {
	if m == asks || m == calls {
		return quarantine.Milliseconds()
	}
	return 0
}

// expires returns when the lease may end by itself, as the first answer that the number is busy left it.
func (p *stay) expires() span {
	end := p.granted.from + leaseLength.Milliseconds()
	for _, r := range p.requests {
		switch {
		case r.until != 0:
			return span{end + max(r.until-r.to, 0), end + r.until - r.from}
		case r.late || r.again: // a lost answer may have extended it
			return span{end, end + p.manner.putOff()}
		}
	}
	return span{end, end}
}

func (p *stay) locked(r reply, now standing) {
	if now.Status != "locked" {
		return
	}
	p.fence = now.Fence
	p.granted.narrow(now.GrantedAt.UnixMilli(), now.GrantedAt.UnixMilli())
	p.ended.narrow(max(r.lastAttempts, p.granted.from), now.ExpiresAt.UnixMilli()+p.manner.putOff())
}

// released records the answer to a DELETE. If an earlier answer was lost, the repeat finds no place.
func (p *stay) released(r reply) error {
	var left struct {
		Status, Outcome string
		Ticket, Fence   int64
		Already         bool // a message had completed the lease before
	}
	if r.status == http.StatusNotFound || r.status == http.StatusConflict { // it had ended before
		return nil
	}
	if err := json.Unmarshal([]byte(r.body), &left); err != nil || r.status != http.StatusOK ||
		left.Ticket != p.ticket {
		return fmt.Errorf("leave of ticket %d: %d %s", p.ticket, r.status, r.body)
	}
	p.outcome = left.Outcome
	if left.Fence != 0 {
		p.fence = left.Fence
		p.granted.narrow(0, r.answered)
	}
	if left.Already {
		r.asked = 0
	}
	p.ended.narrow(r.asked, r.answered)
	return nil
}

// book is what all clients saw.
type book struct {
	mu    sync.Mutex
	stays []*stay
}

func (b *book) add(p *stay) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stays = append(b.stays, p)
}

// leases counts the leases seen so far.
func (b *book) leases() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.stays {
		if p.fence != 0 {
			n++
		}
	}
	return n
}
