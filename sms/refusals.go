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
	refusalsEvery  = 10 * time.Second // support is told no more often, of a room and code
	refusalsAtOnce = 100              // rooms and codes that are counted: anybody may post what is refused
	refusalsWithin = 5 * time.Second
)

// BodyTooLarge is the code of a message that whoever reads it refuses before the service sees it.
const BodyTooLarge = "body_too_large"

// refusals tells support of the messages that were refused: carriers do not repeat what got a 4xx. The first is told at once, those
// that follow together. Nothing of what was posted is repeated: it need not be a carrier's.
type refusals struct {
	tell func(ctx context.Context, id room.ID, subject, detail string) error

	mu     sync.Mutex
	counts map[refusal]*count
}

type refusal struct {
	room room.ID
	code string
}

// count is what was refused and not told yet.
type count struct {
	messages int
	detail   string // of the last
}

// Refused counts a message that was refused before the service saw it, by its code, and tells support of it.
func (s *Service) Refused(id room.ID, code string) {
	s.metrics.answers.WithLabelValues(code).Inc()
	s.refusals.add(refusal{id, code}, "")
}

// turnedAway tells support of what Receive refused.
func (s *Service) turnedAway(id room.ID, err error) {
	var fault *Fault
	var unsigned *SignatureFault
	switch {
	case errors.As(err, &unsigned):
		s.refusals.add(refusal{id, "bad_signature"}, unsigned.Hint)
	case errors.Is(err, ErrSignature):
		s.refusals.add(refusal{id, "bad_signature"}, "")
	case errors.Is(err, ErrInvalidJSON):
		s.refusals.add(refusal{id, "invalid_json"}, "")
	case errors.As(err, &fault):
		s.refusals.add(refusal{id, "invalid_message"}, room.Mask(fault.Detail("en")))
	}
}

// incident puts before support, and into the log, that messages were refused.
func (s *Service) incident(ctx context.Context, id room.ID, subject, detail string) error {
	s.Log.WarnContext(ctx, "inbound SMS were refused", "room", id, "detail", detail)
	err := s.Engine.Incident(ctx, id, "message_refused", subject, detail)
	if err != nil {
		s.Log.WarnContext(ctx, "support was not told of refused messages", "room", id, "error", err)
	}
	return err
}

func (r *refusals) add(of refusal, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.counts[of]
	if !known {
		if len(r.counts) >= refusalsAtOnce {
			return // the metrics have it
		}
		c = &count{}
		r.counts[of] = c
		time.AfterFunc(0, func() { r.round(of) })
	}
	c.messages++
	c.detail = detail
}

// round tells what came since the last time, and comes again as long as something did.
func (r *refusals) round(of refusal) {
	c, some := r.take(of)
	if !some {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), refusalsWithin)
	defer cancel()
	subject := fmt.Sprintf("%s/%d", of.code, time.Now().Unix())
	if err := r.tell(ctx, of.room, subject, c.words(of.code)); err != nil {
		r.keep(of, c)
	}
	time.AfterFunc(refusalsEvery, func() { r.round(of) })
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

// keep counts what could not be told with what comes.
func (r *refusals) keep(of refusal, untold count) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[of]
	c.messages += untold.messages
	if c.detail == "" {
		c.detail = untold.detail
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
