package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// The same rule decides about the Origin of a form, a request and a socket.
func TestOriginIsSchemeHostAndPortForPressesAndSocketsAlike(t *testing.T) {
	store := redistest.Lent(t).URL()
	portal := []string{"--redis-url", store, "--allowed-origins", "https://PORTAL.example,http://localhost:80"}
	public := start(t, config(t, append(portal, "--public-url", "https://wait.example")...))
	plain := start(t, config(t, portal...))
	here := strings.TrimPrefix(plain.URL(), "http://")
	for _, one := range []struct {
		r      *replica
		host   string // that it is asked by; "" for its address
		origin string
		own    bool
		others bool // also an allowed one
	}{
		{public, "wait.example", "https://wait.example", true, true},
		{public, "wait.example:443", "HTTPS://Wait.Example:443", true, true},
		{public, "wait.example", "http://wait.example", false, false},
		{public, "wait.example", "https://wait.example:8443", false, false},
		{public, "wait.example", "https://portal.example", false, true},
		{plain, "", "http://" + here, true, true},
		{plain, "", "https://" + here, true, true}, // by a proxy that ends TLS and is not named
		{plain, "wait.example", "https://wait.example:443", true, true},
		{plain, "wait.example:443", "http://wait.example", false, false},
		{plain, "", "http://evil@" + here, false, false},
		{plain, "", "http://" + here + "/", false, false},
		{plain, "", "http://" + here + "?x", false, false},
		{plain, "", "http://" + here + "#", false, false},
		{plain, "", "ftp://" + here, false, false},
		{plain, "", "null", false, false},
		{plain, "", "https://portal.example", false, true},
		{plain, "", "https://Portal.Example:443", false, true},
		{plain, "", "http://portal.example", false, false},
		{plain, "", "http://localhost", false, true},
	} {
		s := newSeller(t, one.r.URL(), "a")
		s.host = one.host
		name := one.host + " from " + one.origin
		want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[one.others]
		got := s.ask(http.MethodPost, "/api/integration/lock", `{"seller_id":"a"}`, asJSON, jsonType, "Origin",
			one.origin, "Cookie", "waitroom_session="+s.session)
		require.Equal(t, want, got.StatusCode, name)
		if one.others {
			require.Equal(t, http.StatusOK, s.leave("").StatusCode)
		}
		want = map[bool]int{true: http.StatusUnauthorized, false: http.StatusForbidden}[one.own]
		require.Equal(t, want, s.ask(http.MethodPost, "/api/support/integration/pause", "{}", asJSON, jsonType,
			"Origin", one.origin).StatusCode, name)

		conn, resp, err := websocket.Dial(t.Context(), one.r.URL()+"/api/integration/ws",
			&websocket.DialOptions{HTTPClient: newHTTP(t), Host: one.host,
				HTTPHeader: http.Header{"Cookie": {"waitroom_session=" + s.session}, "Origin": {one.origin}}})
		if one.others {
			require.NoError(t, err, name)
			require.NoError(t, conn.CloseNow())
		} else {
			require.Error(t, err, name)
			require.Equal(t, http.StatusForbidden, resp.StatusCode, name)
		}
	}
}

// The setting may write an origin in another way than browsers do.
func TestAllowedOriginIsReadInAnyWriting(t *testing.T) {
	r := start(t, config(t, "--allowed-origins", "https://PORTAL.example:443"))
	got := newSeller(t, r.URL(), "a").ask(http.MethodGet, lockPath+"/status", "", "Origin",
		"https://portal.example")
	require.Equal(t, "https://portal.example", got.Header.Get("Access-Control-Allow-Origin"))
}
