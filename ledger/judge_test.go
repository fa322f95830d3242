package ledger_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestAMatchThatBreaksARuleIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		bad func(*room.Record)
		why string
	}{
		"the fence of an accepted one": {func(r *room.Record) { r.Fence, r.GrantedAt, r.EndedAt = 5000, 50, 60 }, "fence"},
		"a lower fence":                {func(r *room.Record) { r.Fence = 4999 }, "fence"},
		"an overlapping lease":         {func(r *room.Record) { r.GrantedAt = 59 }, "overlaps"},
		"a lease within another":       {func(r *room.Record) { r.GrantedAt, r.EndedAt = 55, 55 }, "overlaps"},
		"a lease around another":       {func(r *room.Record) { r.GrantedAt, r.EndedAt = 40, 90 }, "overlaps"},
		"no lease":                     {func(r *room.Record) { r.Fence = 0 }, "lease is not one"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.open(t)
				b.life(5)
				bad := matched("bad", 6)
				c.bad(&bad)
				b.write(1, joined(6), bad)
				agreed, err := l.Judge(t.Context(), here, 1, bad)
				require.NoError(t, err)
				require.False(t, agreed)
				again, err := l.Judge(t.Context(), here, 1, bad)
				require.NoError(t, err)
				require.False(t, again, "a verdict is for ever")
				require.Equal(t, []string{"m-5 true", "bad false"}, b.journal.told())

				settled, err := l.Receive(t.Context(), here, bad.MessageNote)
				require.NoError(t, err)
				require.Equal(t, room.Unmatched, settled.Result)
				require.Equal(t, room.Ambiguous, settled.Reason)
				require.Zero(t, settled.Fence)
				require.Equal(t, 1, count(t, l, "verifications"))
				require.Equal(t, []string{"match_refused bad"}, column(t, l.DB(), `SELECT kind || ' ' || subject FROM incidents`))
				require.Equal(t, 1, count(t, l, "outbox_tasks WHERE type = 'incident'"))
				require.Equal(t, 1, strings.Count(b.log.String(), "level=ERROR"))
				require.Contains(t, b.log.String(), c.why)
			})
		})
	}
}

// The next lease begins in the very millisecond in which the one before ended.
func TestLeasesThatTouchDoNotOverlap(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(5)
		instant := matched("instant", 6)
		instant.EndedAt = instant.GrantedAt
		b.write(1, joined(6), instant)
		next := matched("next", 7)
		next.GrantedAt, next.EndedAt = instant.GrantedAt, instant.GrantedAt
		b.write(1, joined(7), next)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, 3, count(t, l, "verifications"))
		require.Zero(t, count(t, l, "incidents"))
	})
}

// The replica that matched the first message is slow; the second is judged first all the same.
func TestMatchesAreJudgedInTheOrderTheRoomMadeThem(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		one, two := b.open(t), b.open(t)
		b.life(1)
		b.life(2)
		agreed, err := two.Judge(t.Context(), here, 1, matched("m-2", 2))
		require.NoError(t, err)
		require.True(t, agreed)
		agreed, err = one.Judge(t.Context(), here, 1, matched("m-1", 1))
		require.NoError(t, err)
		require.True(t, agreed)
		require.Zero(t, count(t, one, "incidents"))
	})
}

func TestManyReplicasJudgeAMessageOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.life(1)
		var wg sync.WaitGroup
		for range 3 {
			l := b.open(t)
			wg.Go(func() {
				if agreed, err := l.Judge(t.Context(), here, 1, matched("m-1", 1)); !agreed || err != nil {
					t.Errorf("judge: %v %v", agreed, err)
				}
			})
		}
		wg.Wait()
		l := b.open(t)
		require.Equal(t, 1, count(t, l, "verifications"))
		require.Equal(t, 1, count(t, l, "outbox_tasks WHERE type = 'sms.matched'"))
	})
}

func TestAMatchTheJournalLostIsJudgedByWhatIsKnown(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		agreed, err := l.Judge(t.Context(), here, 1, matched("m-1", 1))
		require.NoError(t, err)
		require.True(t, agreed)
		b.life(1) // it was only late
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, 1, count(t, l, "verifications"))
		require.Zero(t, count(t, l, "incidents"))
	})
}

// The room forgot its answer and matched the message to somebody else's lease.
func TestAMessageIsNeverMatchedToASecondLease(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(1)
		second := matched("m-1", 2)
		b.write(2, joined(2), granted(2), second)
		agreed, err := l.Judge(t.Context(), here, 2, second)
		require.NoError(t, err)
		require.False(t, agreed)
		require.Equal(t, []string{"m-1 true", "m-1 false"}, b.journal.told())
		require.Equal(t, []string{"1000"}, column(t, l.DB(), `SELECT fence FROM verifications`))
		require.Equal(t, []string{"message_matched_twice"}, column(t, l.DB(), `SELECT kind FROM incidents`))
	})
}

func TestWhereAMatchEndsNoLeaseSeveralMatchOne(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1))
		for n := range 3 {
			r := matched(fmt.Sprintf("k-%d", n), 1)
			r.Completes, r.EndedAt = false, 130
			b.write(1, r)
		}
		b.write(1, ended(1, room.Completed))
		b.life(2)
		stale := matched("stale", 1)
		stale.Completes, stale.EndedAt = false, 130
		b.write(1, stale)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"k-0 true", "k-1 true", "k-2 true", "m-2 true", "stale false"}, b.journal.told())
		require.Equal(t, []string{"m-2"}, column(t, l.DB(), `SELECT message_id FROM verifications`))
		require.Equal(t, 4, count(t, l, "outbox_tasks WHERE type = 'sms.matched'"))
	})
}

func TestLateAndUnmatchedMessagesAreKeptAndToldTheSame(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		note := room.MessageNote{MessageID: "m-late", Text: "hi", Received: 33}
		settled, err := l.Receive(t.Context(), here, note)
		require.NoError(t, err)
		require.Nil(t, settled)
		settled, err = l.Receive(t.Context(), here, note)
		require.NoError(t, err)
		require.Nil(t, settled, "received is not judged")
		again := note
		again.Received = 99
		settled, err = l.Receive(t.Context(), here, again)
		require.NoError(t, err)
		require.Equal(t, room.Match{At: 33}, *settled, "a repeat was sent when it first came, not now")

		late := matched("m-late", 1)
		late.Result, late.Completes = room.Late, true
		none := room.Record{Type: "message", At: 44, Result: room.Unmatched, Reason: string(room.NoLease),
			MessageNote: room.MessageNote{MessageID: "m-none", Received: 43}}
		b.write(1, late)
		b.write(1, none)
		require.NoError(t, l.Drain(t.Context(), here))
		settled, err = l.Receive(t.Context(), here, note)
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Late, Ticket: 1, Fence: 1000, Epoch: 1, Granted: 10, Ended: 20, At: 20}, *settled)
		settled, err = l.Receive(t.Context(), here, none.MessageNote)
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Unmatched, Reason: room.NoLease, Epoch: 1, At: 44}, *settled)
		require.Empty(t, b.journal.told())
		require.Zero(t, count(t, l, "verifications"))
		require.Equal(t, []string{"33", "43"}, column(t, l.DB(), `SELECT received_at FROM messages ORDER BY message_id`))
	})
}

// The rules are the database's own: they hold against any program.
func TestTheDatabaseRefusesABrokenRuleFromAnybody(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(5)
		require.NoError(t, l.Drain(t.Context(), here))
		insert := `INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at) VALUES `
		for name, statement := range map[string]string{
			"the same fence":   insert + `('integration', 5000, 1, 6, 'x', 60, 70)`,
			"a lower fence":    insert + `('integration', 4000, 1, 6, 'x', 60, 70)`,
			"an overlap":       insert + `('integration', 6000, 1, 6, 'x', 59, 70)`,
			"the same message": insert + `('integration', 6000, 1, 6, 'm-5', 60, 70)`,
			"no fence":         insert + `('other', 0, 1, 6, 'x', 60, 70)`,
			"backwards":        insert + `('other', 6000, 1, 6, 'x', 70, 60)`,
			"a change":         `UPDATE verifications SET fence = 1`,
			"a deletion":       `DELETE FROM verifications`,
			"a message again":  `INSERT INTO messages (room, message_id, state, sender, body, sent_at, received_at) VALUES ('integration', 'm-5', 'judged', '', '', 0, 0)`,
			"a place again":    `INSERT INTO places (room, epoch, ticket, seller) VALUES ('integration', 1, 5, 'x')`,
		} {
			_, err := l.DB().Exec(statement)
			require.Error(t, err, name)
		}
		_, err := l.DB().Exec(insert + `('integration', 6000, 1, 6, 'x', 60, 70)`)
		require.NoError(t, err)
		_, err = l.DB().Exec(insert + `('other', 1, 1, 1, 'x', 50, 60)`)
		require.NoError(t, err, "rooms do not touch each other")
	})
}
