package web

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestMessageToAWrongAddressIsARefusedMessage(t *testing.T) {
	type refusal struct {
		room         room.ID
		source, code string
	}
	var got []refusal
	hosts, err := HostOf("https://wait.example")
	require.NoError(t, err)
	h := handler(t, Config{Hosts: hosts,
		Refused: func(id room.ID, source, code string) { got = append(got, refusal{id, source, code}) }})
	for _, tt := range []struct {
		method, host, path string
		status             int
		want               []refusal
	}{
		{"POST", "", "/api/integration/sms/", 404, []refusal{{"integration", "sms", "not_found"}}},
		{"POST", "", "/api/integration/sms/twilio/", 404, []refusal{{"integration", "twilio", "not_found"}}},
		{"POST", "", "/api/Integration/sms", 404, []refusal{{"integration", "sms", "unknown_room"}}},
		{"POST", "", "/api/elsewhere/sms/Twilio", 404, []refusal{{"", "twilio", "unknown_room"}}},
		{"POST", "", "/api/integration/SMS", 404, []refusal{{"integration", "sms", "not_found"}}},
		{"POST", "", "/api/integration/sms/none", 404, []refusal{{"integration", "none", "unknown_source"}}},
		{"POST", "", "/api/sms/none", 404, []refusal{{"", "none", "unknown_source"}}},
		{"POST", "", "/api/sms", 404, []refusal{{"", "sms", "not_found"}}},
		{"PUT", "", "/api/integration/sms", 405, []refusal{{"integration", "sms", "method_not_allowed"}}},
		{"GET", "", "/api/integration/sms/vonage?text=1", 405, []refusal{{"integration", "vonage", "method_not_allowed"}}},
		{"POST", "inner:8080", "/api/integration/sms", 421, []refusal{{"integration", "sms", "wrong_host"}}},
		{"GET", "", "/api/integration/sms", 405, nil},
		{"HEAD", "", "/api/integration/sms?a=1", 405, nil},
		{"POST", "", "/api/elsewhere/lock", 404, nil},
		{"POST", "", "/api/sms-room/lock", 404, nil},
		{"POST", "", "/rooms/integration/sms", 404, nil},
	} {
		got = nil
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "https://wait.example"+tt.path, http.NoBody)
		if tt.host != "" {
			r.Host = tt.host
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, tt.path)
		require.Equal(t, tt.want, got, "%s %s", tt.method, tt.path)
	}
}
