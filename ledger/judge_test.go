package ledger_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

func TestAMatchThatBreaksARuleIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		bad func(*room.Record)
		why string
	}{
		"the fence of an accepted one": {func(r *room.Record) { r.Fence, r.GrantedAt, r.EndedAt = 5000, 50, 60 },
			"fence"},
		"a lower fence":          {func(r *room.Record) { r.Fence = 4999 }, "fence"},
		"an overlapping lease":   {func(r *room.Record) { r.GrantedAt = 59 }, "overlaps"},
		"a lease within another": {func(r *room.Record) { r.GrantedAt, r.EndedAt = 55, 55 }, "overlaps"},
		"a lease around another": {func(r *room.Record) { r.GrantedAt, r.EndedAt = 40, 90 }, "overlaps"},
		"no lease":               {func(r *room.Record) { r.Fence = 0 }, "lease is not one"},
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
				require.Equal(t, []string{"m-5 true", "bad false", "bad false"}, b.journal.verdicts(), "and reported each time")

				settled, err := l.Receive(t.Context(), here, bad.MessageNote)
				require.NoError(t, err)
				require.Equal(t, room.Unmatched, settled.Result)
				require.Equal(t, room.Ambiguous, settled.Reason)
				require.Zero(t, settled.Fence)
				require.Equal(t, 1, count(t, l, "verifications"))
				require.Equal(t, []string{"match_refused bad"}, column(t, l.DB(), `SELECT kind || ' ' || subject
					FROM incidents`))
				require.Equal(t, 1, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"incident\"%'"))
				require.Equal(t, 1, strings.Count(b.log.String(), "level=ERROR"))
				require.Contains(t, b.log.String(), c.why)
			})
		})
	}
}

// The next lease begins in the same millisecond in which the previous one ended.
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

// The replica that matched the first message is slow, and the second message is judged first. The result is
// the same as in the room's order.
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
		require.Equal(t, 1, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"sms.matched\"%'"))
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

// The room forgot its first answer and matched the message to another seller's lease.
func TestAMessageIsNeverMatchedToASecondLease(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(1)
		second := matched("m-1", 2)
		b.write(2, joined(2), granted(2), second)
		agreed, err := l.Judge(t.Context(), here, 2, second)
		require.NoError(t, err)
		require.False(t, agreed)
		require.Equal(t, []string{"m-1 true", "m-1 false"}, b.journal.verdicts())
		agreed, err = l.Judge(t.Context(), here, 2, second)
		require.NoError(t, err)
		require.False(t, agreed, "also once the journal has it no longer")
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
			r.Completes, r.EndedAt = false, int64(12+n) // when it was matched
			b.write(1, r)
		}
		b.write(1, ended(1, room.Completed))
		b.life(2)
		stale := matched("stale", 1)
		stale.Completes = false
		b.write(1, stale)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"k-0 true", "k-1 true", "k-2 true", "m-2 true", "stale false"}, b.journal.verdicts())
		require.Equal(t, []string{"k-0 0", "k-1 0", "k-2 0", "m-2 1"}, column(t, l.DB(),
			`SELECT message_id || ' ' || completes FROM verifications ORDER BY id`))
		require.Equal(t, 4, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"sms.matched\"%'"))
	})
}

func TestLateAndUnmatchedMessagesAreKeptAndAnsweredTheSame(t *testing.T) {
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
		late.Result, late.Judge, late.Completes = room.Late, false, false
		none := room.Record{Type: "message", At: 44, Result: room.Unmatched, Reason: string(room.NoLease),
			MessageNote: room.MessageNote{MessageID: "m-none", Received: 43}}
		b.write(1, late)
		b.write(1, none)
		require.NoError(t, l.Drain(t.Context(), here))
		settled, err = l.Receive(t.Context(), here, note)
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Late, Ticket: 1, Fence: 1000, Epoch: 1, Granted: 10, Ended: 20,
			At: 20}, *settled)
		settled, err = l.Receive(t.Context(), here, none.MessageNote)
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Unmatched, Reason: room.NoLease, Epoch: 1, At: 44}, *settled)
		require.Empty(t, b.journal.verdicts())
		require.Zero(t, count(t, l, "verifications"))
		require.Equal(t, []string{"33", "43"}, column(t, l.DB(), `SELECT received_at FROM messages
			ORDER BY message_id`))
	})
}

// The rules are triggers of the database, so they hold for every program.
func TestTheDatabaseRefusesABrokenRuleFromAnyClient(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(5)
		before := matched("before", 6) // which ended nothing
		before.Completes, before.EndedAt = false, 65
		b.write(1, joined(6), granted(6), before)
		require.NoError(t, l.Drain(t.Context(), here))
		insert := `INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at,
			completes) VALUES `
		for name, statement := range map[string]string{
			"the same fence":           insert + `('integration', 5000, 1, 6, 'x', 65, 70, 1)`,
			"the same fence, no end":   insert + `('integration', 5000, 1, 6, 'x', 65, 70, 0)`,
			"a lower fence":            insert + `('integration', 5999, 1, 6, 'x', 65, 70, 1)`,
			"a lower fence, no end":    insert + `('integration', 5999, 1, 6, 'x', 65, 70, 0)`,
			"an overlap":               insert + `('integration', 7000, 1, 7, 'x', 64, 70, 1)`,
			"an overlap, no end":       insert + `('integration', 7000, 1, 7, 'x', 64, 70, 0)`,
			"the same message":         insert + `('integration', 7000, 1, 7, 'm-5', 65, 70, 1)`,
			"the same message, no end": insert + `('integration', 7000, 1, 7, 'before', 65, 70, 0)`,
			"no fence":                 insert + `('other', 0, 1, 6, 'x', 65, 70, 1)`,
			"backwards":                insert + `('other', 6000, 1, 6, 'x', 70, 60, 1)`,
			"half an end":              insert + `('other', 6000, 1, 6, 'x', 60, 70, 2)`,
			"one that never stood": `INSERT INTO verifications (room, fence, epoch, ticket, message_id,
				granted_at, ended_at, voided_at) VALUES ('other', 6000, 1, 6, 'x', 60, 70, 80)`,
			"a change": `UPDATE verifications SET fence = 1`,
			"a change beside a void": `UPDATE verifications SET voided_at = 80, completes = 0
				WHERE message_id = 'm-5'`,
			"a message for another": `UPDATE verifications SET voided_at = 80, message_id = 'x'
				WHERE message_id = 'm-5'`,
			"nothing":    `UPDATE verifications SET voided_at = NULL`,
			"a deletion": `DELETE FROM verifications`,
			"a message again": `INSERT INTO messages (room, message_id, state, sender, body, sent_at,
				received_at) VALUES ('integration', 'm-5', 'judged', '', '', 0, 0)`,
			"a place again": `INSERT INTO places (room, epoch, ticket, seller)
				VALUES ('integration', 1, 5, 'x')`,
			"an attribution of no kind": `INSERT INTO attributions (room, message_id, kind, fence, epoch, ticket,
				seller, at) VALUES ('integration', 'm-5', 'x', 1, 1, 1, '', 0)`,
		} {
			_, err := l.DB().Exec(statement)
			require.Error(t, err, name)
		}
		if l.Dialect() == dialect.SQLite {
			for _, values := range []string{`(7000, 'integration', 7000, 1, 7, 'm-5', 65, 70)`,
				`(1, 'other', 7000, 1, 7, 'x', 65, 70)`} {
				_, err := l.DB().Exec(`INSERT OR REPLACE INTO verifications (id, room, fence, epoch, ticket, message_id,
					granted_at, ended_at) VALUES ` + values)
				require.Error(t, err, "a replacement")
			}
		}
		require.Equal(t, []string{"m-5", "before"}, column(t, l.DB(), `SELECT message_id FROM verifications
			ORDER BY id`))
		_, err := l.DB().Exec(insert + `('integration', 6000, 1, 6, 'it', 60, 70, 1)`)
		require.NoError(t, err, "the end of a lease that a message was for")
		_, err = l.DB().Exec(insert + `('integration', 6000, 1, 6, 'x', 60, 70, 0)`)
		require.Error(t, err, "nothing follows it")
		for _, allowed := range []string{
			`UPDATE verifications SET voided_at = 80 WHERE message_id = 'm-5'`,
			insert + `('integration', 7000, 1, 7, 'm-5', 70, 80, 1)`,
			insert + `('other', 1, 1, 1, 'x', 50, 60, 1)`,
		} {
			_, err := l.DB().Exec(allowed)
			require.NoError(t, err, allowed)
		}
		for name, statement := range map[string]string{
			"one after the end":            insert + `('integration', 6000, 1, 6, 'x', 60, 70, 0)`,
			"a fence below one voided":     insert + `('integration', 4000, 1, 4, 'x', 30, 40, 1)`,
			"a void again":                 `UPDATE verifications SET voided_at = 90 WHERE voided_at IS NOT NULL`,
			"a void undone":                `UPDATE verifications SET voided_at = NULL WHERE voided_at IS NOT NULL`,
			"a second one that stands":     insert + `('integration', 8000, 1, 8, 'm-5', 80, 90, 0)`,
			"a deletion of what is voided": `DELETE FROM verifications WHERE voided_at IS NOT NULL`,
		} {
			_, err := l.DB().Exec(statement)
			require.Error(t, err, name)
		}
	})
}
