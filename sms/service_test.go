package sms

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const smsText = "[쿠팡] 인증번호는 [482913]입니다"

func TestMatchedMessageIsShownToItsHolderAndHandsTheLockOn(t *testing.T) {
	s := newStage(t)
	require.Equal(t, s.matched(), s.one.must(t, "m", smsText, s.lease.GrantedAt))
	seat := s.seat(s.a)
	require.Equal(t, room.Completed, seat.Outcome)
	require.Equal(t, smsText, seat.Messages[0].Text)
	require.Equal(t, "482913", *seat.Messages[0].Code)
	require.Equal(t, room.Locked, s.seat(s.b).Status)
	require.Equal(t, "[쿠팡] 인증번호는 [******]입니다", s.ledger.notes[0].Text)
	r := s.ledger.records[0]
	require.Equal(t, "message", r.Type)
	require.Equal(t, s.lease.Fence, r.Fence)
	require.Equal(t, s.lease.GrantedAt, r.GrantedAt)
	require.Equal(t, s.lease.GrantedAt, r.SentAt)
	require.Equal(t, r.At, r.EndedAt)
	require.True(t, r.Completes)
	require.Equal(t, "m", r.MessageID)
}

func TestLateMessageIsBoundToItsLeaseAndShownToWhomItBelongs(t *testing.T) {
	s := newStage(t)
	s.pass(s.lease.GrantedAt)
	s.leave(s.a)
	require.Equal(t, s.late(), s.one.must(t, "m", smsText, s.lease.GrantedAt))
	require.Equal(t, s.late(), s.two.must(t, "m", smsText, 0), "a repeat, by Redis")
	s.drain()
	require.Equal(t, s.late(), s.two.must(t, "m", smsText, 0), "a repeat, by the ledger")
	require.Equal(t, room.Locked, s.seat(s.b).Status)
	s.requireShown(s.a, smsText)
	require.True(t, s.seat(s.a).Messages[0].Late)
	s.requireShown(s.b)
}

func TestMessageOfNoLeaseOrOfTwoIsUnmatched(t *testing.T) {
	s := newStage(t)
	require.Equal(t, noLease, s.one.must(t, "m1", smsText, s.lease.GrantedAt-1))
	wide := s.replica(Config{Completes: true, Guard: time.Minute})
	s.pass(s.lease.GrantedAt)
	s.leave(s.a)
	require.Equal(t, ambiguous, wide.must(t, "m2", smsText, s.lease.GrantedAt))
	require.Equal(t, room.Locked, s.seat(s.b).Status)
}

func TestMessageOfASenderThatTheRoomDoesNotTakeIsUnmatched(t *testing.T) {
	s := newStage(t)
	listed := []string{"+82 2-555-0000"}
	r := s.replica(Config{Completes: true, Senders: func(room.ID) []string { return listed }})
	require.Equal(t, Answer{Result: room.Unmatched, Reason: room.NotExpected}, r.must(t, "m", smsText, 0))
	s.requireShown(s.a)
	listed = append(listed, "15880000")
	require.Equal(t, s.matched(), r.must(t, "n", smsText, 0))
}

func TestKeptLeaseGoesOn(t *testing.T) {
	s := newStage(t)
	keeps := s.replica(Config{Completes: false})
	require.Equal(t, s.matched(), keeps.must(t, "m1", "인증번호 1111", 0))
	require.Equal(t, s.matched(), keeps.must(t, "m2", "인증번호 2222", 0))
	require.Equal(t, room.Locked, s.seat(s.a).Status)
	require.Len(t, s.seat(s.a).Messages, 2)
	require.False(t, s.ledger.records[0].Completes)
}

func TestWithoutALedgerTheFirstLineCounts(t *testing.T) {
	s := newStage(t)
	alone, err := New(Config{Engine: s.engine, Secret: testSecret, Completes: true})
	require.NoError(t, err)
	header, body := post(t, "m", smsText, 0)
	for range 2 {
		answer, err := alone.Receive(t.Context(), integration, header, body)
		require.NoError(t, err)
		require.Equal(t, s.matched(), answer)
	}
	s.requireShown(s.a, smsText)
}

func TestAnswersAreTheContracts(t *testing.T) {
	tests := map[string]room.Match{
		`{"result":"matched","ticket":7,"fence":1795220000000001}`: {Result: room.Matched, Ticket: 7,
			Fence: 1795220000000001, Epoch: 1, At: 2},
		`{"result":"late","ticket":7,"fence":9}`: {Result: room.Late, Ticket: 7, Fence: 9,
			Granted: 3},
		`{"result":"unmatched","reason":"no_lease"}`: {Result: room.Unmatched, Reason: room.NoLease},
		`{"result":"unmatched","reason":"ambiguous"}`: {Result: room.Unmatched, Reason: room.Ambiguous,
			Ticket: 7, Fence: 9},
	}
	for want, match := range tests {
		got, err := json.Marshal(answerOf(match))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestSignatureIsCheckedBeforeTheBodyAndTheBodyBeforeTheMessage(t *testing.T) {
	s := newStage(t)
	for _, tt := range []struct {
		secret, body string
		want         error
	}{
		{otherSecret, `{`, ErrSignature},
		{otherSecret, `{}`, ErrSignature},
		{testSecret, `{`, ErrInvalidJSON},
		{testSecret, `{}`, ErrInvalidMessage},
	} {
		_, err := s.one.Receive(t.Context(), integration, signed(t, tt.secret, time.Now(), []byte(tt.body)),
			[]byte(tt.body))
		require.ErrorIs(t, err, tt.want)
	}
	_, err := s.one.Receive(t.Context(), integration, http.Header{}, nil)
	require.ErrorIs(t, err, ErrSignature)
	require.Empty(t, s.ledger.received)
	require.Equal(t, room.Locked, s.seat(s.a).Status)
}

func TestStoreThatIsAwayIsSaidAndTheMessageMaySimplyBeSentAgain(t *testing.T) {
	server := redistest.Start(t)
	s := newStageOn(t, server.Client())
	impatient := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	defer func() { require.NoError(t, impatient.Close()) }()
	s.one.engine.Engine = room.New(impatient, room.Config{Journal: 1000})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	server.Pause()
	header, body := post(t, "m", smsText, s.lease.GrantedAt)
	_, err := s.one.Receive(ctx, integration, header, body)
	server.Resume()
	require.ErrorIs(t, err, room.ErrStore)
	require.Equal(t, s.matched(), s.two.must(t, "m", smsText, s.lease.GrantedAt))
	s.requireShown(s.a, smsText)
}

func TestSenderThatGoesAwayAfterTheMatchChangesNothing(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.one.engine.afterMatch = cancel
	header, body := post(t, "m", smsText, 0)
	answer, err := s.one.Receive(ctx, integration, header, body)
	require.NoError(t, err)
	require.Equal(t, s.matched(), answer)
	s.requireShown(s.a, smsText)
}

func TestEveryAnswerIsCounted(t *testing.T) {
	s := newStage(t)
	registry := prometheus.NewRegistry()
	r := s.replica(Config{Completes: true, Registerer: registry})
	none := counts(t, registry)
	require.Len(t, none, len(results)+3,
		"each result is there from the start: an increase begins at the second sample")
	for name, count := range none {
		require.Zero(t, count, name)
	}
	s.pass(s.lease.GrantedAt)
	r.must(t, "m1", smsText, 0)
	r.must(t, "m1", smsText, 0)
	r.must(t, "m2", "인증번호 2222", s.lease.GrantedAt)
	r.must(t, "m3", "인증번호 3333", s.lease.GrantedAt-1)
	b := s.seat(s.b)
	s.ledger.refuse(b.Fence)
	s.pass(b.Fence/1000 + 20)
	require.Equal(t, ambiguous, r.must(t, "m4", "인증번호 4444", 0))
	_, err := r.send(t, "", smsText, 0)
	require.ErrorIs(t, err, ErrInvalidMessage)
	r.ledger.receive, r.ledger.judge = away, away
	require.Equal(t, noLease, r.must(t, "m5", "인증번호 5555", s.lease.GrantedAt-2))

	found := counts(t, registry)
	require.Len(t, found, len(none), "no answer makes a result of its own")
	for name := range none {
		if found[name] == 0 {
			delete(found, name)
		}
	}
	require.Equal(t, map[string]float64{"matched": 2, "late": 1, "no_lease": 2, "ambiguous": 1,
		"invalid_message":            1,
		"waitroom_sms_refused_total": 1, "waitroom_sms_ledger_away_total": 1, "waitroom_sms_answer_seconds": 7},
		found)
}

// counts returns the counters by label, or by name if they have none.
func counts(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name = label.GetValue()
			}
			found[name] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return found
}

func TestRoomWithASecretOfItsOwnIsSignedWithThatAlone(t *testing.T) {
	s := newStage(t)
	own, err := NewVerifier(otherSecret)
	require.NoError(t, err)
	r := s.replica(Config{Own: func(id room.ID) *Verifier {
		if id == integration {
			return own
		}
		return nil
	}})
	body := []byte(`{"message_id":"m-1","from":"1588","text":"hello"}`)
	for id, secrets := range map[room.ID][2]string{integration: {otherSecret, testSecret},
		"other": {testSecret, otherSecret}} {
		_, err = r.Receive(t.Context(), id, signed(t, secrets[0], time.Now(), body), body)
		require.NoError(t, err, id)
		_, err = r.Receive(t.Context(), id, signed(t, secrets[1], time.Now(), body), body)
		require.ErrorIs(t, err, ErrSignature, id)
	}
	alone, err := New(Config{Engine: s.engine, Own: r.Own})
	require.NoError(t, err)
	_, err = alone.Receive(t.Context(), "other", signed(t, testSecret, time.Now(), body), body)
	require.ErrorIs(t, err, ErrNotConfigured)
}

// usedBefore is a ledger in which a message of the day before has the same id.
type usedBefore struct {
	Ledger
	id string
}

func (u usedBefore) Receive(ctx context.Context, id room.ID, note room.MessageNote) (*room.Match, error) {
	if note.MessageID == u.id {
		return nil, fmt.Errorf("receive: %w", room.ErrIDUsedAgain)
	}
	return u.Ledger.Receive(ctx, id, note)
}

func TestMessageWhoseIDWasUsedADayAgoIsANewOneAndItsRepeatIsNot(t *testing.T) {
	s := newStage(t)
	s.one.Service.Ledger = usedBefore{s.one.ledger, "1"}
	sent := s.lease.GrantedAt
	for range 2 {
		require.Equal(t, s.matched(), s.one.must(t, "1", "인증번호 482913", sent))
	}
	require.Len(t, s.ledger.notes, 1)
	require.NotEqual(t, "1", s.ledger.notes[0].MessageID)
	require.Equal(t, room.Locked, s.seat(s.b).Status, "one message ended one turn")
}
