package sms

import (
	"context"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Source reads the format of a phone or a provider.
type Source interface {
	// Verify checks the source's own signature. The error wraps ErrSignature and repeats no secret.
	Verify(Request) error
	// Parse reads a verified request. Errors: a *Fault, or ErrIgnored for a request that is no inbound SMS.
	Parse(Request) (Post, error)
}

// SourceOf returns a room's source of that name; nil if it has none.
type SourceOf func(id room.ID, name string) Source

// Request is a source's request.
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

// ReceiveFrom is Receive for a source's own format. Errors are Receive's, ErrUnknownSource in place of
// ErrNotConfigured, and ErrIgnored.
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
