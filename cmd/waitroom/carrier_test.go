package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"golang.org/x/sync/errgroup"
)

const smsSecret = "whsec_c2VjcmV0LW9mLXRoZS1jYXJyaWVyLTEyMzQ1Ng=="

// message is one SMS on its way.
type message struct {
	content
	room, id string
	body     string
	from, to int64  // the half-open time that it names as sent, unix ms; both 0 if it names none
	sent     int64  // when it was really sent
	cause    *cause // the hidden truth; nil if no seller asked for it
	ahead    int64  // by how much the carrier's clock was ahead, ms; negative = behind
	resent   bool   // an earlier text with a new id
	reused   bool   // its id came again with another text
	repeated bool   // it was posted more than once before it was answered

	asked, answered int64 // when it was first posted, and when the first answer came
	raw             string
	answer          answer
}

// cause is the origin of a code: a place, and the ask where it recorded one.
type cause struct {
	place *stay
	ask   *request
}

type answer struct {
	Result    string
	Reason    string
	Ticket    int64
	Fence     int64
	Duplicate bool
}

func (a answer) attributed() bool { return a.Result == "matched" || a.Result == "late" }

// route is how a message travels.
type route struct {
	replica int
	leases  int // how many leases later it arrives
	twins   bool
	again   bool // once more, a lease later
}

// carrier signs and posts messages, and checks that each is answered.
type carrier struct {
	fleet  *fleet
	signer *webhooks.Webhook
	count  atomic.Int64
	drift  float64 // where between its extremes the clock begins; negative if it does not drift

	mu       sync.Mutex
	messages []*message
	last     map[string]content // by room: the last with a code, in one piece
}

func newCarrier(f *fleet) (*carrier, error) {
	signer, err := webhooks.NewWebhook(smsSecret)
	return &carrier{fleet: f, signer: signer, drift: -1, last: map[string]content{}}, err
}

// ahead returns how far the carrier's clock is ahead (ms). It drifts slowly from a tenth of a quarantine
// behind to a fifteenth of it ahead, and back.
func (c *carrier) ahead(at time.Time) int64 {
	if c.drift < 0 {
		return 0
	}
	const period = 20 * time.Second
	turn := float64(at.UnixMilli()%period.Milliseconds())/float64(period.Milliseconds()) + c.drift
	behind, ahead := float64(quarantine.Milliseconds())/10, float64(quarantine.Milliseconds())/15
	return int64((ahead-behind)/2 + (ahead+behind)/2*math.Sin(2*math.Pi*turn))
}

// stamp is how a carrier gives the time.
type stamp int

const (
	milliseconds stamp = iota
	wholeSecond
	noTime
	clockAhead // it counts as now
)

// write makes a message with a new code that was sent at a time.
func (c *carrier) write(room string, at time.Time, how stamp) *message {
	return c.compose(room, c.codeContent(shops[0]), at, how)
}

func (c *carrier) compose(room string, l content, at time.Time, how stamp) *message {
	at = at.In(time.FixedZone("KST", 9*60*60)).Truncate(time.Millisecond)
	m := &message{content: l, room: room, id: fmt.Sprint("m-", c.count.Add(1)), sent: at.UnixMilli()}
	if how != noTime {
		m.ahead = c.ahead(at)
	}
	at = at.Add(time.Duration(m.ahead) * time.Millisecond)
	stamped := at.UnixMilli()
	if l.code != "" && l.parts == 0 {
		c.mu.Lock()
		c.last[room] = l
		c.mu.Unlock()
	}
	fields := map[string]any{"message_id": m.id, "from": l.sender, "text": l.text}
	if l.parts > 0 {
		fields["ref"], fields["part"], fields["parts"] = l.ref, l.part, l.parts
	}
	const inMilliseconds = "2006-01-02T15:04:05.000Z07:00"
	switch how {
	case milliseconds:
		m.from, m.to = stamped, stamped+1
		if stamped%1000 == 0 { // the carrier may have rounded
			m.to = stamped + 1000
		}
		fields["sent_at"] = at.Format(inMilliseconds)
	case wholeSecond:
		m.from = stamped - stamped%1000
		m.to = m.from + 1000
		fields["sent_at"] = at.Truncate(time.Second).Format(time.RFC3339)
	case clockAhead:
		at = at.Add(45 * time.Second)
		m.from, m.to = at.UnixMilli(), at.UnixMilli()+1
		fields["sent_at"] = at.Format(inMilliseconds)
	}
	m.body = encode(fields)
	return m
}

func encode(fields map[string]any) string {
	body, _ := json.Marshal(fields) // strings and numbers always marshal
	return string(body)
}

func (c *carrier) call(m *message) call {
	return call{method: http.MethodPost, path: "/api/" + m.room + "/sms", body: m.body,
		header: func() http.Header {
			now := time.Now()
			signature, _ := c.signer.Sign(m.id, now, []byte(m.body)) // an HMAC does not fail
			return http.Header{"Webhook-Id": {m.id}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
				"Webhook-Signature": {signature}}
		}}
}

// deliver brings a message by its route; pace is its room's. Every post of it must get the same answer.
func (c *carrier) deliver(ctx context.Context, m *message, by route, pace *pace) error {
	if err := pace.pass(ctx, by.leases); err != nil {
		return err
	}
	var both errgroup.Group
	replies := make([]reply, 1, 3)
	if by.twins {
		replies = replies[:2]
	}
	for i := range replies {
		both.Go(func() (err error) {
			replies[i], err = c.fleet.insist(ctx, by.replica+i, c.call(m))
			return err
		})
	}
	if err := both.Wait(); err != nil {
		return err
	}
	if by.again {
		if err := pace.pass(ctx, 1); err != nil {
			return err
		}
		r, err := c.fleet.insist(ctx, by.replica+2, c.call(m))
		if err != nil {
			return err
		}
		replies = append(replies, r)
	}
	return c.answered(m, replies)
}

// reuse posts another text under the id of an answered message: it gets that answer.
func (c *carrier) reuse(ctx context.Context, m *message) error {
	other := c.codeContent(shops[0])
	again := *m
	again.body = encode(map[string]any{"message_id": m.id, "from": other.sender, "text": other.text})
	m.reused = true
	r, err := c.fleet.insist(ctx, 0, c.call(&again))
	if err == nil && (r.status != http.StatusOK || r.body != m.raw) {
		err = fmt.Errorf("message %s in %s: %s, and another with its id %d %s", m.id, m.room, m.raw, r.status,
			r.body)
	}
	return err
}

func (c *carrier) answered(m *message, replies []reply) error {
	m.asked, m.answered, m.raw = replies[0].asked, replies[0].answered, replies[0].body
	for _, r := range replies {
		if r.status != http.StatusOK || r.body != m.raw {
			return fmt.Errorf("message %s in %s: %d %s, and another post of it %s", m.id, m.room, r.status, r.body,
				m.raw)
		}
		m.asked, m.answered = min(m.asked, r.asked), min(m.answered, r.answered)
		m.repeated = m.repeated || r.attempts > 1
	}
	m.repeated = m.repeated || len(replies) > 1
	if err := json.Unmarshal([]byte(m.raw), &m.answer); err != nil {
		return fmt.Errorf("message %s: %s: %w", m.id, m.raw, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(c.messages, m)
	return nil
}

// pace counts a room's leases as the sellers see them, for routes that wait for some to pass.
type pace struct {
	mu     sync.Mutex
	leases int
	over   bool
	moved  chan struct{}
}

func newPace() *pace { return &pace{moved: make(chan struct{})} }

func (p *pace) granted() { p.move(func() { p.leases++ }) }

// finish ends every wait.
func (p *pace) finish() { p.move(func() { p.over = true }) }

func (p *pace) move(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.moved)
	p.moved = make(chan struct{})
}

// pass waits until n more leases were granted, or there are no more.
func (p *pace) pass(ctx context.Context, n int) error {
	p.mu.Lock()
	until := p.leases + n
	for p.leases < until && !p.over {
		moved := p.moved
		p.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
		p.mu.Lock()
	}
	p.mu.Unlock()
	return nil
}
