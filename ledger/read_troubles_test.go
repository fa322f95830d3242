package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/read"
	"github.com/waitroom/waitroom/room"
)

// troubles returns short texts of a room's messages and incidents.
func troubles(t *testing.T, l *ledger.Ledger, since int64, limit int) (messages, incidents []string) {
	t.Helper()
	lost, seen, err := l.Troubles(t.Context(), here, since, limit)
	require.NoError(t, err)
	for _, m := range lost {
		messages = append(messages, fmt.Sprint(m.MessageID, " ", m.Result, " ", m.Reason, " ", int64(m.Fence)))
	}
	for _, i := range seen {
		incidents = append(incidents, fmt.Sprint(i.Kind, " ", i.Subject, " ", i.Fence, " ", i.At))
	}
	return messages, incidents
}

func TestAMessageIsATroubleWhileItIsUnmatched(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		late := matched("late", 1)
		late.Result, late.Judge, late.Completes, late.Received = room.Late, false, false, 21
		b.life(1) // matched: no trouble
		b.write(1, late, unmatched("m", 22, room.NotExpected), unmatched("n", 23, room.NoLease))
		bad := matched("bad", 0)
		bad.Received = 24
		b.write(1, bad)
		require.NoError(t, l.Drain(t.Context(), here))
		messages, incidents := troubles(t, l, 0, 0)
		require.Equal(t, []string{"bad unmatched ambiguous 0", "n unmatched no_lease 0",
			"m unmatched not_expected 0", "late late  1000"}, messages)
		require.Equal(t, []string{"match_refused bad 0 10"}, incidents)
		messages, _ = troubles(t, l, 23, 1)
		require.Equal(t, []string{"bad unmatched ambiguous 0"}, messages)

		b.write(1, joined(2), granted(2), claim("m", 2))
		b.write(1, assignLate("n", 1, 60))
		require.NoError(t, l.Drain(t.Context(), here))
		messages, _ = troubles(t, l, 0, 0)
		require.Equal(t, []string{"bad unmatched ambiguous 0", "late late  1000"}, messages)

		reject := func(id string, ticket, at int64) {
			r := rejected(id, ticket)
			r.At = at
			b.write(1, r)
		}
		reject("n", 1, 70)
		reject("m-1", 1, 71)
		reject("late", 1, 72)
		require.NoError(t, l.Drain(t.Context(), here))
		messages, incidents = troubles(t, l, 0, 0)
		require.Equal(t, []string{"bad unmatched ambiguous 0", "n unmatched rejected 0",
			"late unmatched rejected 0", "m-1 unmatched rejected 0"}, messages)
		require.Equal(t, []string{"message_rejected late 1000 72", "message_rejected m-1 1000 71",
			"message_rejected n 1000 70",
			"match_refused bad 0 10"}, incidents)
		messages, incidents = troubles(t, l, 71, 2)
		require.Empty(t, messages, "it came before")
		require.Len(t, incidents, 2)

		b.write(1, assignLate("m-1", 2, 80))
		require.NoError(t, l.Drain(t.Context(), here))
		messages, _ = troubles(t, l, 0, 0)
		require.NotContains(t, messages, "m-1 unmatched rejected 0")
	})
}

func TestATroubleNamesTheLeasesThatCouldHaveCausedIt(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		lease := func(ticket, granted, ended int64) {
			seller := fmt.Sprintf("s-%d", ticket)
			b.write(1, room.Record{Type: "joined", At: granted, Ticket: ticket, Seller: seller})
			b.write(1, room.Record{Type: "granted", At: granted, Ticket: ticket, Seller: seller, Fence: ticket,
				GrantedAt: granted})
			if ended != 0 {
				b.write(1, room.Record{Type: "ended", At: ended, Ticket: ticket, Seller: seller, Fence: ticket,
					Outcome: room.Expired, EndedAt: ended})
			}
		}
		const ten, sent = 600_000, 10_000_000
		lease(1, sent-2*ten, sent-ten)   // too long ago
		lease(2, sent-ten-5, sent-ten+1) // just not
		lease(3, sent-5000, sent+10)     // live
		lease(4, sent+999, 0)            // in the same second
		b.journal.write("other", 1, joined(9), granted(9))
		said, unsaid, exact := unmatched("said", sent+50, room.Ambiguous),
			unmatched("unsaid", sent+1000, room.NoLease), unmatched("exact", sent+40, room.NoLease)
		said.SentAt, unsaid.SentAt, exact.SentAt = sent, 0, sent+1
		said.From, said.Text = "01012345678", "code 482913"
		b.write(1, said, unsaid, exact)
		require.NoError(t, l.Drain(t.Context(), here))
		lost, _, err := l.Troubles(t.Context(), here, 0, 10)
		require.NoError(t, err)
		could := map[string][]int64{}
		for _, m := range lost {
			for _, c := range m.Could {
				could[m.MessageID] = append(could[m.MessageID], c.Fence)
			}
		}
		require.Equal(t, map[string][]int64{"said": {4, 3, 2}, "exact": {3}, "unsaid": {4, 3}}, could)
		require.Equal(t, read.Lost{Message: history.Message{Epoch: 1, MessageID: "said",
			Result: "unmatched", Reason: "ambiguous",
			SentAt: sent, ReceivedAt: sent + 50}, Sender: "*******5678", Body: "code ******", Code: true,
			Could: []history.Lease{
				{Epoch: 1, Fence: 4, Ticket: 4, Seller: "s-4", GrantedAt: sent + 999},
				{Epoch: 1, Fence: 3, Ticket: 3, Seller: "s-3", GrantedAt: sent - 5000, EndedAt: sent + 10,
					Outcome: "expired"},
				{Epoch: 1, Fence: 2, Ticket: 2, Seller: "s-2", GrantedAt: sent - ten - 5, EndedAt: sent - ten + 1,
					Outcome: "expired"},
			}}, lost[1])
	})
}
