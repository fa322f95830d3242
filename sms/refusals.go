package sms

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/waitroom/waitroom/room"
)

const (
	refusalsEvery  = 10 * time.Second // between reports to support, for a room and code
	refusalsAtOnce = 100              // counted rooms and codes: anyone may post messages that are refused
	refusalsWithin = 5 * time.Second
)

// BodyTooLarge is the code of a message that is refused before it reaches the service.
const BodyTooLarge = "body_too_large"

// refusals reports refused messages to support, since carriers do not repeat a message after a 4xx. It
// reports the first at once, and later ones together. Reports contain nothing of the request, whose sender is
// not known.
type refusals struct {
	report func(ctx context.Context, id room.ID, subject, detail string) error

	mu     sync.Mutex
	counts map[refusal]*count
}

type refusal struct {
	room room.ID
	code string
}

// count is the refused messages that are not reported yet.
type count struct {
	messages int
	detail   string // of the last one
}

// remedies are what to do about a message that was refused before it reached the service, by its code.
var remedies = map[string]string{
	"unknown_room":   "The address names a room that does not exist",
	"unknown_source": "The address names a source that is not set up",
	"not_found": "The address is none: /api/ROOM/sms/NAME is one, or /api/sms/NAME, in small letters and " +
		"without a slash at the end",
	"method_not_allowed": "Messages are taken by POST alone: set the provider to POST; one that can only send " +
		"by GET can not be a source",
	"wrong_host": "It was sent to another host name than the one of WAITROOM_PUBLIC_URL",
}

// Refused counts and reports a message that was refused before it reached the service, by its code. source is
// the one that its address names; "" = none that is set up. Without a room, only the log has the report.
func (s *Service) Refused(id room.ID, source, code string) {
	s.metrics.answers.WithLabelValues(code).Inc()
	s.arrived(Arrival{Source: source, Room: id, Refused: true, Outcome: code, Detail: remedies[code]})
	s.refusals.add(refusal{id, code}, remedies[code])
}

// Codes of refusals that the service makes itself.
const (
	badSignature = "bad_signature"
	failed       = "failed"
)

// refusalOf returns the code of an error of Receive, and what to do about it.
func refusalOf(err error) (code, detail string) {
	var fault *Fault
	var unsigned *SignatureFault
	switch {
	case errors.As(err, &unsigned):
		return badSignature, unsigned.Hint
	case errors.Is(err, ErrSignature):
		return badSignature, ""
	case errors.As(err, &fault) && errors.Is(err, ErrInvalidJSON):
		return "invalid_json", fault.Detail("en")
	case errors.As(err, &fault):
		return "invalid_message", fault.Detail("en")
	}
	return failed, ""
}

// incident logs refused messages, and adds an incident.
func (s *Service) incident(ctx context.Context, id room.ID, subject, detail string) error {
	s.Log.WarnContext(ctx, "inbound SMS were refused", "room", id, "detail", detail)
	if id == "" {
		return nil
	}
	err := s.Engine.Incident(ctx, id, "message_refused", subject, detail)
	if err != nil {
		s.Log.WarnContext(ctx, "refused messages were not reported to support", "room", id, "error", err)
	}
	return err
}

func (r *refusals) add(of refusal, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.counts[of]
	if !known {
		if len(r.counts) >= refusalsAtOnce {
			return // the metrics count it
		}
		c = &count{}
		r.counts[of] = c
		time.AfterFunc(0, func() { r.flush(of) })
	}
	c.messages++
	c.detail = detail
}

// flush reports the messages since the last report, and repeats until there are none.
func (r *refusals) flush(of refusal) {
	c, some := r.take(of)
	if !some {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), refusalsWithin)
	defer cancel()
	subject := fmt.Sprintf("%s/%d", of.code, time.Now().Unix())
	if err := r.report(ctx, of.room, subject, c.words(of.code)); err != nil {
		r.putBack(of, c)
	}
	time.AfterFunc(refusalsEvery, func() { r.flush(of) })
}

func (r *refusals) take(of refusal) (count, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[of]
	if c.messages == 0 {
		delete(r.counts, of)
		return count{}, false
	}
	taken := *c
	*c = count{}
	return taken, true
}

// putBack adds messages that could not be reported to the next report.
func (r *refusals) putBack(of refusal, unsent count) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[of]
	c.messages += unsent.messages
	if c.detail == "" {
		c.detail = unsent.detail
	}
}

func (c count) words(code string) string {
	text := fmt.Sprintf("%d messages were refused: %s", c.messages, code)
	if c.messages == 1 {
		text = "1 message was refused: " + code
	}
	if c.detail != "" {
		text += ". " + c.detail
	}
	return text
}
