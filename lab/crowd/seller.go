package crowd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// kind is how a seller behaves.
type kind int

const (
	steady kind = iota
	impatient
	sleeping
	reloading
	tabbed
	forgetful
)

const giveUp = 10 * time.Second // how long a holder waits for its code

// seller is one session that joins, waits, has its turn, rests and joins again. Its one goroutine reads the
// socket until the next action is due.
type seller struct {
	line
	kind  kind
	name  string
	start time.Duration
	extra []*line // more pages

	due  time.Time // when to do
	todo func(context.Context)

	last    State // what it acted upon last
	version int64 // from which on news is news: that of its last join
	epoch   int64
	asks    int
	codes   map[string]bool // that it was sent
}

func (s *seller) plan(after time.Duration, f func(context.Context)) {
	s.due, s.todo = time.Now().Add(after), f
}

// about returns a random duration between half and one and a half of d.
func (s *seller) about(d time.Duration) time.Duration {
	return d/2 + time.Duration(s.rng.Int64N(int64(d)+1))
}

func (s *seller) run(ctx context.Context) {
	defer s.drop()
	if !pause(ctx, s.start) {
		return
	}
	s.join(ctx)
	for _, tab := range s.extra {
		s.c.people.Go(func() { tab.tab(ctx) })
	}
	for ctx.Err() == nil {
		if s.sock == nil && !s.connect(ctx) {
			return
		}
		n, err := s.next(ctx, s.due)
		switch {
		case errors.Is(err, ErrTimeout):
			s.act(ctx)
		case forGood(err):
			return
		case err != nil:
			pause(ctx, time.Duration(s.rng.Int64N(int64(firstBackoff))))
		case n.kind == kindSMS:
			if !s.codes[n.sms.Code] {
				s.hall.model.Violate(WrongCode, "message %s is shown to %s, who did not ask for it", n.sms.MessageID,
					s.name)
			}
		default:
			s.react(n.state)
		}
	}
}

func (s *seller) act(ctx context.Context) {
	if f := s.todo; f != nil && ctx.Err() == nil && !time.Now().Before(s.due) {
		s.todo, s.due = nil, time.Time{}
		f(ctx)
	}
}

// react handles a new state: a place in line, a turn, an end.
func (s *seller) react(now State) {
	if now.Epoch == s.epoch && now.Version < s.version {
		return // of before its last join
	}
	before := s.last
	s.last = now
	if now.ClaimBy != 0 && now.Fence != before.Fence {
		_, _ = s.ask("/lock/claim", fmt.Sprintf(`{"fence":%d}`, now.Fence), "")
	}
	if now.Status == before.Status && now.Ticket == before.Ticket && now.Fence == before.Fence {
		return
	}
	switch now.Status {
	case "waiting":
		s.wait()
	case "locked":
		s.turn()
	case "ended", "idle":
		s.plan(s.about(s.c.cfg.Rest), s.join)
	}
}

// wait plans what a waiter does before its turn.
func (s *seller) wait() {
	s.due, s.todo = time.Time{}, nil
	while := s.about(5 * s.c.cfg.Hold)
	switch s.kind {
	case impatient:
		s.plan(while, s.leave)
	case sleeping:
		s.plan(while, s.sleep)
	case reloading:
		s.plan(while, s.reload)
	}
}

// turn plans what the holder does in its turn.
func (s *seller) turn() {
	s.asks = 0
	switch {
	case s.kind == forgetful:
		s.due, s.todo = time.Time{}, nil
	case s.c.carrier.works():
		s.plan(s.about(s.c.cfg.Hold/4), s.expect)
	default:
		s.plan(s.about(s.c.cfg.Hold), s.done)
	}
}

// join calls POST /lock until there is an answer, as a press of the button 준비 완료 ("ready").
func (s *seller) join(ctx context.Context) {
	body := fmt.Sprintf(`{"seller_id":%q,"asks":%t}`, s.name, s.c.carrier.signer != nil)
	got, err := s.ask("/lock", body, "")
	if err == nil && got.status <= http.StatusAccepted {
		now := got.state()
		s.epoch, s.version, s.last = now.Epoch, now.Version, State{}
		s.hall.model.Joined(s.session, now, time.Now())
		s.c.stats.joined(got.took)
		s.react(now)
		return
	}
	s.refused("join", got, err)
	s.plan(max(got.after, s.about(500*time.Millisecond)), s.join)
	if s.sock == nil && pause(ctx, time.Until(s.due)) { // it has not come in yet
		s.todo, s.due = nil, time.Time{}
		s.join(ctx)
	}
}

// leave gives up the place in line.
func (s *seller) leave(context.Context) { s.release("cancelled", 0) }

// done ends the turn as completed.
func (s *seller) done(context.Context) { s.release("completed", s.last.Fence) }

// cancel ends the turn as cancelled.
func (s *seller) cancel(context.Context) { s.release("cancelled", s.last.Fence) }

func (s *seller) release(reason string, fence int64) {
	path := "/lock?reason=" + reason
	if fence != 0 {
		path += fmt.Sprint("&fence=", fence)
		s.hall.released(fence, time.Now())
	}
	got, err := s.c.api.do(s.base(), call{method: http.MethodDelete, path: "/api/" + s.hall.id + path,
		session: s.session})
	if err == nil && got.status == http.StatusOK {
		s.hall.model.Answered(s.session, got.state(), time.Now())
		s.react(got.state())
		return
	}
	if err == nil && (got.Code == "no_place" || got.Code == "stale_fence") {
		return // it has ended already, as the socket shows
	}
	s.refused("leave", got, err)
	s.plan(s.about(500*time.Millisecond), func(context.Context) { s.release(reason, fence) })
}

// sleep closes the socket for a while, like a phone in a pocket.
func (s *seller) sleep(ctx context.Context) {
	s.drop()
	pause(ctx, s.about(s.c.cfg.nap()))
	s.wait()
}

// reload opens the page again and joins again: the place stays the same.
func (s *seller) reload(ctx context.Context) {
	s.drop()
	if !s.connect(ctx) {
		return
	}
	s.wait()
	if s.last.Status != "waiting" || s.last.Position < 4 {
		return // its turn may come while it presses, and then the place may rightly be another
	}
	got, err := s.ask("/lock", fmt.Sprintf(`{"seller_id":%q}`, s.name), "")
	if err != nil || got.status > http.StatusAccepted {
		s.refused("press again", got, err)
		return
	}
	s.hall.model.Joined(s.session, got.state(), time.Now())
}

// expect announces an ask for a code, which the carrier then sends.
func (s *seller) expect(context.Context) {
	fence := s.last.Fence
	s.asks++
	got, err := s.ask("/lock/expect", fmt.Sprintf(`{"fence":%d,"from":[%q]}`, fence, carrierSender),
		fmt.Sprint(fence, "-", s.asks))
	switch {
	case err == nil && got.status == http.StatusOK:
		code, delay := s.c.code(), s.about(s.c.cfg.Carrier.Delay)
		s.codes[code] = true
		s.c.carrier.send(s.hall, fence, code, delay)
		s.plan(delay+giveUp, s.cancel)
	case err == nil && got.Code == "number_busy":
		s.c.stats.busy()
		after := got.after
		if got.AskAfter != nil {
			after = got.AskAfter.Sub(s.c.redisNow())
		}
		s.plan(max(after, 0)+10*time.Millisecond, s.expect)
	case err == nil && (got.Code == "no_place" || got.Code == "stale_fence"):
	default:
		s.refused("expect", got, err)
		s.plan(s.about(500*time.Millisecond), s.expect)
	}
}

// ask sends a POST of this session.
func (s *seller) ask(path, body, key string) (answer, error) {
	return s.c.api.do(s.base(), call{method: http.MethodPost, path: "/api/" + s.hall.id + path, body: body,
		session: s.session, key: key})
}

func (s *seller) refused(what string, got answer, err error) {
	if err != nil {
		s.c.stats.failed(what + ": " + briefly(err))
		return
	}
	s.c.stats.failed(fmt.Sprintf("%s: %d %s", what, got.status, got.Code))
}

// standing asks the server for the session's state, for the audit at the end.
func (s *seller) standing() error {
	var last error
	for try := range 10 {
		got, err := s.c.api.do(s.base(), call{method: http.MethodGet, path: "/api/" + s.hall.id + "/lock/status",
			session: s.session})
		if err == nil && got.status == http.StatusOK {
			s.hall.model.Answered(s.session, got.mine(), time.Now())
			return nil
		}
		if last = err; err == nil {
			last = fmt.Errorf("%d %s", got.status, got.Code)
		}
		time.Sleep(time.Duration(try+1) * 50 * time.Millisecond)
	}
	return last
}
