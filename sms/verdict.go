package sms

import (
	"cmp"
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// verdict is the ledger's verdict on a match. This is the only code outside the ledger that requests
// verdicts; without a ledger it agrees.
type verdict int

const (
	agreed   verdict = iota + 1
	refused          // the match belongs to no lease
	noAnswer         // the ledger did not answer: the match counts until the journal has brought it there
)

// verdictOn judges a match. With a nil error the room has the verdict; after noAnswer it shows the match for
// now. The record has the fields that the match lacks.
func (s *Service) verdictOn(ctx context.Context, id room.ID, m room.Match, r room.Record) (verdict, error) {
	yes, err := s.judge(ctx, id, m, r)
	switch {
	case err != nil:
		return noAnswer, s.settleUnjudged(ctx, id, r.MessageID, m.Fence, err)
	case !yes:
		s.metrics.refused.Inc()
		s.Log.ErrorContext(ctx, "the ledger refuses a match", "room", id, "message", r.MessageID, "ticket",
			m.Ticket, "fence", m.Fence)
		return refused, nil
	}
	return agreed, nil
}

// judge returns the ledger's verdict, which the ledger also sends to the room. Without a ledger, judge
// settles the match itself.
func (s *Service) judge(ctx context.Context, id room.ID, m room.Match, r room.Record) (bool, error) {
	if s.Ledger == nil {
		return true, s.Engine.SettleMatch(ctx, id, r.MessageID, m.Fence, true)
	}
	r.At, r.Ticket, r.Fence, r.GrantedAt, r.EndedAt = m.At, m.Ticket, m.Fence, m.Granted, m.Ended
	r.Result, r.Reason, r.Judge, r.Completes = m.Result, cmp.Or(r.Reason, string(m.Reason)), true, m.Completes
	ctx, cancel := context.WithTimeout(ctx, s.LedgerWait)
	defer cancel()
	return s.Ledger.Judge(ctx, id, m.Epoch, r)
}

// settleUnjudged shows a match without the ledger's verdict.
func (s *Service) settleUnjudged(ctx context.Context, id room.ID, messageID string, fence int64,
	cause error) error {
	s.metrics.away.Inc()
	s.Log.WarnContext(ctx, "ledger is away: a message is judged later", "room", id, "message", messageID,
		"error", cause)
	if err := s.Engine.SettleMatch(ctx, id, messageID, fence, true); err != nil {
		return fmt.Errorf("show message: %w", err)
	}
	return nil
}
