package sms

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
)

// Engine is the first line: what the service needs of room.Engine.
type Engine interface {
	Match(context.Context, room.ID, room.MatchRequest) (room.Match, error)
	Expect(context.Context, room.ID, room.ExpectRequest) (room.Expectation, error)
	Assign(context.Context, room.ID, room.AssignRequest) (room.Match, error)
	Incident(ctx context.Context, id room.ID, kind, subject, detail string) error
	// SettleMatch shows a match to its holder, or withdraws it. The ledger calls it with its verdict; the service only where
	// there is no ledger to ask.
	SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64, agreed bool) error
	At(time.Time) int64
	Fingerprint(room.ID, room.MatchRequest) string
}

// Ledger is the second line. Both methods may be repeated at will; an error says that the ledger did not answer.
type Ledger interface {
	// Receive records a message as received, and says what is known of one that was received before: nil for a
	// new one; with a Result when it was judged (as it is to be told, so ambiguous when it was refused); else
	// with At alone, the unix ms at which it was first received.
	Receive(ctx context.Context, id room.ID, note room.MessageNote) (known *room.Match, err error)
	// Judge agrees to a matched message or refuses it: one verdict by room and message id, for ever. Without an error the room
	// was told. The record is the journal's, save that it has no Seller. The journal alone brings the ledger what is not judged.
	Judge(ctx context.Context, id room.ID, epoch int64, r room.Record) (agreed bool, err error)
}

// Config is what a service is made of. Engine is required, and one of Secret, Own and Source.
type Config struct {
	Engine     Engine
	Ledger     Ledger                                // nil: there is no second line
	Secret     string                                // SMS_WEBHOOK_SECRET; "" = none, and rooms without one of their own take no messages
	Own        func(room.ID) *Verifier               // of a room that has a secret of its own, in place of Secret; nil, also for a room: there is none
	Source     SourceOf                              // what phones and providers send by themselves; nil: there are none
	Heard      func(context.Context, room.ID, Heard) // is called with each signed request; nil: nothing is
	Senders    func(room.ID) []string                // whose messages a room takes; nil, or an empty list: everybody's
	Guard      time.Duration                         // SMS_GUARD
	Completes  bool                                  // SMS_COMPLETES: a match ends the lease
	LedgerWait time.Duration                         // how long each of the two questions to the ledger may take; default 500 ms
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: nothing is counted
}

// Heard is a signed request of a room's source.
type Heard struct {
	Source string        // its name; "" = the carrier that signs as Standard Webhooks
	Timed  bool          // it is a message that says when it was sent
	Delay  time.Duration // how long ago that was, by the store's clock; below 0 where the source's clock is ahead
}

// heardOf is a request whose message was read at an instant, unix ms. A message in whole seconds was sent in their middle.
func heardOf(source string, m message, now int64) Heard {
	if m.sent.from == 0 || now == 0 {
		return Heard{Source: source}
	}
	return Heard{source, true, time.Duration(now-(m.sent.from+m.sent.to)/2) * time.Millisecond}
}

// storeDay is a day in unix ms: a repeat without a time of its own is known by its sender, its text and the day.
const storeDay = int64(24 * time.Hour / time.Millisecond)

// settleWithin is how long a message that is matched may take to be settled, though whoever sent it has gone.
const settleWithin = 5 * time.Second

// Service takes inbound SMS. It keeps nothing of a message between two calls and may be used by many goroutines.
type Service struct {
	Config
	verifier *Verifier // of Secret; nil: there is none
	metrics  *metrics
	refusals *refusals
}

// New makes a service. The error names the setting that is wrong.
func New(c Config) (*Service, error) {
	var verifier *Verifier
	if c.Secret != "" || (c.Own == nil && c.Source == nil) {
		var err error
		if verifier, err = NewVerifier(c.Secret); err != nil {
			return nil, err
		}
	}
	if c.Guard < 0 {
		return nil, errors.New("SMS_GUARD is negative")
	}
	if c.LedgerWait == 0 {
		c.LedgerWait = 500 * time.Millisecond
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Config: c, verifier: verifier, metrics: newMetrics(c.Registerer)}
	s.refusals = &refusals{tell: s.incident, counts: make(map[refusal]*count)}
	return s, nil
}

// verifierOf checks the messages of a room; nil where it takes none.
func (s *Service) verifierOf(id room.ID) *Verifier {
	if s.Own != nil {
		if own := s.Own(id); own != nil {
			return own
		}
	}
	return s.verifier
}

// Receive takes one SMS and says where it belongs. Errors: ErrNotConfigured, ErrSignature, ErrInvalidJSON, ErrInvalidMessage (the
// last two as *Fault), and room.ErrStore, after which the same message may be sent again.
func (s *Service) Receive(ctx context.Context, id room.ID, header http.Header, body []byte) (Answer, error) {
	verifier := s.verifierOf(id)
	if verifier == nil {
		return Answer{}, ErrNotConfigured
	}
	return s.take(ctx, id, "", func(now int64) (message, error) {
		if err := verifier.verify(header, body, now); err != nil {
			return message{}, err
		}
		return parse(id, body)
	})
}

// take reads one SMS and answers it: counted, and before support where it is refused. now is the store's time, in unix ms.
func (s *Service) take(ctx context.Context, id room.ID, source string, read func(now int64) (message, error)) (Answer, error) {
	begun := time.Now() // by the monotonic clock from here on: what this machine thinks the time is does not count
	now := s.now(begun)
	m, err := read(now)
	if s.Heard != nil && !errors.Is(err, ErrSignature) {
		s.Heard(ctx, id, heardOf(source, m, now))
	}
	if errors.Is(err, ErrIgnored) {
		return Answer{}, err
	}
	var match room.Match
	if err == nil {
		match, err = s.attribute(ctx, id, m, begun)
	}
	s.metrics.answered(match, err, time.Since(begun))
	if err != nil {
		s.turnedAway(id, err)
		return Answer{}, err
	}
	return answerOf(match), nil
}

// attribute says where a message belongs that was read at an instant.
func (s *Service) attribute(ctx context.Context, id room.ID, m message, read time.Time) (room.Match, error) {
	q := s.request(id, m, read)
	known, err := s.recall(ctx, id, q.Note)
	if errors.Is(err, room.ErrIDUsedAgain) {
		m.id = s.derivedID(id, m, s.now(read)/storeDay, 0)
		q = s.request(id, m, read)
		known, _ = s.recall(ctx, id, q.Note)
	}
	if known != nil {
		if known.Result != "" {
			return *known, nil
		}
		q.ReadAt, q.Again = earlier(q.ReadAt, known.At), true // a repeat is as old as the first
	}
	q.Age = time.Since(read)
	match, err := s.Engine.Match(ctx, id, q)
	if err != nil {
		return room.Match{}, fmt.Errorf("match message: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	match, err = s.conclude(ctx, id, q, match)
	if err == nil {
		s.Log.InfoContext(ctx, "message answered", "room", id, "message", m.id, "result", match.Result,
			"reason", match.Reason, "ticket", match.Ticket, "fence", match.Fence)
	}
	return match, err
}

// earlier is the earlier of two times, of which 0 is not known.
func earlier(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// now is the store's time at an instant, in unix ms; this machine's own where the store never answered.
func (s *Service) now(at time.Time) int64 {
	if now := s.Engine.At(at); now != 0 {
		return now
	}
	return at.UnixMilli()
}

// request is what the engine is asked of a message that was read at an instant.
func (s *Service) request(id room.ID, m message, read time.Time) room.MatchRequest {
	q := room.MatchRequest{MessageID: m.id, From: m.sent.from, To: m.sent.to, ReadAt: s.Engine.At(read), Guard: s.Guard, Keep: !s.Completes,
		Sender: m.from, Part: m.part, Shown: m.shown()}
	received := q.ReadAt
	if received == 0 { // Redis never answered here: the best there is
		received = read.UnixMilli()
	}
	q.Note = m.note(received)
	q.Note.Fingerprint = s.Engine.Fingerprint(id, q)
	if s.Senders != nil {
		senders := s.Senders(id)
		q.Foreign = len(senders) > 0 && !room.OneOf(m.from, senders)
	}
	return q
}

// recall makes the message durable and says what the ledger knows of it; nil also when it can not be asked. Errors: room.ErrIDUsedAgain.
func (s *Service) recall(ctx context.Context, id room.ID, note room.MessageNote) (*room.Match, error) {
	if s.Ledger == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.LedgerWait)
	defer cancel()
	known, err := s.Ledger.Receive(ctx, id, note)
	if errors.Is(err, room.ErrIDUsedAgain) {
		return nil, room.ErrIDUsedAgain
	}
	if err != nil {
		s.metrics.away.Inc()
		s.Log.WarnContext(ctx, "ledger is away: a message is not recorded yet", "room", id, "message", note.MessageID, "error", err)
		return nil, nil
	}
	return known, nil
}

// conclude asks the second line about a match, and says what is answered. Where the ledger did not speak, another replica may have had its
// word meanwhile: what is answered is what the engine says after, which does not show what was refused.
func (s *Service) conclude(ctx context.Context, id room.ID, q room.MatchRequest, m room.Match) (room.Match, error) {
	if !m.Judge {
		return m, nil
	}
	v, err := s.verdictOn(ctx, id, m, room.Record{Type: "message", Code: q.Shown.Code != nil, Duplicate: m.Duplicate, MessageNote: q.Note})
	switch {
	case err != nil:
		return room.Match{}, err
	case v == refused:
		return room.Match{Result: room.Unmatched, Reason: room.Ambiguous, Epoch: m.Epoch, At: m.At, Duplicate: m.Duplicate}, nil
	case v == unspoken:
		if m, err = s.Engine.Match(ctx, id, q); err != nil {
			return room.Match{}, fmt.Errorf("match message: %w", err)
		}
	}
	return m, nil
}

// Claim is Expect with a message: the holder had asked before it came. What the ledger refuses is nobody's: room.ErrNoMessage.
// The other refusals are the engine's.
func (s *Service) Claim(ctx context.Context, id room.ID, q room.ExpectRequest) (room.Expectation, error) {
	q.Keep = !s.Completes
	x, err := s.Engine.Expect(ctx, id, q)
	if err != nil {
		return x, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	v, err := s.verdictOn(ctx, id, x.Claim, room.Record{Type: "claimed", Code: true, MessageNote: room.MessageNote{MessageID: q.MessageID}})
	if v == refused {
		return room.Expectation{}, room.ErrNoMessage
	}
	return x, err
}
