package server

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// claim confirms the seller's presence; fence 0 = without one.
func (s *seller) claim(fence int64) reply {
	s.t.Helper()
	body := `{}`
	if fence != 0 {
		body = fmt.Sprintf(`{"fence":%d}`, fence)
	}
	return s.ask("POST", "/api/integration/lock/claim", body, "Content-Type", "application/json")
}

func TestAbsentSellerCostsTheLineTheTimeToClaim(t *testing.T) {
	t.Parallel() // it waits
	onBothStores(t, func(t *testing.T, store string) {
		r := startLibrary(t, "integration: {claim_within: 2s}\n", "--redis-url", store)
		a, b, c := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b"), newSeller(t, r.URL(), "c")
		sleeping := open(t, r.URL(), "X-Session-ID", b.session)
		held := a.join()
		require.Equal(t, http.StatusOK, a.claim(held.number("fence")).StatusCode, "who need not claim may")
		ticket := b.join().number("ticket")
		c.join()
		a.leave("?reason=completed") // at once: the browser's presence may be reported after it

		var turn map[string]any
		for turn == nil || turn["claim_by"] == nil {
			turn = until(t, sleeping, "locked")
		}
		r.reads("integration: {claim_within: 1m}\n") // enough time for the later sellers on a slow machine
		require.LessOrEqual(t, turn["claim_by"], turn["server_time"].(float64)+2000)
		missed := until(t, sleeping, "waiting")
		require.Equal(t, true, missed["unclaimed"])
		require.EqualValues(t, ticket, missed["ticket"])
		require.EqualValues(t, 1, missed["queue_position"])
		require.Nil(t, missed["claim_by"])
		require.Nil(t, missed["fence"])

		next := c.status().me()
		require.Equal(t, "locked", next.text("status"), "in the same step")
		me := b.status().me()
		require.Equal(t, "waiting", me.text("status"))
		require.Equal(t, true, me.json["unclaimed"])
		late := b.claim(int64(turn["fence"].(float64)))
		requireProblem(t, late, http.StatusConflict, "stale_fence")

		back := b.claim(0)
		require.Equal(t, http.StatusAccepted, back.StatusCode)
		require.Equal(t, ticket, back.number("ticket"))
		require.EqualValues(t, 1, back.number("queue_position"))
		require.NotContains(t, back.json, "unclaimed")
		require.NotContains(t, until(t, sleeping, "waiting"), "unclaimed")
		c.leave("?reason=completed")
		turn = until(t, sleeping, "locked")
		got := b.claim(int64(turn["fence"].(float64)))
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, "locked", got.text("status"))
		require.NotContains(t, got.json, "claim_by")
		for turn["claim_by"] != nil {
			turn = until(t, sleeping, "locked")
		}
		require.Equal(t, "released", b.leave("?reason=completed").text("status"))
	})
}
