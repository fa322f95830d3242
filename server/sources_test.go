package server

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const sourceSecret = "0123456789abcdef-of-the-source"

// sourceRooms is a rooms file with the room of the template; the other kinds of source are in --sms-sources.
const sourceRooms = `
src:template:
  sms_sources:
    any: {kind: template, scheme: hmac-sha256, secret: ` + sourceSecret + `, from: msg.number, text: msg.body, sent_at: msg.at}
`

// phones has, for each project, the request that it sends for one SMS by its documentation: the path below
// /sms/, the body and the headers.
var phones = map[string]func(base, id, text string, at time.Time) (path, body string, headers []string){
	"twilio": func(base, id, text string, _ time.Time) (string, string, []string) {
		form := url.Values{"MessageSid": {"SM" + id}, "SmsSid": {"SM" + id}, "SmsMessageSid": {"SM" + id},
			"AccountSid": {"AC1"}, "From": {"+8215881234"},
			"To": {"+821012345678"}, "Body": {text}, "NumMedia": {"0"}, "NumSegments": {"1"},
			"SmsStatus": {"received"}, "ApiVersion": {"2010-04-01"}}
		signed := base + "/api/src:twilio/sms/twilio"
		for _, name := range slices.Sorted(maps.Keys(form)) {
			signed += name + form.Get(name)
		}
		return "twilio", form.Encode(), []string{"Content-Type", "application/x-www-form-urlencoded",
			"X-Twilio-Signature",
			base64.StdEncoding.EncodeToString(sum(sha1.New, signed)), "I-Twilio-Idempotency-Token", uuid.NewString()}
	},
	"gateway": func(_, id, text string, at time.Time) (string, string, []string) {
		body := encoded(map[string]any{"deviceId": "ffffffffceb0b1db", "event": "sms:received", "id": "ev-" + id,
			"webhookId": "LreFUt-Z3sSq0JufY9uWB",
			"payload": map[string]any{"messageId": "abc123", "message": text, "sender": "15881234", "recipient": nil,
				"simNumber": 1,
				"receivedAt": at.Truncate(time.Second).In(time.FixedZone("",
					9*3600)).Format("2006-01-02T15:04:05.000Z07:00")}})
		stamp := strconv.FormatInt(time.Now().Unix(), 10)
		return "gateway", body, []string{"Content-Type", "application/json", "X-Timestamp", stamp, "X-Signature",
			hex.EncodeToString(sum(sha256.New, body+stamp))}
	},
	"httpsms": func(base, id, text string, at time.Time) (string, string, []string) {
		now := time.Now()
		token := must(jwt.NewWithClaims(jwt.SigningMethodHS256,
			jwt.RegisteredClaims{Audience: []string{base + "/api/src:httpsms/sms/httpsms"}, Issuer: "api.httpsms.com",
				ExpiresAt: jwt.NewNumericDate(now.Add(10 * time.Minute)), IssuedAt: jwt.NewNumericDate(now),
				NotBefore: jwt.NewNumericDate(now.Add(-10 * time.Minute)),
				Subject:   "user"}).SignedString([]byte(sourceSecret)))
		body := encoded(map[string]any{"specversion": "1.0", "id": uuid.NewString(),
			"source": "/v1/messages/receive", "type": "message.phone.received",
			"datacontenttype": "application/json", "time": now.UTC().Format(time.RFC3339Nano),
			"data": map[string]any{"message_id": "m-" + id, "user_id": "user",
				"owner": "+821012345678", "encrypted": false, "contact": "15881234",
				"timestamp": at.UTC().Format(time.RFC3339Nano), "content": text, "sim": "SIM1"}})
		return "httpsms", body, []string{"Content-Type", "application/json", "X-Event-Type",
			"message.phone.received", "Authorization", "Bearer " + token}
	},
	"smsforwarder": func(_, _, text string, at time.Time) (string, string, []string) {
		stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
		body := encoded(map[string]any{"from": "15881234", "org_content": text,
			"receive_time": at.In(time.FixedZone("", 9*3600)).Format("2006-01-02T15:04:05.000Z07:00"),
			"timestamp":    stamp, "sign": url.QueryEscape(base64.StdEncoding.EncodeToString(sum(sha256.New,
				stamp+"\n"+sourceSecret)))})
		return "smsforwarder?timeStamp=" + stamp, body, []string{"Content-Type", "application/json; charset=utf-8"}
	},
	"template": func(_, _, text string, at time.Time) (string, string, []string) {
		body := encoded(map[string]any{"msg": map[string]any{"number": 15881234, "body": text,
			"at": at.UnixMilli()}})
		return "any", body, []string{"Content-Type", "application/json", "X-Signature",
			"sha256=" + hex.EncodeToString(sum(sha256.New, body))}
	},
}

func sum(h func() hash.Hash, text string) []byte {
	m := hmac.New(h, []byte(sourceSecret))
	m.Write([]byte(text))
	return m.Sum(nil)
}

func encoded(v any) string { return string(must(json.Marshal(v))) }

// sourced starts a server with a room for each kind of source.
func sourced(t *testing.T, store string) *replica {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rooms.yaml")
	require.NoError(t, os.WriteFile(file, []byte(sourceRooms), 0o600))
	return start(t, config(t, append(supportArgs(t), "--redis-url", store, "--rooms", "src:*", "--rooms-file",
		file, "--sms-sources",
		"twilio:"+sourceSecret+",gateway=android-sms-gateway:"+sourceSecret+",httpsms:"+sourceSecret+
			",smsforwarder:"+sourceSecret)...))
}

// postFrom posts the request of a project.
func postFrom(t *testing.T, base, kind, id, text string, at time.Time) reply {
	t.Helper()
	path, body, headers := phones[kind](base, id, text, at)
	return newSeller(t, base, "phone").ask(http.MethodPost, "/api/src:"+kind+"/sms/"+path, body, headers...)
}

func requireTaken(t *testing.T, kind, want string, got reply) {
	t.Helper()
	require.Equal(t, http.StatusOK, got.StatusCode, "%s: %s", kind, got.body)
	if kind == "twilio" {
		require.Contains(t, got.body, "<Response/>")
		return
	}
	require.JSONEq(t, want, got.body, kind)
}

func TestOrdinaryPhonesAndProvidersFeedARoomByThemselves(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		base := sourced(t, store).URL()
		for kind := range phones {
			a, b := newSeller(t, base, "a"), newSeller(t, base, "b")
			lock := "/api/src:" + kind + "/lock"
			first := a.ask(http.MethodPost, lock, `{"seller_id":"a"}`, jsonHeader...)
			b.ask(http.MethodPost, lock, `{"seller_id":"b"}`, jsonHeader...)
			at := moment(t, first.json["granted_at"].(string)).Add(time.Millisecond)
			want := fmt.Sprintf(`{"result":"matched","ticket":1,"fence":%s}`, first.json["fence"])
			requireTaken(t, kind, want, postFrom(t, base, kind, "1", "[쿠팡] 인증번호 482913", at))
			requireTaken(t, kind, want, postFrom(t, base, kind, "1", "[쿠팡] 인증번호 482913", at))
			require.Equal(t, "locked", b.ask(http.MethodPost, lock, `{"seller_id":"b"}`, jsonHeader...).json["status"],
				kind)
			shown := a.ask(http.MethodGet, lock+"/messages", "")
			require.Contains(t, shown.body, `"code":"482913"`, kind)
			require.Contains(t, shown.body, "쿠팡", kind)
		}
	})
}

func TestSourceIsRefusedAsTheRoomsOwnWayIs(t *testing.T) {
	r := sourced(t, "embedded")
	base, s := r.URL(), newSeller(t, r.URL(), "phone")
	requireProblem(t, s.ask(http.MethodPost, "/api/src:a/sms/any", "{}"), http.StatusNotFound, "unknown_source")
	requireProblem(t, s.ask(http.MethodPost, "/api/elsewhere/sms/twilio", "{}"), http.StatusNotFound,
		"unknown_room")
	requireProblem(t, s.ask(http.MethodPost, "/api/src:a/sms", "{}"), http.StatusServiceUnavailable,
		"sms_not_configured")
	for kind := range phones {
		path, body, headers := phones[kind](base, "1", "[쿠팡] 인증번호 482913", time.Now())
		to := "/api/src:" + kind + "/sms/" + path
		if kind == "smsforwarder" { // whose signature is in the body
			body = strings.Replace(body, `"sign":"`, `"sign":"x`, 1)
		}
		requireProblem(t, s.ask(http.MethodPost, to, body, headers[:2]...), http.StatusUnauthorized,
			"bad_signature")
		requireProblem(t, s.ask(http.MethodPost, to, strings.Repeat("x", 16<<10+1)),
			http.StatusRequestEntityTooLarge, "body_too_large")
	}
	requireProblem(t, gatewaySays(s, "src:a", "{"), http.StatusBadRequest, "invalid_json")
	requireProblem(t, gatewaySays(s, "src:a", `{"event":"sms:received","payload":{}}`), http.StatusBadRequest,
		"invalid_message")
	require.Equal(t, http.StatusNoContent, gatewaySays(s, "src:a", `{"event":"system:ping"}`).StatusCode)
}

// gatewaySays posts any body as SMS Gateway for Android does.
func gatewaySays(s *seller, id, body string) reply {
	s.t.Helper()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	return s.ask(http.MethodPost, "/api/"+id+"/sms/gateway", body, "X-Timestamp", stamp, "X-Signature",
		hex.EncodeToString(sum(sha256.New, body+stamp)))
}

func TestClockThatIsOffIsShownToSupportAndByDoctor(t *testing.T) {
	redis := redistest.StartKept(t)
	cfg := sound(t, "--redis-url", redis.URL(), "--public-url", "", "--rooms", "src:*", "--sms-sources",
		"gateway=android-sms-gateway:"+sourceSecret)
	r := start(t, cfg)
	for n := range 20 { // as many as a recorder compares
		requireTaken(t, "gateway", `{"result":"unmatched","reason":"no_lease"}`,
			postFrom(t, r.URL(), "gateway", fmt.Sprint(n), fmt.Sprint("안내 ", n), time.Now().Add(-4*time.Second)))
	}
	items, err := newPanels(r.engine, r.ledger.Reader, r.store.Client, r.sourcesOf).Sources(t.Context(), "src:gateway")
	require.NoError(t, err)
	require.Len(t, items, 1)
	var shown sourceItem
	require.NoError(t, json.Unmarshal(items[0].JSON, &shown))
	require.Equal(t, "android-sms-gateway", shown.Kind)
	require.WithinDuration(t, time.Now(), time.UnixMilli(shown.HeardAt), patience)
	require.Greater(t, shown.Clock, int64(3000))
	report, _ := diagnosed(t, cfg)
	require.Contains(t, report, "the clock of gateway is behind by up to")
	require.Eventually(t, func() bool {
		_, incidents, err := r.ledger.Troubles(t.Context(), "src:gateway", 0, 100)
		require.NoError(t, err)
		return len(incidents) == 1 && incidents[0].Kind == "carrier_clock" &&
			strings.HasPrefix(incidents[0].Subject, "gateway/")
	}, patience, 10*time.Millisecond)
}

func TestEventsThatAreNoMessageAreSeenAtTheDesk(t *testing.T) {
	r := sourced(t, "embedded")
	s := newSeller(t, r.URL(), "phone")
	for _, event := range []string{"system:ping", "sms:sent", "sms:sent"} {
		require.Equal(t, http.StatusNoContent, gatewaySays(s, "src:a", `{"event":"`+event+`"}`).StatusCode)
	}
	items, err := newPanels(r.engine, r.ledger.Reader, r.store.Client, r.sourcesOf).Sources(t.Context(), "src:a")
	require.NoError(t, err)
	shown := map[string]map[string]int{}
	for _, item := range items {
		var one sourceItem
		require.NoError(t, json.Unmarshal(item.JSON, &one))
		shown[one.Key] = one.Events
	}
	require.Equal(t, map[string]int{"system:ping": 1, "sms:sent": 2}, shown["gateway"])
	require.Empty(t, shown["twilio"])
	got := s.ask(http.MethodGet, "/metrics", "").body
	require.Contains(t, got, `waitroom_sms_events_total{event="sms:sent",source="gateway"} 2`)
}

func TestDoctorKnowsWhenASourceWasLastHeard(t *testing.T) {
	redis := redistest.StartKept(t)
	cfg := sound(t, "--redis-url", redis.URL(), "--public-url", "", "--rooms", "a,b:*", "--sms-sources",
		"gateway=android-sms-gateway:"+sourceSecret+",twilio:short")
	report, well := diagnosed(t, cfg)
	require.False(t, well)
	require.Contains(t, report, "hint   sources   gateway (android-sms-gateway) of a was never heard.")
	require.Contains(t, report, "/api/a/sms/gateway, and send an SMS to the number.")
	require.Contains(t, report, "The secret of twilio in a can be guessed.")
	require.Contains(t, report, "WRONG  sources   twilio (twilio) of a signs the address that it calls")
	require.NotContains(t, report, "gateway (android-sms-gateway) of a signs")

	s := newSeller(t, start(t, cfg).URL(), "phone")
	for _, id := range []string{"a", "b:1"} {
		require.Equal(t, http.StatusNoContent, gatewaySays(s, id, `{"event":"system:ping"}`).StatusCode)
	}
	cfg.PublicURL = "https://wait.example"
	report, _ = diagnosed(t, cfg)
	require.Regexp(t, `ok     sources   gateway \(android-sms-gateway\) was last heard at \S+Z, by https://wait.example/api/a/sms/gateway\.`, report)
	require.Contains(t, report, "by https://wait.example/api/b:1/sms/gateway.")
	require.NotContains(t, report, "signs the address")
	require.NotContains(t, report, sourceSecret)
}

// gatewayPost posts an event as SMS Gateway for Android does, to any path.
func gatewayPost(s *seller, path, body string) reply {
	s.t.Helper()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	return s.ask(http.MethodPost, path, body, "Content-Type", "application/json", "X-Timestamp", stamp,
		"X-Signature", hex.EncodeToString(sum(sha256.New, body+stamp)))
}

// gatewayEvent returns a received message's event; to is JSON.
func gatewayEvent(id, to string, sim int, text string) string {
	return fmt.Sprintf(`{"event":"sms:received","id":%q,"payload":{"messageId":"m","sender":"15881234",`+
		`"recipient":%s,"simNumber":%d,"message":%q,"receivedAt":%q}}`, id, to, sim, text,
		time.Now().Format(time.RFC3339))
}

func TestOneAddressServesAllNumbers(t *testing.T) {
	l := startLibrary(t, `
shop:a: {phone: 010-1111-1111, sms_sources: {phone: {sim: 1}}}
shop:b: {phone: 010-2222-2222, sms_sources: {phone: {sim: 2}}}
`, "--sms-sources", "phone=android-sms-gateway:"+sourceSecret)
	s := newSeller(t, l.URL(), "phone")
	fences := map[string]any{}
	for _, id := range []string{"shop:a", "shop:b"} {
		fences[id] = l.joins(id, "s", "").json["fence"]
	}
	matched := func(id string) string {
		return fmt.Sprintf(`{"result":"matched","ticket":1,"fence":%s}`, fences[id])
	}
	require.JSONEq(t, `{"result":"unmatched","reason":"wrong_number"}`,
		gatewayPost(s, "/api/shop:a/sms/phone", gatewayEvent("e1", `"010-2222-2222"`, 2, "인증번호 482913")).body)
	require.JSONEq(t, `{"result":"unmatched","reason":"wrong_number"}`,
		gatewayPost(s, "/api/shop:a/sms/phone", gatewayEvent("e2", `null`, 2, "인증번호 482914")).body)
	require.JSONEq(t, matched("shop:b"),
		gatewayPost(s, "/api/sms/phone", gatewayEvent("e3", `"+821022222222"`, 2, "인증번호 482915")).body)
	require.JSONEq(t, matched("shop:a"),
		gatewayPost(s, "/api/sms/phone", gatewayEvent("e4", `null`, 1, "인증번호 482916")).body)
	require.JSONEq(t, `{"result":"unmatched","reason":"wrong_number"}`,
		gatewayPost(s, "/api/sms/phone", gatewayEvent("e5", `"01099999999"`, 1, "인증번호 482917")).body)
	requireProblem(t, s.ask(http.MethodPost, "/api/sms/phone", "{}"), http.StatusUnauthorized, "bad_signature")
	requireProblem(t, s.ask(http.MethodPost, "/api/sms/other", "{}"), http.StatusNotFound, "unknown_source")
	requireProblem(t, s.ask(http.MethodPost, "/api/shop:a/sms/", "{}"), http.StatusNotFound, "not_found")
	require.Eventually(t, func() bool {
		var kinds []string
		for _, id := range []room.ID{"integration", "shop:a", "shop:b"} {
			_, incidents, err := l.ledger.Troubles(t.Context(), id, 0, 100)
			require.NoError(t, err)
			for _, i := range incidents {
				what, _, _ := strings.Cut(i.Subject, "/")
				kinds = append(kinds, string(id)+" "+i.Kind+" "+what)
			}
		}
		return slices.Contains(kinds, "integration message_refused no_room") &&
			slices.Contains(kinds, "integration message_refused unknown_source") &&
			slices.Contains(kinds, "shop:a message_refused not_found")
	}, patience, 20*time.Millisecond)
}

func TestOneAddressAnswersEventsAndAnAbsentStore(t *testing.T) {
	store := redistest.Start(t)
	r := start(t, config(t, "--redis-url", store.URL(), "--rooms-file",
		roomsFile(t, "integration: {phone: 010-1111-1111}\n"), "--sms-sources",
		"gateway=android-sms-gateway:"+sourceSecret))
	s := newSeller(t, r.URL(), "phone")
	require.Equal(t, http.StatusNoContent, gatewayPost(s, "/api/sms/gateway", `{"event":"system:ping"}`).StatusCode)
	store.Kill()
	got := gatewayPost(s, "/api/sms/gateway", gatewayEvent("e1", `"01011111111"`, 1, "인증번호 482913"))
	requireProblem(t, got, http.StatusServiceUnavailable, "store_unavailable")
}
