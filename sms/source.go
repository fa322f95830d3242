package sms

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Source reads the format of a phone or a provider.
type Source interface {
	// Verify checks the source's own signature. The error wraps ErrSignature and repeats no secret.
	Verify(Request) error
	// Parse reads the messages of a verified request. Errors: a *Fault, also beside the messages that are
	// good, or an *IgnoredEvent for a request that is no inbound SMS.
	Parse(Request) ([]Post, error)
}

// SourceOf returns a room's source of that name; nil if it has none.
type SourceOf func(id room.ID, name string) Source

// Request is a source's request.
type Request struct {
	URL    string // as the sender calls it, with its query: some signatures cover it
	Header http.Header
	Body   []byte
	Now    time.Time // by the store's clock; ReceiveFrom and ReceiveAny set it
}

func (s *Service) source(id room.ID, name string) Source {
	if s.Source == nil {
		return nil
	}
	return s.Source(id, name)
}

// ReceiveFrom is Receive for a source's own format, which may bring several messages in one request. Errors
// are Receive's, ErrUnknownSource in place of ErrNotConfigured, and ErrIgnored. Messages that can not be read
// beside good ones are no error: they are reported to support.
func (s *Service) ReceiveFrom(ctx context.Context, id room.ID, name string, r Request) ([]Answer, error) {
	source := s.source(id, name)
	if source == nil {
		return nil, ErrUnknownSource
	}
	begun := time.Now()
	posts, err := s.open(ctx, id, name, source, r, begun)
	return s.answerAll(posts, err, func(p Post) (Answer, error) { return s.takePost(ctx, id, name, p, begun) })
}

// open verifies and parses a request.
func (s *Service) open(ctx context.Context, id room.ID, name string, source Source, r Request,
	begun time.Time) ([]Post, error) {
	r.Now = time.UnixMilli(s.now(begun))
	err := source.Verify(r)
	if err != nil {
		s.refuse(id, name, err, begun)
		return nil, err
	}
	posts, err := source.Parse(r)
	s.heard(ctx, id, name, posts, err)
	if err != nil && !errors.Is(err, ErrIgnored) {
		s.refuse(id, name, err, begun)
	}
	return posts, err
}

// heard notes a signed request without a message that can be read.
func (s *Service) heard(ctx context.Context, id room.ID, name string, posts []Post, err error) {
	if len(posts) > 0 {
		return
	}
	h := Heard{Source: name}
	var ignored *IgnoredEvent
	if errors.As(err, &ignored) {
		h.Event = eventName(ignored.Name)
		s.metrics.ignored(name, h.Event)
		s.arrived(Arrival{Source: name, Room: id, Signed: true, Outcome: "event " + h.Event,
			Detail: "No inbound message"})
	}
	if s.Heard != nil {
		s.Heard(ctx, id, h)
	}
}

// answerAll answers each message of a request. If the store fails, it returns that error alone, so that the
// source sends the request again. Any other error is returned only if no message has an answer.
func (s *Service) answerAll(posts []Post, err error, take func(Post) (Answer, error)) ([]Answer, error) {
	var answers []Answer
	for _, p := range posts {
		answer, fault := take(p)
		switch {
		case fault == nil:
			answers = append(answers, answer)
		case errors.Is(fault, ErrInvalidMessage):
			err = fault
		default:
			return nil, fault
		}
	}
	if len(answers) > 0 {
		return answers, nil
	}
	return nil, err
}

// takePost answers one message of a source.
func (s *Service) takePost(ctx context.Context, id room.ID, name string, p Post, begun time.Time) (Answer,
	error) {
	return s.take(ctx, id, name, begun, func(now int64) (message, error) { return s.messageOf(id, p, now) })
}

// messageOf validates a post, and derives an id if it has none.
func (s *Service) messageOf(id room.ID, p Post, now int64) (message, error) {
	m, err := p.message()
	if err == nil && m.id == "" {
		m.id = s.derivedID(id, m, p.Stamp, now)
	}
	return m, err
}

// sameWithin bounds the age of a repeat of a message with neither id nor time. It equals the time in which
// rule 5 of docs/matching.md takes the same sender and text for one message.
const sameWithin = int64(10 * time.Minute / time.Millisecond)

// derivedID names a message by its sender, text and time, so that repeats are one message. The digest is
// keyed with the sealing secret, so the text cannot be guessed from it.
func (s *Service) derivedID(id room.ID, m message, stamp, now int64) string {
	at := m.sent.from
	if at == 0 {
		at = stamp
	}
	if at == 0 {
		at = now / sameWithin
	}
	q := room.MatchRequest{Sender: m.from, From: at, Shown: room.Message{Text: m.text.Reveal()}}
	return "~" + s.Engine.Fingerprint(id, q)
}

// mostEvent is the longest name of an event that is kept.
const mostEvent = 40

// eventName returns an event's name as a label: names are the source's, so anything else than a short name of
// plain characters is "other". So is one of many digits, which may be a code or a telephone number.
func eventName(name string) string {
	if name == "" {
		return "none"
	}
	if len(name) > mostEvent {
		return "other"
	}
	digits := 0
	for _, r := range name {
		if r >= '0' && r <= '9' {
			digits++
		}
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			r == ':' || r == '.' || r == '_' || r == '-'
		if !plain || digits >= minCode {
			return "other"
		}
	}
	return name
}
