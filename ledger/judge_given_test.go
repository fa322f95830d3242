package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func unmatched(messageID string, at int64, why room.Reason) room.Record {
	return room.Record{Type: "message", At: at, Result: room.Unmatched, Reason: string(why), Code: true,
		MessageNote: room.MessageNote{MessageID: messageID, Text: "code ******", SentAt: at - 1, Received: at}}
}

// claim returns the record of a holder's claim of a message, which ends its lease.
func claim(messageID string, ticket int64) room.Record {
	r := matched(messageID, ticket)
	r.Type, r.MessageNote = "claimed", room.MessageNote{MessageID: messageID}
	return r
}

func rejected(messageID string, ticket int64) room.Record {
	r := claim(messageID, ticket)
	return room.Record{Type: "rejected", At: ticket*10 + 11, Ticket: r.Ticket, Seller: r.Seller, Fence: r.Fence,
		MessageNote: r.MessageNote}
}

const attributions = `SELECT message_id || ' ' || kind || ' ' || fence || ' ' || seller || ' ' || verdict
	FROM attributions ORDER BY at, kind`

func TestAClaimedMessageKeepsItsFirstAnswer(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		one, two := b.open(t), b.open(t)
		first := unmatched("m", 15, room.NotExpected)
		b.write(1, joined(1), granted(1))
		b.write(1, first)
		b.write(1, claim("m", 1), ended(1, room.Completed))
		b.journal.failTrim = func() bool { return true }
		require.ErrorIs(t, one.Drain(t.Context(), here), errLost)
		b.journal.failTrim = nil
		require.NoError(t, two.Drain(t.Context(), here))

		require.Equal(t, []string{"m true", "m true"}, b.journal.verdicts(), "also where it was applied before")
		require.Equal(t, []string{"m claimed 1000 s-1 agreed"}, column(t, one.DB(), attributions))
		require.Equal(t, []string{"m 1000 1"}, column(t, one.DB(), `SELECT message_id || ' ' || fence || ' ' ||
			completes FROM verifications`))
		known, err := one.Receive(t.Context(), here, first.MessageNote)
		require.NoError(t, err)
		require.Equal(t, room.Match{Result: room.Unmatched, Reason: room.NotExpected, Epoch: 1, At: 15}, *known)
		require.Equal(t, []string{`{"room":"integration","ticket":1,"fence":1000,"seller_id":"s-1",` +
			`"granted_at":"1970-01-01T00:00:00.010Z","message_id":"m","sent_at":"1970-01-01T00:00:00.014Z"}`},
			dataOf(t, one, "sms.matched"))
		require.Zero(t, count(t, one, "incidents"))
		require.Zero(t, count(t, one, "parked"))
	})
}

func TestAClaimIsJudgedByTheSameRules(t *testing.T) {
	asked := []room.Record{joined(2), granted(2), unmatched("m", 25, room.NotExpected)}
	for name, c := range map[string]struct {
		before []room.Record
		why    string
	}{
		"a lease that is over": {append(asked[:3:3], ended(2, room.Cancelled)),
			"over by something else: cancelled"},
		"a lease that was passed":   {append(asked[:3:3], joined(3), granted(3)), "below one that was granted"},
		"a lease another one ended": {append(asked[:3:3], matched("x", 2)), "highest settled"},
		"a message of another": {[]room.Record{joined(1), granted(1), matched("m", 1), joined(2), granted(2)},
			"verified for a lease already"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, b *bench) {
				l := b.open(t)
				bad := claim("m", 2)
				b.write(1, c.before...)
				b.write(1, bad)
				agreed, err := l.Judge(t.Context(), here, 1, bad)
				require.NoError(t, err)
				require.False(t, agreed)
				require.Contains(t, b.journal.verdicts(), "m false")
				require.Equal(t, []string{"m claimed 2000 s-2 refused"}, column(t, l.DB(), attributions))
				require.Equal(t, []string{"match_refused m"}, column(t, l.DB(), `SELECT kind || ' ' || subject
					FROM incidents`))
				require.Contains(t, b.log.String(), c.why)
				require.Zero(t, count(t, l, "parked"))
			})
		})
	}
}

func TestAClaimTheJournalLostIsJudgedAndReported(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1), unmatched("m", 15, room.NotExpected))
		agreed, err := l.Judge(t.Context(), here, 1, claim("m", 1))
		require.NoError(t, err)
		require.True(t, agreed)
		require.Equal(t, []string{"m true"}, b.journal.verdicts())
		b.write(1, claim("m", 1), ended(1, room.Completed)) // it was only late
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, 1, count(t, l, "verifications"))
		require.Equal(t, 1, count(t, l, "attributions"))
		require.Zero(t, count(t, l, "incidents"))
	})
}

func TestARejectedMessageMayBeFoundToBelongToALaterLease(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.life(1)
		b.write(1, rejected("m-1", 1))
		b.write(1, joined(2), granted(2))
		b.write(1, claim("m-1", 2), ended(2, room.Completed))
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"1000 21", "2000 stands"}, column(t, l.DB(),
			`SELECT fence || ' ' || COALESCE(CAST(voided_at AS TEXT), 'stands') FROM verifications ORDER BY id`))
		require.Equal(t, []string{"m-1 rejected 1000 s-1 ", "m-1 claimed 2000 s-2 agreed"},
			column(t, l.DB(), attributions))
		require.Equal(t, []string{"message_rejected m-1 1000"}, column(t, l.DB(), `SELECT kind || ' ' || subject ||
			' ' || fence FROM incidents`))
		require.Equal(t, 1, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"incident\"%'"))
		require.Equal(t, []string{"m-1 true", "m-1 true"}, b.journal.verdicts(), "the first one's and the claim's")
		known, err := l.Receive(t.Context(), here, matched("m-1", 1).MessageNote)
		require.NoError(t, err)
		require.Equal(t, room.Matched, known.Result)
		require.EqualValues(t, 1000, known.Fence)
	})
}
