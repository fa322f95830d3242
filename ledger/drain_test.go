package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

func TestADrainWritesWhatHappenedAndTrimsTheJournal(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, room.Record{Type: "epoch", At: 1})
		b.life(1)
		b.write(1, room.Record{Type: "action", At: 31, Who: "kim", Action: "extend", Reason: "slow carrier",
			Ticket: 2, Fence: 2000})
		b.write(1, joined(3), room.Record{Type: "ended", At: 35, Ticket: 3, Seller: "s-3", Outcome: room.Cancelled,
			EndedAt: 35})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Zero(t, b.journal.left(here))

		require.Equal(t, []string{"1 s-1 10 20 completed 1000", "3 s-3 30 35 cancelled -"}, column(t, l.DB(),
			`SELECT ticket || ' ' || seller || ' ' || joined_at || ' ' || ended_at || ' ' || outcome || ' ' ||
				COALESCE(CAST(fence AS TEXT), '-') FROM places ORDER BY ticket`))
		require.Equal(t, []string{"1000 1 s-1 10 20 completed"}, column(t, l.DB(),
			`SELECT fence || ' ' || ticket || ' ' || seller || ' ' || granted_at || ' ' || ended_at || ' ' || outcome
				FROM leases`))
		require.Equal(t, []string{"m-1 matched agreed 1000"}, column(t, l.DB(),
			`SELECT message_id || ' ' || result || ' ' || verdict || ' ' || fence FROM messages`))
		require.Equal(t, []string{"kim extend slow carrier 2000"}, column(t, l.DB(),
			`SELECT who || ' ' || action || ' ' || reason || ' ' || fence FROM actions`))
		require.Equal(t, 8, count(t, l, "timeline"))
		require.Equal(t, []string{"m-1 true"}, b.journal.verdicts())
		require.Equal(t, []string{`{"type":"lock.granted"`, `{"type":"sms.matched",`, `{"type":"lock.ended","`},
			column(t, l.DB(),
				`SELECT SUBSTR(payload, 1, 22) FROM outbox_tasks WHERE kind = 'webhook' AND task_key = 'integration/1000'
				ORDER BY id`))
		require.JSONEq(t, `{"type":"lock.ended","timestamp":"1970-01-01T00:00:00.020Z","data":{"room":"integration","ticket":1,
			"fence":1000,"seller_id":"s-1","granted_at":"1970-01-01T00:00:00.010Z","expires_at":"1970-01-01T00:00:00.130Z",
			"ended_at":"1970-01-01T00:00:00.020Z","outcome":"completed"}}`,
			column(t, l.DB(), `SELECT payload FROM outbox_tasks WHERE payload LIKE '{"type":"lock.ended"%'`)[0])
	})
}

// Three replicas drain at the same time. Again and again one dies between writing the rows and trimming the
// journal.
func TestNothingIsMissingOrDoubledWhenDrainersDieBeforeTheyTrim(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		const lives = 60
		b.journal.failTrim = func() bool { return rand.IntN(3) == 0 }
		replicas := []*ledger.Ledger{b.open(t), b.open(t), b.open(t)}
		var wg sync.WaitGroup
		wg.Go(func() {
			for n := range lives {
				b.life(int64(n + 1))
			}
		})
		for _, l := range replicas {
			wg.Go(func() {
				for range 80 {
					if err := l.Drain(t.Context(), here); err != nil && !errors.Is(err, errLost) {
						t.Errorf("drain: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
		b.journal.failTrim = nil
		l := replicas[0]
		require.NoError(t, l.Drain(t.Context(), here))
		require.Zero(t, b.journal.left(here))
		for from, want := range map[string]int{
			"timeline": 4 * lives, "places WHERE outcome = 'completed'": lives,
			"leases WHERE outcome = 'completed'": lives,
			"messages WHERE verdict = 'agreed'":  lives, "verifications": lives, "outbox_tasks": 3 * lives,
			"incidents": 0, "parked": 0,
		} {
			require.Equal(t, want, count(t, l, from), from)
		}
	})
}

func TestANewEpochEndsWhatWasOpenAsLost(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), joined(2))
		b.write(1, room.Record{Type: "ended", At: 15, Ticket: 2, Seller: "s-2", Outcome: room.Cancelled,
			EndedAt: 15})
		b.write(1, joined(3))
		b.write(50, room.Record{Type: "epoch", At: 99},
			room.Record{Type: "joined", At: 99, Ticket: 1, Seller: "s-9"})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"1/1 lost 99", "1/2 cancelled 15", "1/3 lost 99", "50/1 open -"},
			column(t, l.DB(),
				`SELECT epoch || '/' || ticket || ' ' || COALESCE(outcome,
				'open') || ' ' || COALESCE(CAST(ended_at AS TEXT), '-')
			FROM places ORDER BY epoch, ticket`))
		require.Equal(t, []string{"lost"}, column(t, l.DB(), `SELECT outcome FROM leases`))
		require.Equal(t, 1, count(t, l,
			"outbox_tasks WHERE payload LIKE '{\"type\":\"lock.ended\"%' AND payload LIKE '%\"lost\"%'"))
		require.Equal(t, 2, count(t, l, "timeline WHERE entry = 'lost'"))
	})
}

func TestALateEndDoesNotChangeAnOutcome(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1))
		b.write(2, room.Record{Type: "epoch", At: 15})
		b.write(1, ended(1, room.Completed)) // a master that was cut off had gone on
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"lost"}, column(t, l.DB(), `SELECT outcome FROM places`))
		require.Equal(t, []string{"lost"}, column(t, l.DB(), `SELECT outcome FROM leases`))
		require.Equal(t, 1, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"lock.ended\"%'"))
	})
}

func TestAnEndWithoutItsBeginningIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, ended(7, room.Expired))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, 1, count(t, l, "places WHERE outcome = 'expired' AND joined_at IS NULL"))
		require.Equal(t, 1, count(t, l, "leases WHERE outcome = 'expired' AND granted_at IS NULL"))
	})
}

func TestAnOddRecordIsParkedAndHoldsUpNoOther(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1))
		b.write(1, room.Record{Type: "joined", At: 5}, joined(2)) // the first has no ticket
		b.write(1, room.Record{Type: "granted", At: 5, Ticket: 8, Seller: "s-8", Fence: 1000})
		b.journal.add(here, room.Entry{ID: "x", Odd: errors.New("records: not JSON"), Raw: "records:code 482913"})
		b.write(1, room.Record{Type: "from the future", At: 6, Ticket: 2})
		b.write(1, ended(1, room.Expired))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Zero(t, b.journal.left(here))
		require.Equal(t, 3, count(t, l, "parked"))
		require.Equal(t, 1, count(t, l, "places WHERE ticket = 2"))
		require.Equal(t, 1, count(t, l, "leases WHERE outcome = 'expired'"))
		require.Equal(t, 1, count(t, l, "timeline WHERE kind = 'from the future'"))
		require.Equal(t, 3, strings.Count(b.log.String(), "level=ERROR"))
		require.NotContains(t, strings.Join(column(t, l.DB(), `SELECT body FROM parked`), ""), "482913")
	})
}

func TestATicketGivenOutTwiceIsAnIncident(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1))
		b.write(1, room.Record{Type: "joined", At: 77, Ticket: 1, Seller: "other"})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"other"}, column(t, l.DB(), `SELECT seller FROM places`))
		require.Equal(t, 1, count(t, l, "timeline WHERE entry = 'lost' AND seller = 's-1'"))
		require.Equal(t, []string{"ticket_reused"}, column(t, l.DB(), `SELECT kind FROM incidents`))
	})
}

func TestReconcileEndsWhatARoomNoLongerKnows(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.journal.epoch = 1
		b.write(1, joined(1), granted(1), joined(2))
		require.NoError(t, l.Drain(t.Context(), here))
		require.NoError(t, l.Reconcile(t.Context()))
		require.Equal(t, 2, count(t, l, "places WHERE outcome IS NULL"), "the room is still in that epoch")

		b.journal.epoch = 0 // the store was started anew
		b.write(1, joined(3))
		require.NoError(t, l.Reconcile(t.Context()))
		require.Equal(t, 2, count(t, l, "places WHERE outcome IS NULL"), "the journal has something to say yet")
		require.NoError(t, l.Drain(t.Context(), here))
		require.NoError(t, l.Reconcile(t.Context()))
		require.Equal(t, 3, count(t, l, "places WHERE outcome = 'lost'"))
		require.Equal(t, 1, count(t, l, "leases WHERE outcome = 'lost'"))
		require.Equal(t, 1, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"lock.ended\"%'"))
	})
}

func TestReplicasThatStartAtOnceMigrateOnce(t *testing.T) {
	onEmpty(t, func(t *testing.T, b *bench) {
		var wg sync.WaitGroup
		errs := make(chan error, 3)
		for range 3 {
			wg.Go(func() {
				c := b.config()
				var err error
				if c.DB, err = b.database(t.Context()); err == nil {
					err = errors.Join(ledger.New(c).Drain(t.Context(), here), c.DB.Close())
				}
				errs <- err
			})
		}
		wg.Wait()
		for range 3 {
			require.NoError(t, <-errs)
		}
		l := b.open(t)
		require.Zero(t, count(t, l, "outbox_tasks"))
		require.Empty(t, l.Status().Error)
	})
}

func TestWithoutAReceiverNothingIsEnqueued(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		c := b.config()
		c.Webhooks = false
		l := b.openWith(t, c)
		b.life(1)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Zero(t, count(t, l, "outbox_tasks"))
	})
}

func TestAFillingJournalIsSaidLoudly(t *testing.T) {
	b := newBench("sqlite:" + t.TempDir() + "/waitroom.db")
	c := b.config()
	c.JournalMax = 100
	l := b.openWith(t, c)
	l.JournalSeen(here, room.Checked{Journal: 49})
	require.NotContains(t, b.log.String(), "fills up")
	for range 10 {
		l.JournalSeen(here, room.Checked{Journal: 50})
	}
	require.Equal(t, 1, strings.Count(b.log.String(), "fills up"), "not at every look")
	require.Equal(t, 50, l.Status().Pending)
	require.False(t, l.Status().Behind)
	b.now.Move(4e9)
	require.True(t, l.Status().Behind)
}

func TestNoDigitOfAMessageIsWrittenDown(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		_, err := l.Receive(t.Context(), here,
			room.MessageNote{MessageID: "direct", From: "+82 10-1234-5678", Text: "인증번호 ４８２９１３ 482913 ٤٨٢٩",
				Received: 5})
		require.NoError(t, err)
		b.life(1)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"+** **-****-5678|인증번호 ****** ****** ****", "*******5678|code ******"},
			column(t, l.DB(),
				`SELECT sender || '|' || body FROM messages ORDER BY message_id`))
		for _, table := range []string{"timeline", "outbox_tasks", "parked", "incidents"} {
			cols := map[string]string{"timeline": "detail", "outbox_tasks": "payload", "parked": "body",
				"incidents": "detail"}
			for _, text := range column(t, l.DB(), fmt.Sprintf("SELECT %s FROM %s", cols[table], table)) {
				require.NotContains(t, text, "482913")
			}
		}
	})
}
