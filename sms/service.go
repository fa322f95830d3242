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
	"github.com/waitroom/waitroom/room/smstext"
)

// Engine is the first line of defence: the part of room.Engine that the service uses.
type Engine interface {
	Match(context.Context, room.ID, room.MatchRequest) (room.Match, error)
	Expect(context.Context, room.ID, room.ExpectRequest) (room.Expectation, error)
	Assign(context.Context, room.ID, room.AssignRequest) (room.Match, error)
	Incident(ctx context.Context, id room.ID, kind, subject, detail string) error
	// SettleMatch shows a match to its holder, or withdraws it. The ledger calls it with its verdict. The
	// service calls it without a ledger, and where the ledger does not answer in time.
	SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64, agreed bool) error
	At(time.Time) int64
	Fingerprint(room.ID, room.MatchRequest) string
}

// Ledger is the second line of defence. Both methods may be repeated; an error means that the ledger did not
// answer.
type Ledger interface {
	// Receive records a message, and returns its earlier arrival: nil for a new message. A judged one has a
	// Result, which is ambiguous if it was refused. Any other has only At, the unix ms of its first arrival.
	Receive(ctx context.Context, id room.ID, note room.MessageNote) (known *room.Match, err error)
	// Judge agrees to a match or refuses it: one final verdict by room and message id. With a nil error, the
	// room has the verdict. The record is the journal's, without Seller. Unmatched messages reach the ledger
	// through the journal alone.
	Judge(ctx context.Context, id room.ID, epoch int64, r room.Record) (agreed bool, err error)
}

// Config configures a Service. Engine is required, and one of Secret, Own and Source.
type Config struct {
	Engine Engine
	Ledger Ledger // nil = no second line
	// SMS_WEBHOOK_SECRET; "" = none: rooms without their own take no messages
	Secret string
	// returns a room's own verifier; if Own or its result is nil, Secret counts for the room
	Own     func(room.ID) *Verifier
	Source  SourceOf                              // formats of phones and providers; nil = none
	Heard   func(context.Context, room.ID, Heard) // called with each signed request; nil = no call
	Arrived func(Arrival)                         // called with each answer; must not block; nil = no call
	// called with the sender of each code that a session got; nil = no call
	CodeFrom func(ctx context.Context, id room.ID, sender string)
	Senders  func(room.ID) []string // accepted senders of a room; nil, or an empty list = all
	Phone    func(room.ID) string   // number of a room; nil, or "" = not known
	// card of a room's source that has the room's number; nil, or "" = not known
	SIM func(id room.ID, source string) string
	// rooms that have a source of this name, for an address without a room; nil, or none = unknown
	Numbered   func(source string) []NumberedRoom
	Guard      time.Duration // SMS_GUARD
	Completes  bool          // SMS_COMPLETES: a match ends the lease
	LedgerWait time.Duration // for each of two calls to the ledger; default 500 ms
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil = no metrics
}

// Heard is a signed request of a room's source.
type Heard struct {
	Source string // name of the source; "" = a carrier that signs as Standard Webhooks
	Timed  bool   // it is a message with a time of sending
	// since the time of sending, by the store's clock; negative if the source's clock is ahead
	Delay time.Duration
	Event string // name of an event that is no inbound SMS; "" = it is one
}

// heardOf describes a request whose message was read at an instant, in unix ms. A time in whole seconds
// counts as their middle.
func heardOf(source string, m message, now int64) Heard {
	if m.sent.from == 0 || now == 0 {
		return Heard{Source: source}
	}
	delay := time.Duration(now-(m.sent.from+m.sent.to)/2) * time.Millisecond
	return Heard{Source: source, Timed: true, Delay: delay}
}

// storeDay is a day in ms. A message whose id another one had, and that has no time, is recognized by sender,
// text and day.
const storeDay = int64(24 * time.Hour / time.Millisecond)

// settleWithin bounds the settling of a matched message, even after its sender has gone.
const settleWithin = 5 * time.Second

// Service receives inbound SMS. It keeps nothing of a message between calls, and is safe for concurrent use.
type Service struct {
	Config
	verifier *Verifier // of Secret; nil = none
	metrics  *metrics
	refusals *refusals
}

// New returns a service. Its error names the wrong setting.
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
	s.refusals = &refusals{report: s.incident, counts: make(map[refusal]*count)}
	return s, nil
}

// verifierOf returns the verifier of a room's messages; nil if it takes none.
func (s *Service) verifierOf(id room.ID) *Verifier {
	if s.Own != nil {
		if own := s.Own(id); own != nil {
			return own
		}
	}
	return s.verifier
}

// Receive matches one SMS and returns the answer. Errors: ErrNotConfigured, ErrSignature, ErrInvalidJSON,
// ErrInvalidMessage (the last two as *Fault), and room.ErrStore, after which the sender may retry.
func (s *Service) Receive(ctx context.Context, id room.ID, header http.Header, body []byte) (Answer, error) {
	verifier := s.verifierOf(id)
	if verifier == nil {
		return Answer{}, ErrNotConfigured
	}
	return s.take(ctx, id, "", time.Now(), func(now int64) (message, error) {
		if err := verifier.verify(header, body, now); err != nil {
			return message{}, err
		}
		return parse(id, body)
	})
}

// take reads one SMS and answers it; it counts and reports refusals. now is the store's time, in unix ms, of
// the instant at which the request was read: monotonic, since this machine's wall clock does not count.
func (s *Service) take(ctx context.Context, id room.ID, source string, begun time.Time,
	read func(now int64) (message, error)) (Answer, error) {
	now := s.now(begun)
	m, err := read(now)
	if s.Heard != nil && !errors.Is(err, ErrSignature) {
		s.Heard(ctx, id, heardOf(source, m, now))
	}
	var match room.Match
	var q room.MatchRequest
	if err == nil {
		match, q, err = s.attribute(ctx, id, source, m, begun)
	}
	if err != nil {
		s.refuse(id, source, err, begun)
		return Answer{}, err
	}
	s.metrics.answered(match, nil, time.Since(begun))
	s.arrived(taken(id, source, q, match))
	return answerOf(match), nil
}

// refuse counts and reports a message that has no answer.
func (s *Service) refuse(id room.ID, source string, err error, begun time.Time) {
	s.metrics.answered(room.Match{}, err, time.Since(begun))
	code, detail := refusalOf(err)
	s.arrived(Arrival{Source: source, Room: id, Signed: code != badSignature, Refused: true, Outcome: code,
		Detail: detail})
	if code != failed {
		s.refusals.add(refusal{id, code}, detail)
	}
}

// attribute matches a message that was read at an instant, and returns the engine's request too. If another
// message had the same id over a day ago, this one gets an id of its sender, text and time.
func (s *Service) attribute(ctx context.Context, id room.ID, source string, m message, read time.Time) (
	match room.Match, q room.MatchRequest, err error) {
	q = s.request(id, source, m, read)
	known, err := s.recall(ctx, id, q.Note)
	if errors.Is(err, room.ErrIDUsedAgain) {
		m.id = s.derivedID(id, m, s.now(read)/storeDay, 0)
		q = s.request(id, source, m, read)
		known, _ = s.recall(ctx, id, q.Note)
	}
	if known != nil {
		q.ReadAt, q.Again = earlier(q.ReadAt, known.At), true // a repeat is as old as its first arrival
		if known.Result != "" {
			return *known, q, nil
		}
	}
	q.Age = time.Since(read)
	match, err = s.Engine.Match(ctx, id, q)
	if err != nil {
		return room.Match{}, q, fmt.Errorf("match message: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	match, err = s.conclude(ctx, id, q, match)
	if err == nil {
		s.Log.InfoContext(ctx, "message answered", "room", id, "message", m.id, "result", match.Result,
			"reason", match.Reason, "ticket", match.Ticket, "fence", match.Fence)
		if s.CodeFrom != nil && q.Shown.Code != nil && match.Result != room.Unmatched {
			s.CodeFrom(ctx, id, m.from)
		}
	}
	return match, q, err
}

// earlier returns the earlier of two times; 0 is not known.
func earlier(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// now returns the store's time at an instant, in unix ms; this machine's if the store has never answered.
func (s *Service) now(at time.Time) int64 {
	if now := s.Engine.At(at); now != 0 {
		return now
	}
	return at.UnixMilli()
}

// request returns the engine's request for a message that was read at an instant.
func (s *Service) request(id room.ID, source string, m message, read time.Time) room.MatchRequest {
	q := room.MatchRequest{MessageID: m.id, From: m.sent.from, To: m.sent.to, ReadAt: s.Engine.At(read),
		Guard: s.Guard, Keep: !s.Completes,
		Sender: m.from, Part: m.part, Shown: m.shown()}
	received := q.ReadAt
	if received == 0 { // Redis has never answered this process
		received = read.UnixMilli()
	}
	q.Note = m.note(received)
	q.Note.Fingerprint = s.Engine.Fingerprint(id, q)
	var senders []string
	if s.Senders != nil {
		senders = s.Senders(id)
	}
	q.Foreign = len(senders) > 0 && !smstext.OneOf(m.from, senders)
	q.Personal = len(senders) == 0 && smstext.Personal(m.from)
	q.Astray = s.astray(id, source, m)
	return q
}

// recall makes a message durable, and returns its earlier arrival; nil also if the ledger does not answer.
// Errors: room.ErrIDUsedAgain.
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
		s.Log.WarnContext(ctx, "ledger is away: a message is not recorded yet", "room", id, "message",
			note.MessageID, "error", err)
		return nil, nil
	}
	return known, nil
}

// conclude asks the ledger whether a match stands, and returns the final answer. If the ledger does not
// answer, another replica may have its verdict: conclude then repeats the engine's match, which shows no
// message that was refused.
func (s *Service) conclude(ctx context.Context, id room.ID, q room.MatchRequest, m room.Match) (room.Match,
	error) {
	if !m.Judge {
		return m, nil
	}
	v, err := s.verdictOn(ctx, id, m, room.Record{Type: "message", Code: q.Shown.Code != nil,
		Duplicate: m.Duplicate, MessageNote: q.Note})
	switch {
	case err != nil:
		return room.Match{}, err
	case v == refused:
		return room.Match{Result: room.Unmatched, Reason: room.Ambiguous, Epoch: m.Epoch, At: m.At,
			Duplicate: m.Duplicate}, nil
	case v == noAnswer:
		if m, err = s.Engine.Match(ctx, id, q); err != nil {
			return room.Match{}, fmt.Errorf("match message: %w", err)
		}
	}
	return m, nil
}

// Claim is Expect with a message: the holder claims that it had requested this code before. If the ledger
// refuses, Claim returns room.ErrNoMessage, and the message belongs to no lease. The other refusals are the
// engine's.
func (s *Service) Claim(ctx context.Context, id room.ID, q room.ExpectRequest) (room.Expectation, error) {
	q.Keep = !s.Completes
	x, err := s.Engine.Expect(ctx, id, q)
	if err != nil {
		return x, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	v, err := s.verdictOn(ctx, id, x.Claim,
		room.Record{Type: "claimed", Code: true, MessageNote: room.MessageNote{MessageID: q.MessageID}})
	if v == refused {
		return room.Expectation{}, room.ErrNoMessage
	}
	return x, err
}
