package sms

import (
	"cmp"
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// verdict is what the second line says of a match. It is the ledger's to give and to tell the room; here is the one place that asks for
// it, and that speaks for the first line where there is none.
type verdict int

const (
	agreed   verdict = iota + 1
	refused          // the match is nobody's
	unspoken         // the ledger did not answer: the first line's word counts until the journal has brought the match there
)

// verdictOn has a match judged. Without an error the room was told what is returned, or that it is to go on where nothing was spoken. The
// record says what the match does not.
func (s *Service) verdictOn(ctx context.Context, id room.ID, m room.Match, r room.Record) (verdict, error) {
	yes, err := s.judge(ctx, id, m, r)
	switch {
	case err != nil:
		return unspoken, s.goOn(ctx, id, r.MessageID, m.Fence, err)
	case !yes:
		s.metrics.refused.Inc()
		s.Log.ErrorContext(ctx, "the ledger refuses a match", "room", id, "message", r.MessageID, "ticket", m.Ticket, "fence", m.Fence)
		return refused, nil
	}
	return agreed, nil
}

// judge asks the ledger, which tells the room what it says; without one the first line's word is told.
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

// goOn has a match shown without the ledger's word.
func (s *Service) goOn(ctx context.Context, id room.ID, messageID string, fence int64, cause error) error {
	s.metrics.away.Inc()
	s.Log.WarnContext(ctx, "ledger is away: a message is judged later", "room", id, "message", messageID, "error", cause)
	if err := s.Engine.SettleMatch(ctx, id, messageID, fence, true); err != nil {
		return fmt.Errorf("show message: %w", err)
	}
	return nil
}
