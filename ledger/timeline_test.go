package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/room"
)

func TestATimelineSaysWhatWasAskedAndClaimed(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		b.write(1, joined(1), granted(1))
		b.write(1, room.Record{Type: "asked", At: 13, Ticket: 1, Seller: "s-1", Fence: 1000, Asks: 2})
		b.write(1, unmatched("m", 15, room.NotExpected))
		b.write(1, claim("m", 1), ended(1, room.Completed))
		twin := matched("twin", 1)
		twin.Judge, twin.Completes, twin.Duplicate, twin.At = false, false, true, 25
		b.write(1, twin)
		b.write(1, rejected("m", 1))
		require.NoError(t, l.Drain(t.Context(), here))
		rows, err := l.Timeline(t.Context(), here, ledger.Filter{Seller: "s-1"})
		require.NoError(t, err)
		details := map[string]string{}
		for _, r := range rows {
			details[r.Kind] = string(r.Detail)
		}
		require.JSONEq(t, `{"asks":2}`, details["asked"])
		require.JSONEq(t, `{"ended_at":20,"message_id":"m","result":"matched"}`, details["claimed"])
		require.JSONEq(t, `{"ended_at":20,"message_id":"twin","result":"matched","duplicate":true}`, details["message"])
		require.JSONEq(t, `{"message_id":"m"}`, details["rejected"])
		require.Contains(t, details["incident"], "message_rejected")
		require.Equal(t, []string{`{"message_id":"m","result":"unmatched","reason":"not_expected"}`}, column(t, l.DB(),
			`SELECT detail FROM timeline WHERE kind = 'message' AND seller = ''`))
		p, err := l.History(t.Context(), here, ledger.Filter{})
		require.NoError(t, err)
		require.Equal(t, ledger.MessageRow{Epoch: 1, MessageID: "m", Result: room.Unmatched, Reason: room.NotExpected,
			SentAt: 14, ReceivedAt: 15}, p.Messages[0], "the first answer stays")
	})
}
