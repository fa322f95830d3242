package sim

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
)

// The senders.
const (
	marketplace = "15881234"
	stranger    = "15447788"
)

// message is an SMS in transit, with its true cause.
type message struct {
	of     *seller // seller whose press caused it; nil = an advert
	from   string
	text   string
	sent   int64
	repeat bool // the carrier's second copy
	id     string
}

// send makes the marketplace send a code, or lose it.
func (s *shift) send(g *seller) {
	if g.code == "" || !s.chance(s.SameCode) {
		g.code = s.number(s.Digits)
	}
	m := message{of: g, from: marketplace, text: fmt.Sprintf("[마켓] 인증번호는 [%s]입니다. 3분 안에 입력해 주세요.", g.code)}
	delay, lost := s.delay()
	if lost {
		return
	}
	s.carry(m, delay)
	if s.chance(s.Resent) {
		m.repeat = true
		s.carry(m, delay+s.between(5, 60))
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
func (s *shift) carry(m message, delay int64) {
	m.sent = s.now + delay
	s.after(delay+s.Transit.draw(s.r), func(ctx context.Context) error { return s.arrive(ctx, m) })
}

func (s *shift) nextAdvert() {
	if s.Adverts == 0 {
		return
	}
	s.after(int64(s.r.ExpFloat64()*3_600_000/s.Adverts), func(context.Context) error {
		m := message{from: stranger, text: "(광고) 오늘만 전 상품 무료배송! 무료수신거부 080"}
		if s.chance(s.AdvertsSame) {
			m.from = marketplace
		}
		if s.chance(s.AdvertsNumber) {
			m.text = fmt.Sprintf("(광고) 쿠폰번호 %s 를 입력하면 무료배송!", s.number(6))
		}
		s.carry(m, 0)
		s.nextAdvert()
		return nil
	})
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
	q := room.MatchRequest{MessageID: m.id, Sender: m.from, Guard: s.Guard, Keep: s.Keep,
		Shown: room.Message{Text: m.text, ReceivedAt: s.now},
		Note:  room.MessageNote{MessageID: m.id, From: m.from, Received: s.now}}
	q.From, q.To = s.window(m.sent)
	found, ok := sms.FindCode(m.text)
	if ok {
		code := found.Reveal()
		q.Shown.Code = &code
	}
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

// settle agrees to a match or a claim, counts the code and acts on it.
func (s *shift) settle(ctx context.Context, m message, match room.Match, code, claimed bool) error {
	if match.Judge {
		s.counts.Calls++
		if err := s.engine.SettleMatch(ctx, integration, m.id, match.Fence, true); err != nil {
			return fmt.Errorf("settle: %w", err)
		}
	}
	if code {
		s.judge(m, match, claimed)
	}
	if match.Completes {
		return s.join(ctx) // its answer has the next lease
	}
	return nil
}

// judge counts which lease got a code, and makes its seller act.
func (s *shift) judge(m message, match room.Match, claimed bool) {
	to := s.sellers[match.Ticket]
	live := to == s.holder && match.Result == room.Matched
	if to != m.of {
		cause := Claimed
		if !claimed {
			cause = s.cause(m)
		}
		s.counts.wrong(cause, live)
		to.foreign++
		to.robbed = to.robbed || live && match.Completes
	} else {
		s.counts.own(m, live, to.verified)
		if m.repeat {
			to.repeated++
		}
		if live && !to.verified {
			to.verified = true
			if !match.Completes {
				s.after(s.EnterCode.Milliseconds(),
					func(ctx context.Context) error { return s.leave(ctx, to, room.Completed) })
			}
		}
	}
	by := s.now // a claim answers a later ask
	if _, end := s.window(m.sent); end != 0 && !claimed {
		by = min(end-1+s.Guard.Milliseconds(), s.now) // any ask within the window may have come earlier
	}
	to.answer(by)
	if s.texts[m.text].to != to {
		s.texts[m.text] = carried{to, s.now}
	}
}

// cause returns why a code went to the wrong lease. An ask that is open must prevent that, and so must an ask
// that only its own codes answered.
func (s *shift) cause(m message) Cause {
	if m.of == nil {
		return Advert
	}
	sent := s.sentBy(m)
	at, ok := m.of.lastAsked(sent, false)
	open, isOpen := m.of.lastAsked(sent, true)
	first, known := s.texts[m.text]
	switch {
	case !ok:
		return Unasked
	case sent-at >= s.promised():
		return SentLate
	case known && first.to != m.of && s.now-first.at < 10*60*1000:
		return Twin
	case isOpen && sent-open < s.promised():
		return Broken
	case m.of.foreign > 0:
		return Displaced
	case m.of.repeated > 0:
		return Repeat
	}
	return Broken
}

// sentBy returns when a message was sent at the latest, as far as the rules can know.
func (s *shift) sentBy(m message) int64 {
	if s.Stamp == Unstamped {
		return s.now
	}
	return m.sent
}
