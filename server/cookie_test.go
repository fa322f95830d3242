package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// cookieOf returns the cookie of a name that the answer sets.
func cookieOf(t *testing.T, r reply, name string) *http.Cookie {
	t.Helper()
	for _, c := range r.Cookies() {
		if c.Name == name {
			return c
		}
	}
	require.Fail(t, "cookie is not set", "%s in %v", name, r.Header.Values("Set-Cookie"))
	return nil
}

func TestSessionIsNamedByHeaderThenBodyThenCookie(t *testing.T) {
	r := start(t, config(t))
	inHeader, inBody, inCookie := room.NewSession(), room.NewSession(), room.NewSession()
	s := newSeller(t, r.URL(), "")
	s.session = ""
	body := `{"seller_id":"a","session_id":"` + inBody + `"}`
	cookie := []string{asJSON, jsonType, "Cookie", "waitroom_session=" + inCookie}
	require.Equal(t, inHeader, s.ask("POST", lockPath, body,
		append(cookie, "X-Session-ID", inHeader)...).text("session_id"))
	require.Equal(t, inBody, s.ask("POST", lockPath, strings.Replace(body, `"a"`, `"b"`, 1),
		cookie...).text("session_id"))
	require.Equal(t, inCookie, s.ask("POST", lockPath, `{"seller_id":"c"}`, cookie...).text("session_id"))

	upper := s.ask("GET", lockPath+"/status", "", "X-Session-ID", strings.ToUpper(inHeader))
	require.Equal(t, inHeader, upper.me().text("session_id"), "a UUID is the same in capitals")
	gone := s.ask("DELETE", lockPath, `{"session_id":"`+inBody+`"}`, asJSON, jsonType)
	require.Equal(t, inBody, gone.text("session_id"))
}

func TestJoinWithoutASessionIsGivenOneByCookie(t *testing.T) {
	r := start(t, config(t))
	s := newSeller(t, r.URL(), "a")
	s.session = ""
	got := s.join()
	cookie := cookieOf(t, got, "waitroom_session")
	require.Equal(t, got.text("session_id"), cookie.Value)
	require.True(t, cookie.HttpOnly)
	require.False(t, cookie.Secure)
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)
	require.Equal(t, "/", cookie.Path)
	require.Empty(t, cookie.Domain)
	require.Positive(t, cookie.MaxAge)

	mine := s.ask("GET", lockPath+"/status", "", "Cookie", "waitroom_session="+cookie.Value)
	require.Equal(t, "locked", mine.me().text("status"))
}

func TestBadCookieIsReplacedByJoinAndByPage(t *testing.T) {
	r := start(t, config(t))
	s := newSeller(t, r.URL(), "a")
	s.session = ""
	for _, got := range []reply{
		s.ask("GET", "/", "", "Cookie", "waitroom_session=nonsense"),
		s.ask("POST", lockPath, `{"seller_id":"a"}`, asJSON, jsonType, "Cookie", "waitroom_session=nonsense"),
	} {
		require.Equal(t, http.StatusOK, got.StatusCode)
		_, err := room.ParseSession(cookieOf(t, got, "waitroom_session").Value)
		require.NoError(t, err)
	}
}

func TestPageSetsTheCookieOnce(t *testing.T) {
	r := start(t, config(t))
	s := newSeller(t, r.URL(), "")
	first := cookieOf(t, s.ask("GET", "/rooms/integration", ""), "waitroom_session")
	again := s.ask("GET", "/rooms/integration", "", "Cookie", "waitroom_session="+first.Value)
	require.Empty(t, again.Header.Values("Set-Cookie"))
}

func TestCookieIsSecureBehindAProxyThatIsTrusted(t *testing.T) {
	trusting := start(t, config(t, "--trusted-proxies", "127.0.0.0/8"))
	s := newSeller(t, trusting.URL(), "a")
	s.session = ""
	got := s.ask("POST", lockPath, `{"seller_id":"a"}`, asJSON, jsonType, "X-Forwarded-Proto", "https")
	cookie := cookieOf(t, got, "__Host-waitroom_session")
	require.True(t, cookie.Secure)
	require.Equal(t, "/", cookie.Path)
	require.Empty(t, cookie.Domain)

	over := func(name string) reply {
		return s.ask("GET", lockPath+"/status", "", "X-Forwarded-Proto", "https", "Cookie", name+"="+cookie.Value)
	}
	require.Equal(t, "locked", over("__Host-waitroom_session").me().text("status"))
	require.Nil(t, over("waitroom_session").json["me"],
		"over https only the cookie that no subdomain can plant counts")

	doubting := start(t, config(t))
	s = newSeller(t, doubting.URL(), "a")
	s.session = ""
	got = s.ask("POST", lockPath, `{"seller_id":"a"}`, asJSON, jsonType, "X-Forwarded-Proto", "https")
	require.False(t, cookieOf(t, got, "waitroom_session").Secure, "anybody can send the header")
}

// A proxy that is not in TRUSTED_PROXIES ends TLS, but the public URL is https.
func TestCookiesAreSecureWhereTheServerIsCalledByHTTPS(t *testing.T) {
	r := start(t, config(t, append(supportArgs(t), "--redis-url", redistest.Lent(t).URL(), "--public-url",
		"https://wait.example")...))
	s := newSeller(t, r.URL(), "a")
	s.host, s.session = "wait.example", ""
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	form := []string{asJSON, "application/x-www-form-urlencoded"}
	for name, got := range map[string]reply{
		"__Host-waitroom_session": s.ask("GET", "/rooms/integration", ""),
		"waitroom_lang":           s.ask("GET", "/rooms/integration?lang=en", ""),
		"waitroom_notice":         s.ask("POST", "/rooms/integration/join", "seller_id=+", form...),
		"__Host-waitroom_support": s.ask("POST", "/support/sign-in", "username=kim&password=kim's+password",
			form...),
	} {
		require.True(t, cookieOf(t, got, name).Secure, name)
	}
	joined := s.ask("POST", lockPath, `{"seller_id":"a"}`, asJSON, jsonType)
	session := cookieOf(t, joined, "__Host-waitroom_session").Value
	at := func(name string) any {
		return s.ask("GET", lockPath+"/status", "", "Cookie", name+"="+session).json["me"]
	}
	require.NotNil(t, at("__Host-waitroom_session"))
	require.Nil(t, at("waitroom_session"), "a neighbouring subdomain may have planted it")
}

func TestClientAddressIsBelievedFromTrustedProxiesOnly(t *testing.T) {
	limit := []string{"--rate-limit", "1/m"}
	from := func(s *seller, ip string) int {
		return s.ask("POST", lockPath, `{"seller_id":"a"}`, asJSON, jsonType, "X-Forwarded-For", ip).StatusCode
	}
	trusting := newSeller(t, start(t, config(t, append(limit, "--trusted-proxies", "127.0.0.1")...)).URL(), "a")
	require.Equal(t, 200, from(trusting, "203.0.113.1"))
	require.Equal(t, 200, from(trusting, "203.0.113.2"))
	require.Equal(t, 429, from(trusting, "203.0.113.1"))
	require.Equal(t, 200, from(trusting, "2001:db8::1"))
	require.Equal(t, 429, from(trusting, "2001:db8::2"), "one subscriber has a whole /64")

	doubting := newSeller(t, start(t, config(t, limit...)).URL(), "a")
	require.Equal(t, 200, from(doubting, "203.0.113.1"))
	require.Equal(t, 429, from(doubting, "203.0.113.2"))
}

func TestAllowedOriginMayChange(t *testing.T) {
	r := start(t, config(t, "--allowed-origins", "https://portal.example, http://localhost:3000"))
	s := newSeller(t, r.URL(), "a")
	for origin, status := range map[string]int{
		"https://portal.example": 200, "http://localhost:3000": 200, r.URL(): 200,
		"http://portal.example": 403, "https://evil.portal.example": 403, "null": 403,
	} {
		got := s.ask("POST", lockPath, `{"seller_id":"a"}`, asJSON, jsonType, "Origin", origin)
		require.Equal(t, status, got.StatusCode, origin)
	}
}

func TestAllowedOriginsPageMayReadTheAnswer(t *testing.T) {
	r := start(t, config(t, "--allowed-origins", "https://portal.example"))
	s := newSeller(t, r.URL(), "a")
	asked := s.ask("OPTIONS", lockPath, "", "Origin", "https://portal.example", "Access-Control-Request-Method",
		"POST",
		"Access-Control-Request-Headers", "content-type,x-session-id")
	require.Equal(t, http.StatusNoContent, asked.StatusCode)
	require.Contains(t, asked.Header.Get("Access-Control-Allow-Headers"), "X-Session-ID")
	require.Contains(t, asked.Header.Get("Access-Control-Allow-Methods"), "DELETE")
	for _, got := range []reply{asked,
		s.ask("POST", lockPath, `{"seller_id":"a"}`, asJSON, jsonType, "Origin", "https://portal.example"),
		s.ask("POST", lockPath, `{`, asJSON, jsonType, "Origin", "https://portal.example")} {
		require.Equal(t, "https://portal.example", got.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "true", got.Header.Get("Access-Control-Allow-Credentials"))
		require.Contains(t, got.Header.Values("Vary"), "Origin")
	}
	other := s.ask("GET", lockPath+"/status", "", "Origin", "https://evil.example")
	require.Empty(t, other.Header.Get("Access-Control-Allow-Origin"))
}
