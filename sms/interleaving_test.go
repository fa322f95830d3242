package sms

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// The tests of this file are the lines of the table of failures in doc.go, in its order.

func TestTwoReplicasWithTheSameMessageGiveOneAnswer(t *testing.T) {
	between := map[string]func(*replica, func()){
		"before the match": func(r *replica, f func()) { r.engine.beforeMatch = f },
		"after the match":  func(r *replica, f func()) { r.engine.afterMatch = f },
		"before the verdict": func(r *replica,
			f func()) {
			r.ledger.judge = func(context.Context) error { f(); return nil }
		},
		"before it settles": func(r *replica, f func()) { r.engine.beforeSettle = f },
		"after it settles":  func(r *replica, f func()) { r.engine.afterSettle = f },
	}
	for name, hook := range between {
		for _, refused := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := newStage(t)
				want, shown := s.matched(), []string{smsText}
				if refused {
					s.ledger.refuse(s.lease.Fence)
					want, shown = ambiguous, nil
				}
				hook(s.one, func() { require.Equal(t, want, s.two.must(t, "m", smsText, 0)) })
				require.Equal(t, want, s.one.must(t, "m", smsText, 0))
				s.requireShown(s.a, shown...)
				s.requireShown(s.b)
				require.Equal(t, room.Locked, s.seat(s.b).Status, "one handoff")
				require.Len(t, s.ledger.records, 1)
			})
		}
	}
}

func TestManyRepeatsAtOnceGiveOneAnswer(t *testing.T) {
	s := newStage(t)
	const n = 20
	answers, errs := make([]Answer, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		header, body := post(t, "m", smsText, 0)
		all.Go(func() {
			answers[i], errs[i] = []*replica{s.one, s.two}[i%2].Receive(t.Context(), integration, header, body)
		})
	}
	all.Wait()
	for i := range n {
		require.NoError(t, errs[i])
		require.Equal(t, s.matched(), answers[i])
	}
	s.requireShown(s.a, smsText)
	require.Equal(t, room.Locked, s.seat(s.b).Status)
}

func TestRepeatAfterADeathBeforeTheMatchCountsFromTheFirstReception(t *testing.T) {
	s := newStage(t)
	s.pass(s.lease.GrantedAt)
	s.one.engine.beforeMatch = die
	dies(t, func() { _, _ = s.one.send(t, "m", smsText, 0) })
	s.pass(time.Now().UnixMilli() + 20) // by more than a message may be on its way
	s.leave(s.a)
	second := s.seat(s.b)
	require.Equal(t, room.Locked, second.Status)
	require.Equal(t, ambiguous, s.two.must(t, "m", smsText, 0),
		"it may have been sent at any time since it was first read: a held the lock, and b does")
	require.Equal(t, second, s.seat(s.b))
}

// The ledger is slow to judge a message without a sending time, and meanwhile the lock is handed on.
func TestMessageThatWaitedForTheLedgerIsNotTheNextLeases(t *testing.T) {
	s := newStage(t)
	s.one.ledger.receive = func(context.Context) error {
		s.pass(s.lease.GrantedAt + 20)
		s.leave(s.a)
		s.pass(s.seat(s.b).Fence/1000 + 20)
		return nil
	}
	require.Equal(t, ambiguous, s.one.must(t, "m", smsText, 0))
	require.Equal(t, room.Locked, s.seat(s.b).Status)
}

func TestRepeatAfterADeathBeforeTheMatchIsMatched(t *testing.T) {
	s := newStage(t)
	s.one.engine.beforeMatch = die
	dies(t, func() { _, _ = s.one.send(t, "m", smsText, s.lease.GrantedAt) })
	require.Equal(t, room.Locked, s.seat(s.a).Status)
	require.Equal(t, s.matched(), s.two.must(t, "m", smsText, s.lease.GrantedAt))
	s.requireShown(s.a, smsText)
}

func TestDeathBetweenMatchAndVerdictIsFinishedByTheDrainOrARepeat(t *testing.T) {
	for name, first := range map[string]func(*stage){
		"drain":             (*stage).drain,
		"repeat":            func(s *stage) { s.two.must(s.t, "m", smsText, 0) },
		"repeat then drain": func(s *stage) { s.two.must(s.t, "m", smsText, 0); s.drain() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.one.engine.afterMatch = die
			dies(t, func() { _, _ = s.one.send(t, "m", smsText, 0) })
			s.requireShown(s.a)
			require.Equal(t, room.Locked, s.seat(s.b).Status, "the next seller did not wait for it")
			first(s)
			s.requireShown(s.a, smsText)
			require.Equal(t, s.matched(), s.two.must(t, "m", smsText, 0))
			require.Len(t, s.ledger.records, 1)
		})
	}
}

func TestDeathBetweenVerdictAndSettlingIsFinishedByTheDrain(t *testing.T) {
	for _, refused := range []bool{false, true} {
		s := newStage(t)
		want, shown := s.matched(), []string{smsText}
		if refused {
			s.ledger.refuse(s.lease.Fence)
			want, shown = ambiguous, nil
		}
		s.one.engine.beforeSettle = die
		dies(t, func() { _, _ = s.one.send(t, "m", smsText, 0) })
		s.requireShown(s.a)
		s.two.engine.beforeMatch = func() { require.Fail(t, "the ledger knows the answer") }
		require.Equal(t, want, s.two.must(t, "m", smsText, 0))
		s.drain()
		s.requireShown(s.a, shown...)
		require.Equal(t, want, s.two.must(t, "m", smsText, 0))
	}
}

func TestLedgerThatIsAwayHoldsNoSellerUp(t *testing.T) {
	for name, way := range map[string]func(context.Context) error{"refuses": away, "hangs": hangs} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			r := s.replica(Config{Completes: true, LedgerWait: 5 * time.Millisecond})
			r.ledger.receive, r.ledger.judge = way, way
			require.Equal(t, s.matched(), r.must(t, "m", smsText, 0))
			s.requireShown(s.a, smsText)
			require.Equal(t, s.matched(), r.must(t, "m", smsText, 0), "Redis knows it")
			require.Equal(t, noLease, r.must(t, "n", "[쿠팡] 인증번호 112233", s.lease.GrantedAt-1))
			require.Empty(t, s.ledger.received)
			s.drain()
			require.Equal(t, s.matched(), s.two.must(t, "m", smsText, 0), "the ledger has it now")
			require.Len(t, s.ledger.records, 2)
			s.requireShown(s.a, smsText)
		})
	}
}

func TestRefusalAfterTheLedgerWasAwayWithdrawsTheMessage(t *testing.T) {
	s := newStage(t)
	s.ledger.refuse(s.lease.Fence)
	s.one.ledger.judge = away
	require.Equal(t, s.matched(), s.one.must(t, "m", smsText, 0))
	s.requireShown(s.a, smsText)
	s.drain()
	s.requireShown(s.a)
	require.Equal(t, ambiguous, s.one.must(t, "m", smsText, 0))
	require.Equal(t, ambiguous, s.two.must(t, "m", smsText, 0))
}

func TestVerdictThatTheReplicaDidNotHearCountsAllTheSame(t *testing.T) {
	s := newStage(t)
	s.ledger.refuse(s.lease.Fence)
	s.one.ledger.judge = func(context.Context) error {
		s.drain()
		return errors.New("the answer was lost")
	}
	require.Equal(t, ambiguous, s.one.must(t, "m", smsText, 0))
	s.requireShown(s.a)
}

func TestMessageOfLostDataBelongsToNoNewLease(t *testing.T) {
	for _, sent := range []bool{false, true} {
		s := newStage(t)
		at, want := int64(0), ambiguous // it is not known what else was lost
		if sent {
			at, want = s.lease.GrantedAt, noLease
		}
		s.one.engine.afterMatch = die
		dies(t, func() { _, _ = s.one.send(t, "m", smsText, at) })
		require.NoError(t, s.rdb.FlushDB(t.Context()).Err())
		s.pass(time.Now().UnixMilli() + 20) // by more than a message may be on its way
		next := s.join(s.b, "b")
		require.Equal(t, room.Locked, next.Status)
		require.Equal(t, want, s.two.must(t, "m", smsText, at))
		require.Equal(t, room.Locked, s.seat(s.b).Status)
		s.requireShown(s.b)
	}
}

func TestLedgerAnswersARepeatWhenRedisHasLostIt(t *testing.T) {
	s := newStage(t)
	require.Equal(t, s.matched(), s.one.must(t, "m", smsText, 0))
	none := s.one.must(t, "n", "[쿠팡] 인증번호 112233", s.lease.GrantedAt-1)
	s.drain()
	require.NoError(t, s.rdb.FlushDB(t.Context()).Err())
	next := s.join(s.b, "b")
	require.Equal(t, s.matched(), s.two.must(t, "m", smsText, 0))
	require.Equal(t, none, s.two.must(t, "n", "[쿠팡] 인증번호 112233", 0))
	require.Equal(t, next.Version, s.join(s.b, "b").Version, "the new epoch's lease is untouched")
	s.requireShown(s.b)
}

func TestSameIDWithOtherContentIsARepeat(t *testing.T) {
	s := newStage(t)
	require.Equal(t, s.matched(), s.one.must(t, "m", smsText, 0))
	require.Equal(t, s.matched(), s.two.must(t, "m", "인증번호 9999", s.lease.GrantedAt-1000))
	s.requireShown(s.a, smsText)
	s.requireShown(s.b)
	require.Len(t, s.ledger.notes, 1)

	s.two.ledger.receive, s.two.ledger.judge = away, away
	require.Equal(t, s.matched(), s.two.must(t, "m", "인증번호 9999", 0))
	s.requireShown(s.a, smsText)
}

func TestRefusedMatchIsAnsweredAsAmbiguousAndShownToNoSeller(t *testing.T) {
	s := newStage(t)
	s.ledger.refuse(s.lease.Fence)
	for range 2 {
		require.Equal(t, ambiguous, s.one.must(t, "m", smsText, 0))
	}
	s.requireShown(s.a)
	s.drain()
	s.requireShown(s.a)
	require.Equal(t, ambiguous, s.two.must(t, "m", smsText, 0))
}
