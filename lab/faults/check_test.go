package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASoundHistoryBreaksNoRule(t *testing.T) {
	s := turn()
	require.Empty(t, Check(s.records, s.ledger, s.rules))
}

// code adds a code that is matched to a, who has a socket.
func (s *scenario) code() {
	s.add(Record{Kind: KindOpen, Session: "a"})
	s.add(Record{Kind: KindMessage, Session: "a", Fence: 1000, Message: "m", Code: "QX1"})
	s.add(Record{Kind: KindCall, Op: "sms", HTTP: 200, Message: "m", Result: "matched", Fence: 1000})
}

// Redis's clock was set back, and the new lease begins at a time that the new clock has not reached.
func TestTimesOfTwoClocksAreNotCompared(t *testing.T) {
	s := newStory()
	s.locked("join", "a", 1, 1000, 1)
	s.waiting("join", "b", 2, 1, 1, 2)
	s.after(100).add(Record{Kind: KindClock, Offset: -20_000})
	s.after(400).locked("status", "b", 2, s.now, 3)
	require.Empty(t, s.kinds())
}

func TestACodeNeedNotBeShownToASellerThatIsGoneOrHasAnotherTurn(t *testing.T) {
	s := turn()
	s.rules.Shows = true
	s.code()
	s.after(50).add(Record{Kind: KindCall, Op: "join", Session: "a", HTTP: 202})
	s.code()
	s.add(Record{Kind: KindClose, Session: "a"})
	s.after(500).add(Record{Kind: KindNote})
	require.NotContains(t, s.kinds(), CodeUnseen)
}

// unclaimed is a history in which b, who has a socket, does not claim its turn within 800 ms. Then c gets the
// lock, and b comes back and is next.
func unclaimed() *scenario {
	s := newStory()
	s.rules.ClaimWithin = 800 * time.Millisecond
	s.add(Record{Kind: KindOpen, Session: "b", Socket: 1})
	s.locked("join", "a", 1, 1000, 1)
	s.waiting("join", "b", 2, 1, 1, 2)
	s.waiting("join", "c", 3, 2, 2, 3)
	s.ended("a", "completed", 1, 1000, 4)
	granted := s.now
	s.locked("status", "b", 2, granted, 4)
	s.frame(1, Record{Session: "b", Status: "locked", Ticket: 2, Fence: granted, Version: 4,
		ExpiresAt: base + granted + life, ClaimBy: base + granted + 800})
	s.after(800).locked("status", "c", 3, s.now, 5)
	s.add(Record{Kind: KindCall, Op: "status", HTTP: 200, Session: "b", Status: "waiting", Ticket: 2,
		Position: 1, Length: 1, Version: 5, Unclaimed: true})
	s.after(500).waiting("claim", "b", 2, 1, 1, 6)
	s.frame(1, Record{Session: "b", Status: "waiting", Ticket: 2, Position: 1, Length: 1, Version: 6})
	s.ledger = Ledger{Leases: []LeaseRow{{Room: "room", Fence: granted, Ticket: 2, Outcome: "unclaimed",
		Granted: base + granted, Ended: base + granted + 800}}}
	return s
}

func TestUnclaimedTurnIsTheNextSellersWithoutARuleBroken(t *testing.T) {
	s := unclaimed()
	require.Empty(t, Check(s.records, s.ledger, s.rules))
	t.Run("but not before it was to be claimed", func(t *testing.T) {
		s.ledger.Leases[0].Ended -= 100
		require.Equal(t, ClaimIgnored, Check(s.records, s.ledger, s.rules)[0].Kind)
	})
}

// notified is a turn with its webhooks.
func notified() *scenario {
	s := turn()
	s.rules.Webhooks = true
	next := s.ledger.Leases[1].Fence
	s.webhook("evt-1", "lock.granted", 1000, "")
	s.webhook("evt-2", "lock.ended", 1000, "completed")
	s.webhook("evt-3", "lock.granted", next, "")
	s.webhook("evt-4", "lock.ended", next, "cancelled")
	return s
}

func (s *scenario) webhook(id, kind string, fence int64, outcome string) {
	s.add(Record{Kind: KindWebhook, Webhook: id, Type: kind, Fence: fence, Outcome: outcome, HTTP: 204})
}

func TestWebhookThatComesAgainIsTheSameEvent(t *testing.T) {
	s := notified()
	s.webhook("evt-2", "lock.ended", 1000, "completed")
	require.Empty(t, s.kinds())
}

func TestAwaySellerMayBePassedOver(t *testing.T) {
	s := newStory()
	s.add(Record{Kind: KindOpen, Socket: 1, Session: "b"})
	s.locked("join", "a", 1, s.now, 1)
	s.waiting("join", "b", 2, 1, 1, 2)
	s.waiting("join", "c", 3, 2, 2, 3)
	s.add(Record{Kind: KindClose, Socket: 1, Session: "b"})
	s.after(6000).locked("status", "c", 3, s.now, 4)
	s.waiting("status", "b", 2, 1, 1, 4)
	require.NotContains(t, s.kinds(), Overtaken)
}

func TestWhoseReplicaWasTakenMayBePassedOver(t *testing.T) {
	s := newStory()
	s.add(Record{Kind: KindOpen, Socket: 1, Session: "b", Replica: "replica-1"})
	s.locked("join", "a", 1, s.now, 1)
	s.waiting("join", "b", 2, 1, 1, 2)
	s.waiting("join", "c", 3, 2, 2, 3)
	from := s.moment()
	s.after(6000).locked("status", "c", 3, s.now, 4)
	s.waiting("status", "b", 2, 1, 1, 4)
	s.add(Record{Kind: KindFault, Replicas: []string{"replica-1"}, Began: from})
	require.NotContains(t, s.kinds(), Overtaken)
}

// The replica knows only when it received the last answer.
func TestWhoseConnectionBreaksIsGoneSinceItWasHeardOf(t *testing.T) {
	for after, overtaken := range map[int64]bool{1500: true, 3500: false} {
		s := newStory()
		s.add(Record{Kind: KindOpen, Socket: 1, Session: "b", Replica: "replica-1"})
		s.locked("join", "a", 1, s.now, 1)
		s.waiting("join", "b", 2, 1, 1, 2)
		s.after(3000).waiting("join", "c", 3, 2, 2, 3)
		from := s.moment()
		s.after(after).locked("status", "c", 3, s.now, 4)
		s.waiting("status", "b", 2, 1, 1, 4)
		s.add(Record{Kind: KindFault, Replicas: []string{"replica-1"}, Began: from})
		require.Equal(t, overtaken, s.kinds()[Overtaken] > 0, after)
	}
}
