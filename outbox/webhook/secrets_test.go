package webhook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/webhook"
)

func TestWhileASecretIsReplacedBothSign(t *testing.T) {
	fresh, old, strange := "whsec_ZnJlc2gtc2VjcmV0LTEyMzQ1Njc4OTA=", "b2xkLXNlY3JldC0xMjM0NTY3ODkwMTI=",
		"whsec_c3RyYW5nZS1zZWNyZXQtMTIzNDU2Nzg="
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		for secret, right := range map[string]bool{fresh: true, old: true, strange: false} {
			verifier, err := webhooks.NewWebhook(secret)
			require.NoError(t, err)
			require.Equal(t, right, verifier.Verify(body, r.Header) == nil, secret)
		}
	}))
	defer receiver.Close()
	kind, err := webhook.New(webhook.Config{URL: receiver.URL, Secret: fresh + ", " + old})
	require.NoError(t, err)
	defer kind.Close()
	next, err := kind.Do(t.Context(), outbox.Task{Kind: webhook.Kind, UID: "u-1", Phase: webhook.Deliver,
		Payload: `{"type":"x"}`})
	require.NoError(t, err)
	require.Equal(t, webhook.Record, next)
	for _, bad := range []string{"", ",", fresh + ",", fresh + ",whsec_", fresh + ",no base64!"} {
		_, err = webhook.New(webhook.Config{URL: receiver.URL, Secret: bad})
		require.ErrorContains(t, err, "WEBHOOK_SECRET", bad)
	}
}
