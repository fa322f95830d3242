package server

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyOfAnAskStandsForThatAskAlone(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		s := newSeller(t, start(t, config(t, "--redis-url", store, "--sms-webhook-secret", smsSecret)).URL(), "a")
		fence := s.join().number("fence")
		ask := func(key, more string) reply {
			return s.ask("POST", lockPath+"/expect", fmt.Sprintf(`{"fence":%d%s}`, fence, more), asJSON, jsonType,
				"Idempotency-Key", key)
		}
		first := ask("k", `,"from":["15881234"],"contains":"x"`)
		require.Equal(t, http.StatusOK, first.StatusCode, first.body)
		require.Equal(t, first.body, ask("k", `,"contains":"x","from":["15881234"]`).body,
			"a repeat is the same ask")
		for _, other := range []string{"", `,"contains":"x"`, `,"from":["15881234"],"contains":"y"`,
			`,"message_id":"m"`} {
			requireProblem(t, ask("k", other), http.StatusUnprocessableEntity, "idempotency_key_reused")
		}
		require.EqualValues(t, 2, ask("l", "").number("asked"), "another key is another ask")
	})
}

func TestPortalsPageThatIsTracedMayCall(t *testing.T) {
	s := newReader(t, start(t, config(t, "--allowed-origins", "https://portal.example")).URL())
	got := s.ask("OPTIONS", lockPath, "", "Origin", "https://portal.example", "Access-Control-Request-Method",
		"POST")
	for _, name := range []string{"traceparent", "tracestate", "baggage", "sentry-trace", "Authorization"} {
		require.Contains(t, got.Header.Get("Access-Control-Allow-Headers"), name)
	}
}
