package history_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/history"
)

func TestAPagesRowsAreInOrderOfTimeThenKind(t *testing.T) {
	page := history.Page{Leases: []history.Lease{{GrantedAt: 20, EndedAt: 50}, {EndedAt: 30}},
		Places:   []history.Place{{JoinedAt: 10, EndedAt: 50}, {}},
		Messages: []history.Message{{SentAt: 1, ReceivedAt: 20}}, Actions: []history.Action{{At: 20}}}
	of := func(latest bool) (list []string) {
		for _, r := range page.Rows(latest) {
			from, to := r.Span()
			list = append(list, fmt.Sprint(r.Kind(), " ", int64(from), "-", int64(to)))
		}
		return list
	}
	atOnce := []string{"lease 20-50", "message 20-0", "action 20-0"}
	require.Equal(t, slices.Concat([]string{"place 0-0", "place 10-50"}, atOnce, []string{"lease 0-30"}), of(false))
	require.Equal(t, slices.Concat([]string{"lease 0-30"}, atOnce, []string{"place 10-50", "place 0-0"}), of(true))
}

func TestARowIsTheContractsJSON(t *testing.T) {
	for want, row := range map[string]any{
		`{"epoch":1,"fence":9,"ticket":4,"seller_id":"s","granted_at":"1970-01-01T00:00:01.002Z","ended_at":null,` +
			`"outcome":null}`: history.Lease{Epoch: 1, Fence: 9, Ticket: 4, Seller: "s", GrantedAt: 1002},
		`{"epoch":1,"ticket":4,"seller_id":"s","joined_at":null,"ended_at":"1970-01-01T00:00:02.000Z",` +
			`"outcome":"lost"}`: history.Place{Epoch: 1, Ticket: 4, Seller: "s", EndedAt: 2000, Outcome: "lost"},
		`{"epoch":1,"message_id":"m","result":"unmatched","ticket":null,"fence":null,"sent_at":null,` +
			`"received_at":"1970-01-01T00:00:03.000Z"}`: history.Message{Epoch: 1, MessageID: "m",
			Result: "unmatched", ReceivedAt: 3000, Reason: "ambiguous"},
		`{"room":null,"epoch":0,"who":"kim","action":"end","reason":"","ticket":null,"fence":7,"at":null,` +
			`"address":"192.0.2.1"}`: history.Audited{Action: history.Action{Who: "kim", Name: "end", Fence: 7},
			Address: "192.0.2.1"},
	} {
		got, err := json.Marshal(row)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}
