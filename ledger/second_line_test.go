package ledger_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

// dataOf returns the data of all events of a type.
func dataOf(t *testing.T, l *ledger.Ledger, kind string) (list []string) {
	t.Helper()
	for _, text := range column(t, l.DB(), `SELECT payload FROM outbox_tasks
		WHERE payload LIKE '{"type":"`+kind+`"%' ORDER BY id`) {
		var payload struct{ Data json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(text), &payload))
		list = append(list, string(payload.Data))
	}
	return list
}

func TestAMatchToALeaseKnownToBeOverOrPassedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		after []room.Record
		why   string
	}{
		"it expired":             {[]room.Record{ended(6, room.Expired)}, "over by something else: expired"},
		"support ended it":       {[]room.Record{ended(6, room.Forced)}, "over by something else: forced"},
		"another completed it":   {[]room.Record{ended(6, room.Completed)}, "over by something else: completed"},
		"the store lost it":      {[]room.Record{{Type: "epoch", At: 65}}, "over by something else: lost"},
		"the next was granted":   {[]room.Record{joined(7), granted(7)}, "below one that was granted"},
		"the next was, and left": {[]room.Record{ended(7, room.Cancelled)}, "below one that was granted"},
	} {
		for _, completes := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				onBoth(t, func(t *testing.T, b *bench) {
					l := b.open(t)
					b.life(5)
					b.write(1, joined(6), granted(6))
					b.write(2, c.after...)
					bad := matched("bad", 6)
					bad.Completes = completes
					b.write(1, bad)
					agreed, err := l.Judge(t.Context(), here, 1, bad)
					require.NoError(t, err)
					require.False(t, agreed)
					require.Equal(t, []string{"m-5 true", "bad false"}, b.journal.verdicts())
					require.Equal(t, []string{"m-5"}, column(t, l.DB(), `SELECT message_id FROM verifications`))
					require.Equal(t, []string{"match_refused bad"}, column(t, l.DB(), `SELECT kind || ' ' || subject
						FROM incidents`))
					require.Contains(t, b.log.String(), c.why)
					known, err := l.Receive(t.Context(), here, bad.MessageNote)
					require.NoError(t, err)
					require.Equal(t, room.Match{Result: room.Unmatched, Reason: room.Ambiguous, Epoch: 1, At: 70}, *known)
				})
			})
		}
	}
}

// In the journal, the end of the lease that the match caused and the next grant come after the match.
func TestALeaseThatItsMatchEndedIsNotOverBySomethingElse(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		one, two := b.open(t), b.open(t)
		b.write(1, joined(1), granted(1), joined(2))
		next := granted(2)
		next.GrantedAt = 20
		b.write(1, matched("m-1", 1), ended(1, room.Completed), next)
		b.write(1, joined(3))
		b.journal.failTrim = func() bool { return true }
		for _, l := range []*ledger.Ledger{one, two} { // and again what was applied before
			agreed, err := l.Judge(t.Context(), here, 1, matched("m-1", 1))
			require.NoError(t, err, "the verdict was reported, trimmed or not")
			require.True(t, agreed)
		}
		require.Equal(t, 1, count(t, one, "verifications"))
		require.Equal(t, 1, count(t, one, "outbox_tasks WHERE payload LIKE '{\"type\":\"sms.matched\"%'"))
		require.Zero(t, count(t, one, "incidents"))
	})
}

func TestWhatTheJournalLostIsJudgedByWhatTheLedgerKnows(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), ended(1, room.Expired))
		agreed, err := l.Judge(t.Context(), here, 1, matched("m-1", 1))
		require.NoError(t, err)
		require.False(t, agreed)
		require.Equal(t, []string{"m-1 false"}, b.journal.verdicts())
		require.Equal(t, []string{"match_refused"}, column(t, l.DB(), `SELECT kind FROM incidents`))
	})
}

func TestNothingFollowsTheCompletionOfALease(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		before, after := matched("before", 1), matched("after", 1)
		before.Completes, before.EndedAt, after.Completes = false, 15, false
		b.write(1, joined(1), granted(1), before, matched("it", 1))
		b.write(1, after)
		b.write(1, matched("again", 1))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"before true", "it true", "after false", "again false"}, b.journal.verdicts())
		require.Equal(t, []string{"before 15", "it 20"}, column(t, l.DB(), `SELECT message_id || ' ' || ended_at
			FROM verifications ORDER BY id`))
	})
}

// A duplicate has no lease of its own: it gets the first message's answer.
func TestADuplicateIsNotJudged(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(1)
		twin := matched("twin", 1)
		twin.Judge, twin.Completes, twin.Duplicate, twin.At = false, false, true, 25
		b.write(1, twin)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"m-1 true"}, b.journal.verdicts())
		require.Equal(t, []string{"m-1"}, column(t, l.DB(), `SELECT message_id FROM verifications`))
		require.Equal(t, 1, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"sms.matched\"%'"))
		require.Zero(t, count(t, l, "incidents"))
		require.Equal(t, []string{"matched  1000 1 1"}, column(t, l.DB(),
			`SELECT result || ' ' || verdict || ' ' || fence || ' ' || duplicate || ' ' || code FROM messages
				WHERE message_id = 'twin'`))
		known, err := l.Receive(t.Context(), here, twin.MessageNote)
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Matched, Duplicate: true, Ticket: 1, Fence: 1000, Epoch: 1,
			Granted: 10, Ended: 20, At: 25}, *known)
	})
}

func TestARepeatWasSentWhenItFirstCameByWhicheverClock(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for _, at := range []int64{50, 70, 30} { // the last replica's clock is behind
			known, err := l.Receive(t.Context(), here, room.MessageNote{MessageID: "m", Received: at})
			require.NoError(t, err)
			if at != 50 {
				require.NotNil(t, known)
				require.Equal(t, room.Match{At: 50}, *known)
			}
		}
		require.Equal(t, []string{"50"}, column(t, l.DB(), `SELECT received_at FROM messages`))
	})
}

// deaf is a room that refuses verdicts while it is down.
type deaf struct {
	*journal
	down bool
}

func (d *deaf) SettleMatch(ctx context.Context, id room.ID, messageID string, fence int64,
	agreed bool) error {
	if d.down {
		return room.ErrStore
	}
	return d.journal.SettleMatch(ctx, id, messageID, fence, agreed)
}

func TestAVerdictThatJudgeReturnsHasBeenReported(t *testing.T) {
	for name, journalled := range map[string]bool{"in the journal": true, "lost by the journal": false} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				rooms := &deaf{journal: b.journal, down: true}
				c := b.config()
				c.Rooms = rooms
				one, two := b.openWith(t, c), b.open(t)
				if journalled {
					b.life(1)
				}
				_, err := one.Judge(t.Context(), here, 1, matched("m-1", 1))
				require.ErrorIs(t, err, room.ErrStore)
				require.Empty(t, b.journal.verdicts())
				if journalled {
					require.NotZero(t, b.journal.left(here), "the replica that drains it reports")
				}
				agreed, err := two.Judge(t.Context(), here, 1, matched("m-1", 1))
				require.NoError(t, err)
				require.True(t, agreed)
				require.Equal(t, []string{"m-1 true"}, b.journal.verdicts())
				require.Equal(t, 1, count(t, two, "verifications"))
			})
		})
	}
}
