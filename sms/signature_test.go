package sms

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

const (
	testSecret     = "whsec_d2FpdHJvb20tdGVzdC1zZWNyZXQtMDE="
	otherSecret    = "whsec_d2FpdHJvb20tdGVzdC1zZWNyZXQtMDI="
	replacedSecret = "whsec_d2FpdHJvb20tdGVzdC1zZWNyZXQtMDM="
)

// signed returns the headers of a body that was signed at a time.
func signed(t testing.TB, secret string, at time.Time, body []byte) http.Header {
	t.Helper()
	w, err := webhooks.NewWebhook(secret)
	require.NoError(t, err)
	signature, err := w.Sign("msg_1", at, body)
	require.NoError(t, err)
	h := http.Header{}
	h.Set("webhook-id", "msg_1")
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", signature)
	return h
}

func TestSignatureMustBeOursAndAtMostFiveMinutesOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, body := time.Now(), []byte(`{"text":"x"}`)
		v, err := NewVerifier(testSecret + ", " + replacedSecret)
		require.NoError(t, err)
		tests := []struct {
			name   string
			secret string
			at     time.Duration
			body   string
			change func(http.Header)
			ok     bool
		}{
			{"now", testSecret, 0, "", nil, true},
			{"five minutes old", testSecret, -5 * time.Minute, "", nil, true},
			{"five minutes ahead", testSecret, 5 * time.Minute, "", nil, true},
			{"a second older", testSecret, -5*time.Minute - time.Second, "", nil, false},
			{"a second further ahead", testSecret, 5*time.Minute + time.Second, "", nil, false},
			{"another secret", otherSecret, 0, "", nil, false},
			{"the secret that is being replaced", replacedSecret, 0, "", nil, true},
			{"another body", testSecret, 0, `{"text":"y"}`, nil, false},
			{"without a prefix in the secret", strings.TrimPrefix(testSecret, "whsec_"), 0, "", nil, true},
			{"another id", testSecret, 0, "", func(h http.Header) { h.Set("webhook-id", "msg_2") }, false},
			{"another time", testSecret, 0, "",
				func(h http.Header) { h.Set("webhook-timestamp", strconv.FormatInt(now.Unix()-1, 10)) }, false},
			{"no time", testSecret, 0, "", func(h http.Header) { h.Del("webhook-timestamp") }, false},
			{"a time that is none", testSecret, 0, "", func(h http.Header) { h.Set("webhook-timestamp", "now") },
				false},
			{"no id", testSecret, 0, "", func(h http.Header) { h.Del("webhook-id") }, false},
			{"no signature", testSecret, 0, "", func(h http.Header) { h.Del("webhook-signature") }, false},
			{"an empty signature", testSecret, 0, "", func(h http.Header) { h.Set("webhook-signature", "v1,") },
				false},
			{"another version", testSecret, 0, "", func(h http.Header) {
				h.Set("webhook-signature", "v2"+strings.TrimPrefix(h.Get("webhook-signature"), "v1"))
			}, false},
			{"one of several", testSecret, 0, "", func(h http.Header) {
				h.Set("webhook-signature", "v1,bm90IG91cnM= v1a,xyz "+h.Get("webhook-signature"))
			}, true},
		}
		for _, tt := range tests {
			h := signed(t, tt.secret, now.Add(tt.at), body)
			if tt.change != nil {
				tt.change(h)
			}
			got := body
			if tt.body != "" {
				got = []byte(tt.body)
			}
			err := v.verify(h, got, now.UnixMilli())
			if tt.ok {
				require.NoError(t, err, tt.name)
			} else {
				require.ErrorIs(t, err, ErrSignature, tt.name)
			}
		}
	})
}

// otherClock is a store whose clock differs from this machine's.
type otherClock struct {
	Engine
	ahead time.Duration
}

func (c otherClock) At(at time.Time) int64 { return at.Add(c.ahead).UnixMilli() }

func TestASignaturesTimeIsJudgedByTheStoresClockNotTheReplicas(t *testing.T) {
	st := newStage(t)
	r := st.replica(Config{})
	r.Engine = otherClock{r.engine, time.Hour}
	body := []byte(`{"message_id":"m-1","from":"1588","text":"hello"}`)
	_, err := r.Receive(t.Context(), integration, signed(t, testSecret, time.Now(), body), body)
	require.ErrorIs(t, err, ErrSignature)
	_, err = r.Receive(t.Context(), integration, signed(t, testSecret, time.Now().Add(time.Hour), body), body)
	require.NoError(t, err)
}

func TestWrongSecretStopsTheStartAndIsNotRepeated(t *testing.T) {
	for _, secret := range []string{"", "whsec_", "whsec_not base64 8026", "whsec_abc", "%%%%", testSecret + ",",
		testSecret + ",%%%%"} {
		_, err := New(Config{Secret: secret})
		require.ErrorContains(t, err, "SMS_WEBHOOK_SECRET", "%q", secret)
		if len(secret) > len("whsec_") {
			require.NotContains(t, err.Error(), strings.TrimPrefix(secret, "whsec_"))
		}
	}
	_, err := New(Config{Secret: testSecret, Guard: -time.Second})
	require.ErrorContains(t, err, "SMS_GUARD")
}
