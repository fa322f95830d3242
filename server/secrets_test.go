package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// A replica takes the message, and another one, which has another secret, shows the page.
func TestCodeThatAReplicaCannotOpenIsReportedAndItsSellerIsTold(t *testing.T) {
	store := redistest.Start(t).URL()
	one := start(t, config(t, "--redis-url", store, "--sms-webhook-secret", smsSecret))
	other, log := logged(t, "--redis-url", store, "--sms-webhook-secret", ownSecret)
	a := newSeller(t, other.URL(), "a")
	a.join()
	require.NotContains(t, a.ask("GET", "/readyz", "").body, "secrets")
	sent := carrier(t, one.URL(), "m-1", "인증번호는 [482913] 입니다", time.Now())
	require.Equal(t, "matched", sent.text("result"), sent.body)

	var shown map[string]any
	require.Eventually(t, func() bool { // once the ledger has judged it
		list := a.ask("GET", messagesPath, "").list("messages")
		if len(list) == 1 {
			shown = list[0].(map[string]any)
		}
		return shown != nil
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, true, shown["unreadable"])
	require.Empty(t, shown["text"])
	require.Nil(t, shown["code"])
	require.NotEmpty(t, shown["message_id"])
	page := a.ask("GET", roomPage, "", "Accept", "text/html", "Accept-Language", "en").body
	require.Contains(t, page, "this server cannot open it")
	require.NotContains(t, page, "482913")

	ready := a.ask("GET", "/readyz", "")
	require.Equal(t, http.StatusOK, ready.StatusCode)
	require.Equal(t, "differ", ready.json["checks"].(map[string]any)["secrets"])
	require.NotContains(t, a.ask("GET", "/metrics", "").body, "waitroom_unreadable_total 0")
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "another replica sealed it") },
		10*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, strings.Count(log.String(), "another replica sealed it"), "once a minute")
	require.NotContains(t, log.String(), "482913")
}
