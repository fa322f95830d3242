//go:build long

package examples

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// provider is NHN Cloud's API for Alimtalk as documented: it answers 200 even if it refuses a message.
type provider struct {
	t       *testing.T
	mu      sync.Mutex
	refuses int // requests
	keys    []string
	bodies  []string
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var body json.RawMessage
	if json.NewDecoder(r.Body).Decode(&body) != nil || r.Method != http.MethodPost ||
		r.URL.Path != "/alimtalk/v2.3/appkeys/app/messages" || r.Header.Get("X-Secret-Key") != "hush" {
		p.t.Errorf("%s %s is no request of the API", r.Method, r.URL)
	}
	p.keys, p.bodies = append(p.keys, r.Header.Get("X-NC-API-IDEMPOTENCY-KEY")), append(p.bodies, string(body))
	answer := `{"header":{"resultCode":0,"resultMessage":"success","isSuccessful":true},"message":{"sendResults":[
		{"recipientSeq":1,"recipientNo":"01000000000","resultCode":0,"resultMessage":"success"}]}}`
	if p.refuses > 0 {
		p.refuses--
		answer = `{"header":{"resultCode":-1000,"resultMessage":"busy","isSuccessful":false},"message":null}`
	}
	_, _ = w.Write([]byte(answer))
}

func (p *provider) requests() (keys, bodies []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys, p.bodies
}

func TestAlimtalkIsSentOnceToASellerWhoseTurnIsNear(t *testing.T) {
	events := &webhooks{}
	hooks := httptest.NewServer(events)
	t.Cleanup(hooks.Close)
	room := serve(t, "--webhook-url", hooks.URL, "--webhook-secret", secret, "--webhook-near", "1") +
		"/api/room:alimtalk/lock"
	for _, n := range []string{"1", "2", "3"} {
		session := "00000000-0000-4000-8000-00000000000" + n
		posted(t, room, http.Header{"X-Session-Id": {session}, "Content-Type": {"application/json"}},
			`{"seller_id":"s-`+n+`"}`)
	}
	found := events.oneOfEach(t, "place.near", "lock.granted")

	p := &provider{t: t, refuses: 1}
	api := httptest.NewServer(p)
	t.Cleanup(api.Close)
	phones := filepath.Join(t.TempDir(), "phones.json")
	require.NoError(t, os.WriteFile(phones, []byte(`{"s-2":"01000000000","s-3":"01000000000"}`), 0o600))
	for name, value := range map[string]string{"NHN_URL": api.URL, "NHN_APPKEY": "app", "NHN_SECRET_KEY": "hush",
		"NHN_SENDER_KEY": "sender", "NHN_TEMPLATE": "near", "PHONES": phones} {
		t.Setenv(name, value)
	}
	address, ok := listen(t, language{name: "alimtalk", receiver: run("python3", "python/alimtalk.py")})
	if !ok {
		return
	}
	require.Equal(t, http.StatusServiceUnavailable, post(t, address, found[0].header, found[0].body), "refused")
	for range 2 {
		require.Equal(t, http.StatusNoContent, post(t, address, found[0].header, found[0].body))
	}
	require.Equal(t, http.StatusNoContent, post(t, address, found[1].header, found[1].body), "not of interest")
	require.Equal(t, http.StatusUnauthorized, post(t, address, found[0].header, append([]byte(" "), found[0].body...)))

	id := found[0].header.Get("Webhook-Id")
	keys, bodies := p.requests()
	require.Equal(t, []string{id, id}, keys, "the refused request and its repeat")
	var event struct {
		Data struct {
			Position int `json:"queue_position"`
		}
	}
	require.NoError(t, json.Unmarshal(found[0].body, &event))
	ahead := map[int]string{1: "0", 2: "1"}[event.Data.Position]
	require.JSONEq(t, `{"senderKey":"sender","templateCode":"near","recipientList":[{"recipientNo":"01000000000",
		"templateParameter":{"ahead":"`+ahead+`"}}]}`, bodies[1])
}
