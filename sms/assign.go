package sms

import (
	"context"
	"errors"

	"github.com/waitroom/waitroom/room"
)

// ErrRefused is returned when the ledger refuses an assignment; the message then belongs to no lease. A live
// lease that its code completes has ended nevertheless.
var ErrRefused = errors.New("the ledger refuses the match")

// Assign gives an unmatched message to the lease that support names. It returns ErrRefused if the ledger
// refuses; the other refusals are the engine's.
func (s *Service) Assign(ctx context.Context, id room.ID, q room.AssignRequest) (room.Match, error) {
	q.Keep = !s.Completes
	m, err := s.Engine.Assign(ctx, id, q)
	if err != nil || !m.Judge {
		return m, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	v, err := s.verdictOn(ctx, id, m, room.Record{Type: "assigned", Code: true, Who: q.By.Who,
		Reason:      q.By.Reason,
		MessageNote: room.MessageNote{MessageID: q.MessageID}})
	if v == refused {
		return room.Match{}, ErrRefused
	}
	return m, err
}
