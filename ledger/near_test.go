package ledger_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/outbox"
)

// Two replicas report the same places as near again and again, and a loss of data begins a new epoch
// meanwhile.
func TestPlaceNearIsSentOnceAPlace(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		one, other := b.open(t), b.open(t)
		wait := int64(65)
		places := []ledger.NearPlace{{Ticket: 2, Seller: "s-2", JoinedAt: 20, Position: 1, Wait: &wait, At: 1000},
			{Ticket: 3, Seller: "s-3", JoinedAt: 30, Position: 2, At: 1000}}
		var g errgroup.Group
		for _, l := range []*ledger.Ledger{one, other, one, other} {
			g.Go(func() error { return l.RecordNear(t.Context(), here, places) })
		}
		require.NoError(t, g.Wait())
		require.NoError(t, other.RecordNear(t.Context(), here, append(places,
			ledger.NearPlace{Ticket: 3, Seller: "s-9", JoinedAt: 31, Position: 3, At: 2000})),
			"the ticket was given out twice: another place")
		require.Equal(t, []string{"2 s-2", "3 s-3", "3 s-9"}, column(t, one.DB(), `SELECT ticket || ' ' || seller
			FROM timeline WHERE kind = 'near' ORDER BY ticket, entry`))
		payloads := column(t, one.DB(), `SELECT payload FROM outbox_tasks ORDER BY id`)
		require.Len(t, payloads, 3)
		require.JSONEq(t, `{"type":"place.near","timestamp":"1970-01-01T00:00:01.000Z","data":{"room":"`+string(here)+
			`","ticket":2,"seller_id":"s-2","joined_at":"1970-01-01T00:00:00.020Z","queue_position":1,
			"estimated_wait":65}}`, payloads[0])
		var unknown map[string]map[string]any
		_ = json.Unmarshal([]byte(payloads[1]), &unknown)
		require.NotContains(t, unknown["data"], "estimated_wait")

		id, p, ok := ledger.NearPlaceOf(outbox.Task{Payload: payloads[0]})
		require.True(t, ok)
		require.Equal(t, here, id)
		require.Equal(t, ledger.NearPlace{Ticket: 2, Seller: "s-2"}, p)
		_, _, ok = ledger.NearPlaceOf(outbox.Task{Payload: `{"type":"lock.ended"}`})
		require.False(t, ok)
	})
}
