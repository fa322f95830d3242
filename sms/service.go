package sms

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/waitroom/waitroom/room"
)

// Engine is the first line: what the service needs of room.Engine.
type Engine interface {
	Match(context.Context, room.ID, room.MatchRequest) (room.Match, error)
	SettleMatch(ctx context.Context, id room.ID, messageID string, agreed bool) error
}

// Ledger is the second line. Both methods may be repeated at will; an error says that the ledger is away.
type Ledger interface {
	// Receive records a message as received, and says what is known of one that was received before: nil for a
	// new one; with a Result when it was judged (as it is to be told, so ambiguous when it was refused); else
	// with At alone, the unix ms at which it was first received.
	Receive(ctx context.Context, id room.ID, note room.MessageNote) (known *room.Match, err error)
	// Judge agrees to a matched message or refuses it: one verdict by room and message id, for ever. The record
	// is the journal's, save that it has no Seller. The journal alone brings the ledger what was not matched.
	Judge(ctx context.Context, id room.ID, epoch int64, r room.Record) (agreed bool, err error)
}

// Config is what a service is made of. Engine and Secret are required.
type Config struct {
	Engine     Engine
	Ledger     Ledger        // nil: there is no second line
	Secret     string        // SMS_WEBHOOK_SECRET
	Guard      time.Duration // SMS_GUARD
	Completes  bool          // SMS_COMPLETES: a match ends the lease
	LedgerWait time.Duration // how long each of the two questions to the ledger may take; default 500 ms
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: nothing is counted
	Now        func() time.Time      // default time.Now
}

// settleWithin is how long a message that is matched may take to be settled, though whoever sent it has gone.
const settleWithin = 5 * time.Second

// Service takes inbound SMS. It keeps nothing between two calls and may be used by many goroutines.
type Service struct {
	Config
	verifier *webhooks.Webhook
	metrics  *metrics
}

// New makes a service. The error names the setting that is wrong.
func New(c Config) (*Service, error) {
	verifier, err := newVerifier(c.Secret)
	if err != nil {
		return nil, err
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
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{Config: c, verifier: verifier, metrics: newMetrics(c.Registerer)}, nil
}

// Receive takes one SMS and says where it belongs. Errors: ErrSignature, ErrInvalidJSON, ErrInvalidMessage (the
// last two as *Fault), and room.ErrStore, after which the same message may be sent again.
func (s *Service) Receive(ctx context.Context, id room.ID, header http.Header, body []byte) (Answer, error) {
	begun := time.Now()
	match, err := s.receive(ctx, id, header, body)
	s.metrics.answered(match, err, time.Since(begun))
	if err != nil {
		return Answer{}, err
	}
	return answerOf(match), nil
}

func (s *Service) receive(ctx context.Context, id room.ID, header http.Header, body []byte) (room.Match, error) {
	if err := verify(s.verifier, header, body); err != nil {
		return room.Match{}, err
	}
	now := s.Now()
	m, err := parse(body, now)
	if err != nil {
		return room.Match{}, err
	}
	q := room.MatchRequest{MessageID: m.id, From: m.sent.from, To: m.sent.to, Guard: s.Guard, Keep: !s.Completes,
		Shown: m.shown(now), Note: m.note(now)}
	if known := s.recall(ctx, id, q.Note); known != nil {
		if known.Result != "" {
			return *known, nil
		}
		if m.sent == (window{}) { // received before and not matched: it was sent then, not now
			q.From, q.To = known.At, known.At+1
		}
	}
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

// recall makes the message durable and says what the ledger knows of it; nil also when it can not be asked.
func (s *Service) recall(ctx context.Context, id room.ID, note room.MessageNote) *room.Match {
	if s.Ledger == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.LedgerWait)
	defer cancel()
	known, err := s.Ledger.Receive(ctx, id, note)
	if err != nil {
		s.metrics.away.Inc()
		s.Log.WarnContext(ctx, "ledger is away: a message is not recorded yet", "room", id, "message", note.MessageID, "error", err)
		return nil
	}
	return known
}

// conclude asks the second line about a match and tells the engine what it said. Where the ledger is away the
// first line's word counts, and the journal brings the message to the ledger later.
func (s *Service) conclude(ctx context.Context, id room.ID, q room.MatchRequest, m room.Match) (room.Match, error) {
	if m.Result != room.Matched {
		return m, nil
	}
	agreed, err := s.judge(ctx, id, q, m)
	if err != nil {
		return s.goOn(ctx, id, q, err)
	}
	s.settle(ctx, id, q.MessageID, agreed)
	if !agreed {
		s.metrics.refused.Inc()
		s.Log.ErrorContext(ctx, "the ledger refuses a match", "room", id, "message", q.MessageID, "ticket", m.Ticket, "fence", m.Fence)
		return room.Match{Result: room.Unmatched, Reason: room.Ambiguous, Epoch: m.Epoch, At: m.At}, nil
	}
	return m, nil
}

func (s *Service) judge(ctx context.Context, id room.ID, q room.MatchRequest, m room.Match) (bool, error) {
	if s.Ledger == nil {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.LedgerWait)
	defer cancel()
	return s.Ledger.Judge(ctx, id, m.Epoch, room.Record{Type: "message", At: m.At, Ticket: m.Ticket, Fence: m.Fence,
		GrantedAt: m.Granted, EndedAt: m.Ended, Result: m.Result, Reason: string(m.Reason), Completes: !q.Keep,
		MessageNote: q.Note})
}

// goOn shows a match without the ledger's word. Another replica may have had that word meanwhile, so what is
// answered is what the engine says after; it does not show what was refused.
func (s *Service) goOn(ctx context.Context, id room.ID, q room.MatchRequest, cause error) (room.Match, error) {
	s.metrics.away.Inc()
	s.Log.WarnContext(ctx, "ledger is away: a message is judged later", "room", id, "message", q.MessageID, "error", cause)
	if err := s.Engine.SettleMatch(ctx, id, q.MessageID, true); err != nil {
		return room.Match{}, fmt.Errorf("show message: %w", err)
	}
	m, err := s.Engine.Match(ctx, id, q)
	if err != nil {
		return room.Match{}, fmt.Errorf("match message: %w", err)
	}
	return m, nil
}

// settle passes a verdict on. The ledger has it for good, so whoever drains the journal can do it as well.
func (s *Service) settle(ctx context.Context, id room.ID, messageID string, agreed bool) {
	if err := s.Engine.SettleMatch(ctx, id, messageID, agreed); err != nil {
		s.Log.WarnContext(ctx, "a judged message is settled later", "room", id, "message", messageID, "error", err)
	}
}
