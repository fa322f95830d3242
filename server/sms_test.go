package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const smsSecret = "whsec_c2VjcmV0LW9mLXRoZS1jYXJyaWVyLTEyMzQ1Ng=="

// carrier posts an SMS to the integration room, with its signature.
func carrier(t *testing.T, base, id, text string, sentAt time.Time) reply {
	t.Helper()
	return carrierTo(t, base, "integration", smsSecret, "1588-0000", id, text, sentAt)
}

// carrierTo posts an SMS to any room.
func carrierTo(t *testing.T, base, id, secret, from, message, text string, sentAt time.Time) reply {
	t.Helper()
	return carrierSaysTo(t, base, id, secret, message, messageBody(t, from, message, text, sentAt))
}

// carrierWithin posts an SMS with more headers.
func carrierWithin(t *testing.T, base, message, text string, sentAt time.Time, headers ...string) reply {
	t.Helper()
	return carrierSaysTo(t, base, "integration", smsSecret, message,
		messageBody(t, "1588-0000", message, text, sentAt), headers...)
}

func messageBody(t *testing.T, from, message, text string, sentAt time.Time) string {
	t.Helper()
	// a time with a fraction of zeros would count as a whole second
	body, err := json.Marshal(map[string]string{"message_id": message, "from": from, "text": text,
		"sent_at": sentAt.Truncate(time.Millisecond).Add(time.Microsecond).Format(time.RFC3339Nano)})
	require.NoError(t, err)
	return string(body)
}

// carrierSays posts any body, with its signature.
func carrierSays(t *testing.T, base, message, body string) reply {
	t.Helper()
	return carrierSaysTo(t, base, "integration", smsSecret, message, body)
}

func carrierSaysTo(t *testing.T, base, id, secret, message, body string, headers ...string) reply {
	t.Helper()
	signer, err := webhooks.NewWebhook(secret)
	require.NoError(t, err)
	now := time.Now()
	signature, err := signer.Sign(message, now, []byte(body))
	require.NoError(t, err)
	return newSeller(t, base, "carrier").ask(http.MethodPost, "/api/"+id+"/sms", body, append(headers,
		"Webhook-Id", message, "Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10), "Webhook-Signature",
		signature)...)
}

func TestSMSEndsTheLeaseItBelongsToAndALateOneTouchesNoOther(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		base := start(t, config(t, "--redis-url", store, "--sms-webhook-secret", smsSecret)).URL()
		a, b := newSeller(t, base, "a"), newSeller(t, base, "b")
		first := a.join()
		b.join()
		granted := moment(t, first.json["granted_at"].(string))
		got := carrier(t, base, "m-1", "인증번호는 [482913] 입니다", granted)
		require.Equal(t, http.StatusOK, got.StatusCode, got.body)
		require.JSONEq(t, fmt.Sprintf(`{"result":"matched","ticket":1,"fence":%s}`, first.json["fence"]), got.body)
		second := b.join()
		require.Equal(t, "locked", second.json["status"])

		late := carrier(t, base, "m-2", "인증번호는 [111222] 입니다", granted)
		require.JSONEq(t, fmt.Sprintf(`{"result":"late","ticket":1,"fence":%s}`, first.json["fence"]), late.body)
		require.Equal(t, second.json["fence"], b.join().json["fence"], "the holder is untouched")
		require.Equal(t, got.body, carrier(t, base, "m-1", "인증번호는 [482913] 입니다", granted).body)
		none := carrier(t, base, "m-3", "인증번호는 [333444] 입니다", granted.Add(-time.Hour))
		require.JSONEq(t, `{"result":"unmatched","reason":"no_lease"}`, none.body)
	})
}

func TestBadSecretStopsTheStartAndAShortOneIsSpokenOf(t *testing.T) {
	for name, args := range map[string][]string{
		"WAITROOM_SMS_WEBHOOK_SECRET is not base64": {"--sms-webhook-secret", "not base64!"},
		"WAITROOM_WEBHOOK_SECRET: use base64": {"--webhook-url", "http://127.0.0.1:9/hook",
			"--webhook-secret", "not base64!"},
	} {
		_, err := New(t.Context(), config(t, args...), slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "not base64!")
	}
	log := &testproc.Log{}
	s, err := New(t.Context(), config(t, "--sms-webhook-secret", "whsec_YWJj"),
		slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	s.Close()
	require.Contains(t, log.String(), "WAITROOM_SMS_WEBHOOK_SECRET is short")
	require.NotContains(t, log.String(), "YWJj")
}
