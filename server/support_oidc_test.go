package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// byProvider signs in at the provider as a member of a group, and returns the browser with its last answer.
func byProvider(t *testing.T, r *replica, provider *mockoidc.MockOIDC, group string) (*seller, reply) {
	t.Helper()
	provider.QueueUser(&mockoidc.MockUser{Subject: "s-" + group, PreferredUsername: "kim-" + group,
		Groups: []string{group}})
	s := newReader(t, r.URL())
	s.host = "wait.example"
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	there := s.ask("GET", "/support/oidc/start?next=/support/integration/history", "")
	require.Equal(t, http.StatusSeeOther, there.StatusCode, there.body)
	require.True(t, strings.HasPrefix(there.Header.Get("Location"), provider.Issuer()))
	request, err := http.NewRequestWithContext(t.Context(), "GET", there.Header.Get("Location"), nil)
	require.NoError(t, err)
	sent, err := s.http.Do(request)
	require.NoError(t, err)
	require.NoError(t, sent.Body.Close())
	back, err := url.Parse(sent.Header.Get("Location"))
	require.NoError(t, err)
	require.Equal(t, "wait.example", back.Host)
	return s, s.ask("GET", back.RequestURI(), "", "Sec-Fetch-Site", "cross-site")
}

func TestProvidersGroupsDecideWatchAndAct(t *testing.T) {
	provider, err := mockoidc.Run()
	require.NoError(t, err)
	t.Cleanup(func() { _ = provider.Shutdown() })
	r := start(t, config(t, "--public-url", "http://wait.example", "--support-oidc-issuer", provider.Issuer(),
		"--support-oidc-client-id", provider.ClientID,
		"--support-oidc-client-secret", provider.ClientSecret, "--support-oidc-watch-group", "watchers",
		"--support-oidc-act-group", "actors"))

	watcher, got := byProvider(t, r, provider, "watchers")
	require.Equal(t, http.StatusOK, got.StatusCode, got.body)
	require.Contains(t, got.body, "/support/integration/history",
		"a page leads on, since the cookie is not sent along from another site")
	require.Equal(t, http.SameSiteStrictMode, cookieOf(t, got, "waitroom_support").SameSite)
	require.Equal(t, http.StatusOK, watcher.ask("GET", "/support/integration", "").StatusCode)
	requireProblem(t, watcher.act("pause", `{"reason":"r"}`), 403, "not_allowed")

	actor, _ := byProvider(t, r, provider, "actors")
	actor.mustAct("pause", `{"reason":"r"}`)

	stranger, got := byProvider(t, r, provider, "others")
	require.Equal(t, http.StatusForbidden, got.StatusCode)
	requireProblem(t, stranger.ask("GET", "/api/support/integration/history", ""), 401, "not_signed_in")
	actor.history("", func(r reply) bool { return len(r.list("actions")) == 1 })
	require.Eventually(t, func() bool {
		page := actor.ask("GET", "/support/-/audit", "").body
		return strings.Contains(page, "kim-watchers") && strings.Contains(page, "kim-others")
	}, patience, patience/500)
	require.Equal(t, http.StatusUnauthorized,
		actor.ask("GET", "/support/oidc/callback?state=x&code=y", "").StatusCode)
}

// The provider's sign-out reaches every page of the agent, on the socket too.
func TestProvidersSignOutEndsTheDesksSessionAndItsSocket(t *testing.T) {
	provider, err := mockoidc.Run()
	require.NoError(t, err)
	t.Cleanup(func() { _ = provider.Shutdown() })
	r := start(t, config(t, "--public-url", "http://wait.example", "--support-oidc-issuer", provider.Issuer(),
		"--support-oidc-client-id", provider.ClientID,
		"--support-oidc-client-secret", provider.ClientSecret, "--support-oidc-act-group", "actors"))
	actor, got := byProvider(t, r, provider, "actors")
	ws, _, err := websocket.Dial(t.Context(), r.URL()+"/api/support/ws",
		&websocket.DialOptions{HTTPClient: newHTTP(t), Host: "wait.example",
			HTTPHeader: http.Header{"Cookie": {cookieOf(t, got, "waitroom_support").String()},
				"Origin": {"http://wait.example"}}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ws.CloseNow() })
	require.Equal(t, "rooms", next(t, ws)["type"])

	now := time.Now()
	token, err := provider.Keypair.SignJWT(jwt.MapClaims{"iss": provider.Issuer(), "aud": provider.ClientID,
		"sub": "s-actors", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "jti": "1",
		"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}})
	require.NoError(t, err)
	from := &seller{t: t, http: newHTTP(t), base: r.URL(), host: "wait.example"}
	logout := func(token string) reply {
		return from.ask("POST", "/support/oidc/back-channel", url.Values{"logout_token": {token}}.Encode(),
			"Content-Type", "application/x-www-form-urlencoded")
	}
	require.Equal(t, http.StatusBadRequest, logout(token+"x").StatusCode)
	require.Equal(t, http.StatusOK, actor.ask("GET", "/support", "").StatusCode)
	require.Equal(t, http.StatusOK, logout(token).StatusCode)
	require.Equal(t, websocket.StatusCode(4501), closeOf(t, ws))
	requireProblem(t, actor.ask("GET", "/api/support/integration/history", ""), 401, "not_signed_in")
}

// While the client's secret is replaced, replicas have different ones, and agents who are signed in stay so.
func TestSignInByTheProviderOutlivesTheClientsSecret(t *testing.T) {
	provider, err := mockoidc.Run()
	require.NoError(t, err)
	t.Cleanup(func() { _ = provider.Shutdown() })
	args := []string{"--redis-url", redistest.Lent(t).URL(), "--public-url", "http://wait.example",
		"--support-oidc-issuer", provider.Issuer(), "--support-oidc-client-id", provider.ClientID,
		"--support-oidc-act-group", "actors", "--support-oidc-client-secret"}
	before := start(t, config(t, append(args, provider.ClientSecret)...))
	actor, got := byProvider(t, before, provider, "actors")
	require.Equal(t, http.StatusOK, got.StatusCode, got.body)
	after := start(t, config(t, append(args, "another secret")...))
	actor.at(after.URL()).mustAct("pause", `{"reason":"r"}`)
	require.NoError(t, before.stop(t))
	actor.at(after.URL()).mustAct("resume", `{"reason":"r"}`)
}
