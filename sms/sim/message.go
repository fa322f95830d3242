package sim

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/smstext"
	"github.com/waitroom/waitroom/sms"
)

// The senders.
const (
	marketplace = "15881234"
	stranger    = "15447788"
)

// message is an SMS in transit, with its true cause.
type message struct {
	of     *seller // seller whose press caused it; nil = an advert, or a false code
	from   string
	text   string
	sent   int64
	repeat bool   // a second copy, or the same code in other words
	forged bool   // a false code from a personal number
	number string // of an advert: taken for a code, whatever the finder thinks of it; "" = the finder decides
	id     string
}

// send makes the marketplace send a code, or lose it.
func (s *shift) send(g *seller) {
	if g.code == "" || !s.chance(s.SameCode) {
		g.code = s.number(s.Digits)
	}
	m := message{of: g, from: marketplace, text: codeText(g.code)}
	delay, lost := s.delay()
	if lost {
		return
	}
	s.carry(m, delay)
	m.repeat = true
	if s.chance(s.Resent) {
		s.carry(m, delay+s.between(5, 60))
	}
	if s.chance(s.SentTwice) {
		s.deliver(m, s.now+delay, delay+s.between(1, 30))
	}
	if s.chance(s.Dressed) {
		m.from, m.text = s.dress(g.code)
		s.carry(m, delay+s.between(0, 20))
	}
}

// delay returns the time from a press until the code is sent.
func (s *shift) delay() (ms int64, lost bool) {
	switch u := s.r.Float64(); {
	case u < s.Lost:
		return 0, true
	case u < s.Lost+s.Slow:
		return s.Slowly.draw(s.r), false
	}
	return s.Quick.draw(s.r), false
}

// carry sends a message after a delay, and delivers it a little later.
func (s *shift) carry(m message, delay int64) { s.deliver(m, s.now+delay, delay) }

// deliver delivers a message that was sent at a time; it is on its way until a little after the delay.
func (s *shift) deliver(m message, sent, delay int64) {
	m.sent = sent
	s.after(delay+s.Transit.draw(s.r), func(ctx context.Context) error { return s.arrive(ctx, m) })
}

func (s *shift) number(digits int) string {
	b := make([]byte, digits)
	for i := range b {
		b[i] = byte('0' + s.r.IntN(10))
	}
	return string(b)
}

// arrive delivers a message to the engine, counts the result and acts on it.
func (s *shift) arrive(ctx context.Context, m message) error {
	s.messages++
	m.id = fmt.Sprintf("m%d", s.messages)
	q, ok := s.request(m)
	match, err := s.engine.Match(ctx, integration, q)
	s.counts.Calls++
	if err != nil {
		return fmt.Errorf("match: %w", err)
	}
	if match.Result == room.Unmatched {
		if !ok {
			return nil
		}
		s.counts.unmatched(m, match.Reason)
		return s.offer(ctx, m)
	}
	return s.settle(ctx, m, match, ok, false)
}

// request returns what the service makes of a message for the engine, and whether it has a code that counts.
// The room has no list of senders, so the code of a personal number does not.
func (s *shift) request(m message) (q room.MatchRequest, ok bool) {
	q = room.MatchRequest{MessageID: m.id, Sender: m.from, Guard: s.Guard, Keep: s.Keep,
		Shown: room.Message{Text: m.text, ReceivedAt: s.now},
		Note:  room.MessageNote{MessageID: m.id, From: m.from, Received: s.now}}
	q.From, q.To = s.window(m.sent)
	found, ok := sms.FindCode(m.text)
	code := m.number
	if ok {
		code = found.Reveal()
	}
	if code != "" {
		q.Shown.Code = &code
	}
	q.Personal = smstext.Personal(m.from)
	return q, code != "" && !q.Personal
}

// settle agrees to a match or a claim, counts the code and acts on it.
func (s *shift) settle(ctx context.Context, m message, match room.Match, code, claimed bool) error {
	if match.Judge {
		s.counts.Calls++
		if err := s.engine.SettleMatch(ctx, integration, m.id, match.Fence, true); err != nil {
			return fmt.Errorf("settle: %w", err)
		}
	}
	if code || match.Completes {
		s.judge(m, match, claimed)
	}
	if match.Completes {
		return s.join(ctx) // its answer has the next lease
	}
	return nil
}
