package signin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/stretchr/testify/require"
)

// issuerAt is a provider that runs until the test ends. It records the requests to authorize and the tokens
// that its token endpoint gives out.
type issuerAt struct {
	*mockoidc.MockOIDC
	t *testing.T

	mu     sync.Mutex
	tokens []string                    // that it gave out
	alter  func(answer map[string]any) // what it gives out
	asked  []url.Values                // to authorize
	client *http.Client                // the browser
	broken bool                        // userinfo is refused
}

func startIssuer(t *testing.T, addr string) *issuerAt {
	m, err := mockoidc.NewServer(nil)
	require.NoError(t, err)
	m.ClientID, m.ClientSecret = clientID, clientSecret
	i := &issuerAt{MockOIDC: m, t: t}
	i.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	require.NoError(t, m.AddMiddleware(i.record))
	listener, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	require.NoError(t, m.Start(listener, nil))
	t.Cleanup(func() { _ = m.Shutdown() })
	return i
}

func (i *issuerAt) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.broken && r.URL.Path == mockoidc.UserinfoEndpoint {
			http.Error(w, "in the body", http.StatusForbidden)
			return
		}
		if r.URL.Path != mockoidc.TokenEndpoint {
			next.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		body := map[string]any{}
		_ = json.Unmarshal(answer.Body.Bytes(), &body)
		i.mu.Lock()
		if i.alter != nil && answer.Code == http.StatusOK {
			i.alter(body)
		}
		for _, name := range []string{"id_token", "access_token", "refresh_token"} {
			if token, ok := body[name].(string); ok && token != "" {
				i.tokens = append(i.tokens, token)
			}
		}
		i.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		_ = json.NewEncoder(w).Encode(body)
	})
}

const (
	clientID     = "waitroom"
	clientSecret = "what the provider knows us by"
)

func (i *issuerAt) oidc() *OIDC { return settingsOf(i.Issuer()) }

func settingsOf(issuer string) *OIDC {
	return &OIDC{Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret,
		Redirect:   "https://wait.example/support/oidc/callback",
		WatchGroup: "watchers", ActGroup: "actors"}
}

// visit signs in as the user at the provider, and returns the redirect's state and code.
func (i *issuerAt) visit(to string, as mockoidc.User) (state, code string) {
	i.QueueUser(as)
	at, err := url.Parse(to)
	require.NoError(i.t, err)
	i.asked = append(i.asked, at.Query())
	answer, err := i.client.Get(to)
	require.NoError(i.t, err)
	defer func() { _ = answer.Body.Close() }()
	var said bytes.Buffer
	_, _ = said.ReadFrom(answer.Body)
	require.Equal(i.t, http.StatusFound, answer.StatusCode, said.String())
	back, err := answer.Location()
	require.NoError(i.t, err)
	require.True(i.t, strings.HasPrefix(back.String(), "https://wait.example/support/oidc/callback?"))
	return back.Query().Get("state"), back.Query().Get("code")
}

// user is a person known to the provider, with claims of any kind. Those under userinfo are not in the token.
type user map[string]any

func (u user) ID() string { return "subject-1" }

func (u user) Userinfo([]string) ([]byte, error) {
	said := map[string]any{"sub": u.ID()}
	if sub, ok := u["sub"]; ok {
		said["sub"] = sub
	}
	if more, ok := u["userinfo"].(user); ok {
		maps.Copy(said, more)
	}
	return json.Marshal(said)
}

func (u user) Claims(scopes []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	encoded, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	claims := jwt.MapClaims{}
	if err := json.Unmarshal(encoded, &claims); err != nil {
		return nil, err
	}
	for name, value := range u {
		if name == "userinfo" || name == "groups" && !slices.Contains(scopes, "groups") {
			continue
		}
		claims[name] = value
	}
	return claims, nil
}

// forged returns the token with a claim changed and the old signature.
func forged(token, claim string, value any) string {
	parts := strings.Split(token, ".")
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	claims := map[string]any{}
	_ = json.Unmarshal(payload, &claims)
	claims[claim] = value
	payload, _ = json.Marshal(claims)
	parts[1] = base64.RawURLEncoding.EncodeToString(payload)
	return strings.Join(parts, ".")
}
