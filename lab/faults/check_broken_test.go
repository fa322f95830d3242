package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each history breaks one rule, which the checker has to name.
func TestEveryBrokenRuleIsNamed(t *testing.T) {
	for name, lie := range map[string]struct {
		kind  string
		build func() *scenario
	}{
		"the next lease begins while the one before has time left and was not ended": {TwoHolders, func() *scenario {
			s := newStory()
			s.locked("join", "a", 1, 1000, 1)
			s.waiting("join", "b", 2, 1, 1, 2)
			s.after(500).locked("status", "b", 2, s.now, 3)
			return s
		}},
		"a lease that was claimed ends as unclaimed": {ClaimIgnored, func() *scenario {
			s := unclaimed()
			fence := s.ledger.Leases[0].Fence
			s.add(Record{Kind: KindCall, Op: "claim", HTTP: 200, Session: "b", Status: "locked", Ticket: 2,
				Fence: fence, Version: 4, GrantedAt: base + fence, ExpiresAt: base + fence + life,
				Began: Moment{1, base + fence + 1}, Ended: Moment{2, base + fence + 2}})
			return s
		}},
		"one that said that it is back is passed over": {Overtaken, func() *scenario {
			s := unclaimed()
			s.ended("c", "completed", 3, 0, 7)
			s.after(5000).locked("join", "d", 4, s.now, 8)
			s.waiting("status", "b", 2, 1, 1, 8)
			return s
		}},
		"an answer shows a lease as held, at a version after the next one's": {TwoHolders, func() *scenario {
			s := turn()
			s.locked("status", "a", 1, 1000, 5)
			return s
		}},
		"one fence is given to two": {TwoHolders, func() *scenario {
			s := turn()
			s.locked("status", "c", 3, 1000, 5)
			return s
		}},
		"after a loss a newcomer is granted before the observed lease is over": {TwoHolders, func() *scenario {
			s := newStory()
			s.rules.Loses = true
			s.locked("join", "a", 1, 1000, 9)
			s.after(500).add(Record{Kind: KindCall, Op: "join", HTTP: 200, Session: "b", Status: "locked", Ticket: 2,
				Fence: 1500, Epoch: 8, Version: 1,
				GrantedAt: base + 1500, ExpiresAt: base + 1500 + life})
			return s
		}},
		"an answer says held after the lease's end": {HeldTooLong, func() *scenario {
			s := newStory()
			s.locked("join", "a", 1, 1000, 1)
			s.after(life+500).locked("status", "a", 1, 1000, 2)
			return s
		}},
		"a socket says held long after the next one was granted": {HeldTooLong, func() *scenario {
			s := turn()
			s.after(5000).frame(1, Record{Session: "a", Status: "locked", Ticket: 1, Fence: 1000, Version: 2,
				ExpiresAt: base + 20_000})
			return s
		}},
		"a lease's end lies further ahead than a lease is long": {EndTooFar, func() *scenario {
			s := newStory()
			s.add(Record{Kind: KindCall, Op: "join", HTTP: 200, Session: "a", Status: "locked", Ticket: 1, Fence: 1000,
				Version:   1,
				GrantedAt: base + 1000, ExpiresAt: base + 1000 + 5*life})
			return s
		}},
		"a frame's time is ahead of Redis's": {TimeOff, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindFrame, Type: "state", Socket: 1, Session: "a", Status: "idle", Version: 5,
				ServerTime: base + s.now + 5000})
			return s
		}},
		"the time goes on as before its clock was set": {TimeOff, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindClock, Offset: 20_000})
			s.after(10_000).frame(1, Record{Session: "a", Status: "idle", Version: 5})
			return s
		}},
		"an answer's time is long past": {TimeOff, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindCall, Op: "status", HTTP: 200, Session: "a", Status: "idle", Version: 5,
				ServerTime: base + s.now - 2000})
			return s
		}},
		"after a fault a free lock is not granted": {NoService, func() *scenario {
			s := newStory()
			s.add(Record{Kind: KindFault, Fault: "SIGKILL Redis"})
			s.after(20_000).add(Record{Kind: KindCall, Op: "join", Room: prefix + "probe", HTTP: 503, Session: "p"})
			return s
		}},
		"after a fault calls are answered too late": {NoService, func() *scenario {
			s := newStory()
			s.rules.Serves = 2 * time.Second
			s.add(Record{Kind: KindFault, Fault: "master killed"})
			s.after(3000).add(Record{Kind: KindCall, Op: "join", Room: prefix + "probe", HTTP: 200, Session: "p",
				Status: "locked", Ticket: 1, Fence: s.now, Version: 1,
				GrantedAt: base + s.now, ExpiresAt: base + s.now + life})
			return s
		}},
		"the lock is free, a present seller waits, and does not get it": {Stuck, func() *scenario {
			s := newStory()
			s.locked("join", "a", 1, 1000, 1)
			s.waiting("join", "b", 2, 1, 1, 2)
			s.after(life+10_000).waiting("status", "b", 2, 1, 1, 3)
			return s
		}},
		"who came later is granted while who came earlier is there and waits": {Overtaken, func() *scenario {
			s := newStory()
			s.locked("join", "a", 1, 1000, 1)
			s.waiting("join", "b", 2, 1, 1, 2)
			s.waiting("join", "c", 3, 2, 2, 3)
			s.after(100).ended("a", "completed", 1, 1000, 4)
			s.locked("status", "c", 3, s.now, 4)
			s.waiting("status", "b", 2, 1, 1, 4)
			return s
		}},
		"who has had a socket all the time is passed over as away": {Overtaken, func() *scenario {
			s := newStory()
			s.add(Record{Kind: KindOpen, Socket: 1, Session: "b"})
			s.after(7000).locked("join", "a", 1, s.now, 1)
			held := s.now - 1
			s.waiting("join", "b", 2, 1, 1, 2)
			s.waiting("join", "c", 3, 2, 2, 3)
			s.after(3000).ended("a", "completed", 1, held, 4)
			s.locked("status", "c", 3, s.now, 4)
			s.waiting("status", "b", 2, 1, 1, 4)
			return s
		}},
		"a later lease has a lower fence": {FenceBack, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindCall, Op: "join", HTTP: 200, Session: "c", Status: "locked", Ticket: 3, Fence: 900,
				Version: 6, GrantedAt: base + s.now,
				ExpiresAt: base + s.now + life})
			return s
		}},
		"a ticket is given to two sessions": {TicketReused, func() *scenario {
			s := turn()
			s.waiting("join", "c", 2, 1, 1, 6)
			return s
		}},
		"a new place has a ticket below one that was given": {TicketBack, func() *scenario {
			s := newStory()
			s.locked("join", "a", 5, 1000, 1)
			s.waiting("join", "b", 4, 1, 1, 2)
			return s
		}},
		"two are shown one position at one version": {SamePosition, func() *scenario {
			s := newStory()
			s.locked("join", "a", 1, 1000, 1)
			s.waiting("join", "b", 2, 1, 2, 3)
			s.waiting("join", "c", 3, 1, 2, 3)
			return s
		}},
		"a position is past the end of the line": {SamePosition, func() *scenario {
			s := newStory()
			s.waiting("join", "b", 2, 3, 2, 3)
			return s
		}},
		"a session gets a second place while its lease lives": {TwoPlaces, func() *scenario {
			s := newStory()
			s.locked("join", "a", 1, 1000, 1)
			s.waiting("join", "a", 2, 1, 1, 2)
			return s
		}},
		"pressing again gives a waiter a second place": {TwoPlaces, func() *scenario {
			s := newStory()
			s.waiting("join", "a", 1, 1, 1, 1)
			s.waiting("join", "a", 2, 2, 2, 2)
			return s
		}},
		"a ticket ends twice": {TwoOutcomes, func() *scenario {
			s := turn()
			s.ended("b", "expired", 2, 0, 9)
			return s
		}},
		"a ticket that has ended waits again": {BackFromEnd, func() *scenario {
			s := turn()
			s.waiting("status", "b", 2, 1, 1, 9)
			return s
		}},
		"a ticket that was shown as lost holds again": {BackFromEnd, func() *scenario {
			s := newStory()
			s.rules.Loses = true
			s.locked("join", "a", 1, 1000, 1)
			s.add(Record{Kind: KindCall, Op: "status", HTTP: 200, Session: "a", Status: "ended", Outcome: "lost",
				Epoch: 8, Version: 1})
			s.after(5).locked("status", "a", 1, 1000, 2)
			return s
		}},
		"nothing is known any more of who had a place": {Vanished, func() *scenario {
			s := newStory()
			s.waiting("join", "a", 1, 1, 1, 1)
			s.add(Record{Kind: KindCall, Op: "status", HTTP: 200, Session: "a", Status: "idle", Version: 2})
			return s
		}},
		"a place is shown as lost where nothing was lost": {LostUnasked, func() *scenario {
			s := newStory()
			s.waiting("join", "a", 1, 1, 1, 1)
			s.frame(1, Record{Session: "a", Status: "ended", Outcome: "lost", Ticket: 1, Version: 2})
			return s
		}},
		"an epoch begins where nothing was lost": {LostUnasked, func() *scenario {
			s := newStory()
			s.waiting("join", "a", 1, 1, 1, 1)
			s.add(Record{Kind: KindCall, Op: "status", HTTP: 200, Session: "a", Status: "waiting", Ticket: 1,
				Position: 1, Length: 1, Epoch: 8, Version: 1})
			return s
		}},
		"a socket is sent an older version": {VersionBack, func() *scenario {
			s := newStory()
			s.frame(1, Record{Session: "a", Status: "idle", Version: 5})
			s.frame(1, Record{Session: "a", Status: "idle", Version: 4})
			return s
		}},
		"a socket is sent an older epoch": {VersionBack, func() *scenario {
			s := newStory()
			s.frame(1, Record{Session: "a", Status: "idle", Epoch: 8, Version: 1})
			s.frame(1, Record{Session: "a", Status: "idle", Epoch: 7, Version: 9})
			return s
		}},
		"a socket does not get the turn that the API answers": {SocketBehind, func() *scenario {
			s := newStory()
			s.add(Record{Kind: KindOpen, Socket: 1, Session: "a"})
			s.frame(1, Record{Session: "a", Status: "idle", Version: 1})
			s.locked("join", "a", 1, s.now, 2)
			return s
		}},
		"a code is shown to another session": {WrongCode, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindMessage, Session: "a", Fence: 1000, Message: "m", Code: "QX1"})
			s.add(Record{Kind: KindFrame, Type: "sms", Session: "b", Message: "m", Code: "QX1"})
			return s
		}},
		"a message is attributed to another lease": {WrongCode, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindMessage, Session: "a", Fence: 1000, Message: "m", Code: "QX1"})
			s.add(Record{Kind: KindCall, Op: "sms", HTTP: 200, Message: "m", Result: "late", Fence: 1504})
			return s
		}},
		"a message gets another answer when it is repeated": {WrongCode, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindMessage, Session: "a", Fence: 1000, Message: "m", Code: "QX1"})
			s.add(Record{Kind: KindCall, Op: "sms", HTTP: 200, Message: "m", Result: "late", Fence: 1000})
			s.add(Record{Kind: KindCall, Op: "sms", HTTP: 200, Message: "m", Result: "unmatched"})
			return s
		}},
		"a code that came for a seller with a socket is not shown": {CodeUnseen, func() *scenario {
			s := turn()
			s.rules.Shows = true
			s.code()
			s.after(500).add(Record{Kind: KindClose, Session: "a"})
			return s
		}},
		"the ledger keeps a code": {CodeLeaked, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindMessage, Session: "a", Fence: 1000, Message: "m", Code: "QX1"})
			s.ledger.Bodies = "[마켓] QX1"
			return s
		}},
		"an observed lease is not in the ledger": {LedgerMissing, func() *scenario {
			s := turn()
			s.ledger.Leases = s.ledger.Leases[1:]
			return s
		}},
		"an observed ticket is not in the ledger": {LedgerMissing, func() *scenario {
			s := turn()
			s.ledger.Places = s.ledger.Places[:1]
			return s
		}},
		"the ledger has another outcome than was shown": {LedgerMissing, func() *scenario {
			s := turn()
			s.ledger.Places[1].Outcome = "expired"
			return s
		}},
		"two leases overlap in the ledger": {LedgerOverlap, func() *scenario {
			s := turn()
			s.ledger.Leases[0].Ended += 50
			return s
		}},
		"a place is open in the ledger": {LedgerOutcomes, func() *scenario {
			s := turn()
			s.ledger.Places[1].Outcome = ""
			return s
		}},
		"a ticket has two outcomes in the ledger": {LedgerOutcomes, func() *scenario {
			s := turn()
			s.ledger.Places = append(s.ledger.Places, PlaceRow{Room: "room", Epoch: 8, Ticket: 2, Outcome: "lost"})
			return s
		}},
		"the integration gets a lease's end before it has taken its grant": {WebhookOrder,
			func() *scenario {
				s := notified()
				s.records[len(s.records)-4].HTTP = 503
				return s
			}},
		"the integration gets one lease by two events": {WebhookTwice, func() *scenario {
			s := notified()
			s.webhook("evt-5", "lock.ended", 1000, "completed")
			return s
		}},
		"the integration does not get a lease's end": {WebhookMissing, func() *scenario {
			s := notified()
			s.records = s.records[:len(s.records)-1]
			return s
		}},
		"the integration gets another end than the ledger has": {WebhookMissing, func() *scenario {
			s := notified()
			s.ledger.Leases[0].Outcome = "expired"
			return s
		}},
		"the integration does not get a match": {WebhookMissing, func() *scenario {
			s := notified()
			s.ledger.Messages = []MessageRow{{Room: "room", ID: "m", Result: "matched", Fence: 1000}}
			return s
		}},
		"a webhook has a signature that is not ours": {WebhookMissing, func() *scenario {
			s := notified()
			s.add(Record{Kind: KindWebhook, Webhook: "evt-5", Error: "signature"})
			return s
		}},
		"one whose connection hung is granted the lock": {GhostGranted, func() *scenario {
			s := turn()
			s.add(Record{Kind: KindGhost, Session: "b", Detail: "ghost-0"})
			s.ledger.Leases = append(s.ledger.Leases,
				LeaseRow{Room: "room", Epoch: 7, Fence: 60_000, Ticket: 2, Seller: "ghost-0", Outcome: "expired",
					Granted: base + 60_000, Ended: base + 64_000})
			return s
		}},
		"an outcome is counted by no replica": {Miscounted, func() *scenario {
			s := counted()
			s.ledger.Counted.All["place completed"]--
			return s
		}},
		"an incident is counted by two": {Miscounted, func() *scenario {
			s := counted()
			s.ledger.Incidents = []string{"match_refused"}
			s.ledger.Counted.All["incident match_refused"] = 2
			return s
		}},
		"a message is counted that the ledger does not have": {Miscounted, func() *scenario {
			s := counted()
			s.ledger.Counted.All["message late"] = 1
			return s
		}},
		"more is uncounted than ended processes can have": {Miscounted, func() *scenario {
			s := counted()
			s.ledger.Counted.All["lease completed"], s.ledger.Counted.Unseen = 0, Counts{"lease cancelled": 1}
			return s
		}},
		"a ticket is missing in the ledger": {LedgerGap, func() *scenario {
			s := turn()
			s.ledger.Places = append(s.ledger.Places, PlaceRow{Room: "room", Epoch: 7, Ticket: 4, Outcome: "expired"})
			return s
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := lie.build()
			require.Contains(t, s.kinds(), lie.kind)
		})
	}
}
