package server

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/server/doctor"
)

// textAt returns a text that arrived at a phone now.
func textAt(id, from, to, text string) string {
	return encoded(map[string]any{"event": "sms:received", "id": id, "payload": map[string]any{"message": text,
		"sender": from, "recipient": to, "simNumber": 1, "receivedAt": time.Now().Format("2006-01-02T15:04:05Z07:00")}})
}

// reportOf waits until the doctor's report about a source has all of some texts.
func reportOf(t *testing.T, cfg Config, source string, want ...string) (report string) {
	t.Helper()
	missing := ""
	complete := func() bool {
		var out bytes.Buffer
		doctor.WriteFindings(&out, Diagnose(t.Context(), cfg, doctor.Only{Source: source}))
		report = out.String()
		i := slices.IndexFunc(want, func(text string) bool { return !strings.Contains(report, text) })
		if i >= 0 {
			missing = want[i]
		}
		return i < 0
	}
	for begun := time.Now(); !complete() && time.Since(begun) < patience; time.Sleep(50 * time.Millisecond) {
	}
	require.True(t, complete(), "%q is not in\n%s", missing, report)
	return report
}

func TestDoctorSaysWhatCameFromASourceAndWhatBecameOfIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
a: {phone: 010-1111-1111, sms_from: [15881234]}
b: {phone: 010-2222-2222}
`), 0o600))
	cfg := sound(t, "--redis-url", redistest.StartKept(t).URL(), "--public-url", "", "--rooms", "a,b",
		"--rooms-file", file, "--sms-sources", "gateway=android-sms-gateway:"+sourceSecret+",twilio:"+sourceSecret)
	report := reportOf(t, cfg, "gateway", "hint   sources   Nothing came from gateway within the last week.")
	require.NotContains(t, report, "settings")
	reportOf(t, cfg, "gatewy", "No room in WAITROOM_ROOMS has a source gatewy.", "The names are: gateway, twilio.")

	r := start(t, cfg)
	s := newSeller(t, r.URL(), "phone")
	post := func(path, body string) { gatewayPost(s, path, body) }
	s.ask(http.MethodPost, "/api/a/lock", `{"seller_id":"a"}`, jsonHeader...)
	post("/api/a/sms/gateway", textAt("1", "15889999", "01011111111", "[마켓] 인증번호 482913"))
	post("/api/a/sms/gateway", textAt("2", "15881234", "01022222222", "[마켓] 인증번호 482913"))
	post("/api/a/sms/gateway", textAt("3", "15881234", "01011111111", "[마켓] 배송 안내"))
	matched := textAt("4", "15881234", "01011111111", "[마켓] 인증번호 730214")
	post("/api/sms/gateway", matched)
	post("/api/sms/gateway", matched)
	post("/api/sms/gateway", textAt("5", "15881234", "01033333333", "[마켓] 인증번호 730214"))
	post("/api/b/sms/gateway", textAt("6", "01098765432", "01022222222", "482913"))
	post("/api/b/sms/gateway", `{"event":"sms:sent"}`)
	post("/api/b/sms/gateway", `{"event":"sms:received","payload":{}}`)
	post("/api/b/sms/gateway", "{")
	post("/api/elsewhere/sms/gateway", "{}")
	post("/api/b/sms/gatewy", "{}")
	post("/api/b/SMS", "{}")
	s.ask(http.MethodGet, "/api/b/sms/gateway?text=482913", "")
	for range 3 {
		s.ask(http.MethodPost, "/api/b/sms/gateway", "{}")
	}
	report = reportOf(t, cfg, "gateway",
		"Z not_expected in a, from ****9999: its sender is not in sms_from of the room\n",
		"Z wrong_number in a, from ****1234: it was sent to another number, or another SIM card, than the room's\n",
		"Z matched in a, from ****1234: no code was found in it, so it ends no turn\n",
		"Z matched in a, from ****1234\n",
		"Z matched in a, from ****1234: it came before, and has the first one's answer\n",
		"Z refused, no_room, from ****1234: It was sent to *******3333, which no room has as its phone\n",
		"in b, from *******5432: no seller had a turn when it was sent; it is from a personal number and the room "+
			"has no sms_from, so it ends no turn\n",
		"Z event sms:sent in b: No inbound message\n",
		"Z refused, invalid_message in b: There is no text in what the source sent: check its template, or the names "+
			"of its fields in ROOMS_FILE",
		"Z refused, invalid_json in b: The body can not be read",
		"Z refused, unknown_room in a: The address names a room that does not exist\n",
		"Z refused, unknown_source in b: The address names a source that is not set up\n",
		"Z refused, not_found in b: The address is none",
		"Z refused, method_not_allowed in b: Messages are taken by POST alone",
		"Z refused, bad_signature in b")
	for _, secret := range []string{"482913", "730214", "15881234", "98765432", "인증번호", sourceSecret} {
		require.NotContains(t, report, secret)
	}
	reportOf(t, cfg, "twilio", "Nothing came from twilio", "Z refused, unknown_source in b")
	s.ask(http.MethodPost, "/api/b/sms", "{}")
	reportOf(t, cfg, "sms", "Z refused, bad_signature in b", "Z refused, unknown_source in b")
}

// Anybody can send requests without a right signature.
func TestRequestsWithoutASignatureNeverReplaceWhatASourceSent(t *testing.T) {
	cfg := sound(t, "--redis-url", redistest.StartKept(t).URL(), "--public-url", "", "--rooms", "a",
		"--sms-sources", "gateway=android-sms-gateway:"+sourceSecret)
	s := newSeller(t, start(t, cfg).URL(), "phone")
	require.Equal(t, http.StatusOK, gatewayPost(s, "/api/a/sms/gateway", textAt("1", "15881234", "", "안내")).StatusCode)
	reportOf(t, cfg, "gateway", "no_lease in a, from ****1234")
	for i := range 50 {
		headers := []string{"X-Timestamp", fmt.Sprint(i), "X-Signature", strings.Repeat("ab", 32)}
		s.ask(http.MethodPost, "/api/a/sms/gateway", "{}", headers[:2*(1+i%2)]...)
	}
	report := reportOf(t, cfg, "gateway", "bad_signature in a")
	require.Contains(t, report, "no_lease in a, from ****1234")
}
