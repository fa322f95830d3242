package sms

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

var byKim = room.Action{Who: "kim", Action: "assign", Reason: "she read it to me"}

// ambiguously ends a's lease and sends a message that could be a's or b's; it returns b's place.
func (s *stage) ambiguously(id string) room.Place {
	s.t.Helper()
	wide := s.replica(Config{Completes: true, Guard: time.Minute})
	s.pass(s.lease.GrantedAt)
	s.leave(s.a)
	require.Equal(s.t, ambiguous, wide.must(s.t, id, smsText, s.lease.GrantedAt))
	return s.seat(s.b).Place
}

func TestAssignedMessageIsShownToWhomSupportGivesIt(t *testing.T) {
	s := newStage(t)
	b := s.ambiguously("m")
	s.requireShown(s.b)
	for range 2 { // the same request
		m, err := s.two.Assign(t.Context(), integration,
			room.AssignRequest{MessageID: "m", Fence: b.Fence, Request: "r", By: byKim})
		require.NoError(t, err)
		require.Equal(t, room.Matched, m.Result)
		require.Equal(t, b.Ticket, m.Ticket)
		require.False(t, m.Forgotten)
	}
	s.requireShown(s.b, smsText)
	require.Equal(t, room.Completed, s.seat(s.b).Outcome)
	r := s.ledger.records[len(s.ledger.records)-1]
	require.Equal(t, "assigned", r.Type)
	require.Equal(t, "kim", r.Who)
	require.Equal(t, "she read it to me", r.Reason)
	require.Equal(t, b.Fence, r.Fence)
	require.True(t, r.Completes)
	_, err := s.two.Assign(t.Context(), integration,
		room.AssignRequest{MessageID: "m", Fence: b.Fence, By: byKim})
	require.ErrorIs(t, err, room.ErrAlreadyMatched)
}

func TestAssignmentThatTheLedgerRefusesIsShownToNoSeller(t *testing.T) {
	s := newStage(t)
	b := s.ambiguously("m")
	s.ledger.refuse(b.Fence)
	_, err := s.one.Assign(t.Context(), integration,
		room.AssignRequest{MessageID: "m", Fence: b.Fence, By: byKim})
	require.ErrorIs(t, err, ErrRefused)
	s.requireShown(s.b)
}

func TestAssignmentIsShownWhileTheLedgerIsAway(t *testing.T) {
	s := newStage(t)
	b := s.ambiguously("m")
	s.one.ledger.judge = away
	_, err := s.one.Assign(t.Context(), integration,
		room.AssignRequest{MessageID: "m", Fence: b.Fence, By: byKim})
	require.NoError(t, err)
	s.requireShown(s.b, smsText)
}

func TestAssignmentThatKeepsTheLeaseDoesNotEndIt(t *testing.T) {
	s := newStage(t)
	b := s.ambiguously("m")
	keeps := s.replica(Config{Completes: false})
	_, err := keeps.Assign(t.Context(), integration,
		room.AssignRequest{MessageID: "m", Fence: b.Fence, By: byKim})
	require.NoError(t, err)
	require.Equal(t, room.Locked, s.seat(s.b).Status)
	s.requireShown(s.b, smsText)
}

func TestWhatTheEngineRefusesIsNotAskedOfTheLedger(t *testing.T) {
	s := newStage(t)
	s.one.ledger.judge = func(context.Context) error { panic("asked") }
	_, err := s.one.Assign(t.Context(), integration,
		room.AssignRequest{MessageID: "nobody's", Fence: s.lease.Fence, By: byKim})
	require.ErrorIs(t, err, room.ErrNoMessage)
}
