package sms

import (
	"context"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Source reads what a phone or a provider sends in its own format.
type Source interface {
	// Verify checks the source's own signature. The error wraps ErrSignature and repeats no secret.
	Verify(Request) error
	// Parse reads a request that Verify let through. Errors: a *Fault, or ErrIgnored for what is no inbound SMS.
	Parse(Request) (Post, error)
}

// SourceOf is a room's source of that name; nil where it has none.
type SourceOf func(id room.ID, name string) Source

// Request is what a source sent.
type Request struct {
	URL    string // as the sender calls it, with its query: some signatures cover it
	Header http.Header
	Body   []byte
	Now    time.Time // by the store's clock; ReceiveFrom sets it
}

func (s *Service) source(id room.ID, name string) Source {
	if s.Source == nil {
		return nil
	}
	return s.Source(id, name)
}

// ReceiveFrom takes one SMS in a source's own format, else like Receive. Errors are Receive's,
// ErrUnknownSource in place of ErrNotConfigured, and ErrIgnored.
func (s *Service) ReceiveFrom(ctx context.Context, id room.ID, name string, r Request) (Answer, error) {
	source := s.source(id, name)
	if source == nil {
		return Answer{}, ErrUnknownSource
	}
	return s.take(ctx, id, name, func(now int64) (message, error) {
		r.Now = time.UnixMilli(now)
		if err := source.Verify(r); err != nil {
			return message{}, err
		}
		post, err := source.Parse(r)
		if err != nil {
			return message{}, err
		}
		return s.messageOf(id, post, now)
	})
}

// messageOf checks a post. One without an id gets one.
func (s *Service) messageOf(id room.ID, p Post, now int64) (message, error) {
	m, err := p.message()
	if err == nil && m.id == "" {
		m.id = s.derivedID(id, m, p.Stamp, now)
	}
	return m, err
}

// sameWithin is for how long a message that has neither an id nor a time is taken for a repeat by its id:
// as long as rule 5 takes the same sender and text for one message.
const sameWithin = int64(10 * time.Minute / time.Millisecond)

// derivedID names a message by its sender, its text and its time, so that repeats are one message. The
// text can not be tried out from it: the digest is keyed with the secret that seals.
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
