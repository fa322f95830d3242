package sim

import (
	"context"

	"github.com/waitroom/waitroom/room"
)

// judge counts which lease got a code, and makes its seller act.
func (s *shift) judge(m message, match room.Match, claimed bool) {
	to := s.sellers[match.Ticket]
	live := to == s.holder && match.Result == room.Matched
	if to != m.of {
		s.counts.wrong(s.cause(m, claimed), live)
		to.foreign++
		to.robbed = to.robbed || live && match.Completes
	} else {
		s.own(m, to, match, live)
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

// own counts a code that its own lease got.
func (s *shift) own(m message, to *seller, match room.Match, live bool) {
	s.counts.own(live, to.verified, to.got)
	to.got = true
	if m.repeat {
		to.repeated++
	}
	if !live || to.verified {
		return
	}
	to.verified = true
	if !match.Completes {
		s.after(s.EnterCode.Milliseconds(),
			func(ctx context.Context) error { return s.leave(ctx, to, room.Completed) })
	}
}

// cause returns why a code went to the wrong lease. An ask that is open must prevent that until a quarantine
// after its lease, and so must an ask that only its own code answered.
func (s *shift) cause(m message, claimed bool) Cause {
	switch {
	case m.forged:
		return Forged
	case m.of == nil:
		return Advert
	case claimed:
		return Claimed
	case m.repeat && m.of.got:
		return Copy
	case m.of.ended != 0 && s.sentBy(m)-m.of.ended >= s.promised():
		return SentLate
	}
	first, known := s.texts[m.text]
	_, asked := m.of.lastAsked(s.sentBy(m), false)
	_, open := m.of.lastAsked(s.sentBy(m), true)
	switch {
	case known && first.to != m.of && s.now-first.at < 10*60*1000:
		return Twin
	case open:
		return Broken
	case !asked || m.of.unasked:
		return Unasked
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
