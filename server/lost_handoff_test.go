package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// A failover lost the handoff from a to b, with every client that observed it. Only the ledger still knows
// that a's lease was over when the message came.
func TestSecondLineKeepsAMessageFromALeaseThatALostHandoffHadEnded(t *testing.T) {
	store := redistest.Lent(t)
	rdb := store.Client()
	args := []string{"--redis-url", store.URL(), "--sms-webhook-secret", smsSecret, "--database-url",
		"sqlite:" + t.TempDir() + "/ledger.db"}
	before := start(t, config(t, args...))
	a, b := newSeller(t, before.URL(), "a"), newSeller(t, before.URL(), "b")
	a.join()
	b.join()
	drained := func() bool { return rdb.XLen(t.Context(), "{integration}:journal").Val() == 0 }
	require.Eventually(t, drained, 20*time.Second, 10*time.Millisecond)
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	saved := map[string]string{}
	for _, key := range keys {
		if value := rdb.Dump(t.Context(), key).Val(); value != "" { // else it has come to its end meanwhile
			saved[key] = value
		}
	}
	require.Equal(t, http.StatusOK, a.leave("").StatusCode)
	require.Eventually(t, drained, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, before.stop(t))

	require.NoError(t, rdb.FlushDB(t.Context()).Err())
	for key, value := range saved {
		require.NoError(t, rdb.Restore(t.Context(), key, 0, value).Err())
	}
	after := start(t, config(t, args...))
	m := carrier(t, after.URL(), "m-1", "[쿠팡] 인증번호는 [482913] 입니다", time.Now())
	require.JSONEq(t, `{"result":"unmatched","reason":"ambiguous"}`, m.body)
	a.base = after.URL()
	require.NotContains(t, a.ask(http.MethodGet, "/rooms/integration", "", "Accept", "text/html").body, "482913")
	require.Equal(t, `{"result":"unmatched","reason":"ambiguous"}`,
		carrier(t, after.URL(), "m-1", "[쿠팡] 인증번호는 [482913] 입니다", time.Now()).body)
}
