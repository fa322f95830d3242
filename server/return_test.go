package server

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/web/wayback"
)

const returnSecret = "a secret of the way back, of 32 bytes"

// goBack returns the address that the way back redirects to, and its token's claims; nil without a token.
func (s *seller) goBack(secret string) (address string, claims jwt.MapClaims) {
	s.t.Helper()
	follows := s.http.CheckRedirect
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	got := s.ask(http.MethodGet, "/rooms/integration/return", "")
	s.http.CheckRedirect = follows
	require.Equal(s.t, http.StatusSeeOther, got.StatusCode, got.body)
	require.Equal(s.t, "no-store", got.Header.Get("Cache-Control"))
	u, err := url.Parse(got.Header.Get("Location"))
	require.NoError(s.t, err)
	token := u.Query().Get(wayback.Param)
	if token == "" {
		return u.String(), nil
	}
	claims = jwt.MapClaims{}
	_, err = jwt.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return []byte(secret), nil },
		jwt.WithAudience("https://portal.example"), jwt.WithValidMethods([]string{"HS256"}))
	require.NoError(s.t, err)
	return strings.TrimSuffix(u.String(), "&"+wayback.Param+"="+token), claims
}

const withReturn = "integration:\n  return_url: https://portal.example/done?from=waitroom\n"

func TestPortalReceivesTheOutcomeSignedWhereAPlaceHasEnded(t *testing.T) {
	l := startLibrary(t, withReturn, "--return-secret", returnSecret)
	a, b := newSeller(t, l.URL(), "s-1"), newSeller(t, l.URL(), "s-2")
	fence := a.join().json["fence"]
	b.join()
	for _, s := range []*seller{a, b, newSeller(t, l.URL(), "nobody")} {
		address, claims := s.goBack(returnSecret)
		require.Equal(t, "https://portal.example/done?from=waitroom", address)
		require.Nil(t, claims, "its place is live, or it has none")
	}
	a.ask(http.MethodDelete, lockPath+"?reason=completed", "")
	_, first := a.goBack(returnSecret)
	address, claims := a.goBack(returnSecret)
	require.Equal(t, "https://portal.example/done?from=waitroom", address)
	head := a.ask(http.MethodHead, "/rooms/integration/return", "")
	require.Equal(t, http.StatusNoContent, head.StatusCode)
	require.Empty(t, head.Header.Get("Location"), "only a press makes a token")
	require.NotEqual(t, first["jti"], claims["jti"], "each is a token of its own")
	for name, want := range map[string]any{"sub": "s-1", "room": "integration", "ticket": 1.0,
		"outcome": "completed", "iss": l.URL()} {
		require.Equal(t, want, claims[name], name)
	}
	require.Contains(t, a.ask(http.MethodGet, "/rooms/integration", "").body, `href="/rooms/integration/return"`)
	require.Equal(t, fmt.Sprint(fence), fmt.Sprintf("%.0f", first["fence"]), "exact below 2^53")
}

func TestWayBackIsAPlainLinkWithoutASecret(t *testing.T) {
	l := startLibrary(t, withReturn)
	a := newSeller(t, l.URL(), "s-1")
	page := a.ask(http.MethodGet, "/rooms/integration", "").body
	require.Contains(t, page, `href="https://portal.example/done?from=waitroom"`)
	address, claims := a.goBack(returnSecret)
	require.Equal(t, "https://portal.example/done?from=waitroom", address, "also from a page with the other link")
	require.Nil(t, claims)

	signed := startLibrary(t, "integration: {name: 연동}\n", "--return-secret", returnSecret)
	b := newSeller(t, signed.URL(), "s-1")
	require.NotContains(t, b.ask(http.MethodGet, "/rooms/integration", "").body, `id="return"`)
	address, _ = b.goBack(returnSecret)
	require.Equal(t, "/rooms/integration", address, "a page may be older than the rooms file")
}

// Without RETURN_SECRET, the first of SELLER_JWT_SECRET signs the way back, too.
func TestWayBackIsSignedWithThePortalsSecretWhereItHasNoOther(t *testing.T) {
	l := startLibrary(t, withReturn, "--seller-auth", "jwt", "--seller-jwt-secret",
		portalSecret+","+strings.Repeat("next", 8))
	s := comesFromThePortal(t, l.URL(), "s-1")
	require.Equal(t, http.StatusOK, s.press().StatusCode)
	s.ask(http.MethodDelete, lockPath, "", "X-Page-Seller", hex.EncodeToString([]byte("s-1")))
	_, claims := s.goBack(portalSecret)
	require.Equal(t, "s-1", claims["sub"])
	require.Equal(t, "cancelled", claims["outcome"])
}

// A seller can always return. Without a known outcome the address has no token.
func TestWayBackLeadsToThePortalAlsoWhereTheOutcomeIsNotKnown(t *testing.T) {
	store := redistest.Start(t)
	l := startLibrary(t, withReturn, "--return-secret", returnSecret, "--redis-url", store.URL())
	a := newSeller(t, l.URL(), "s-1")
	a.join()
	a.leave("")
	_, claims := a.goBack(returnSecret)
	require.NotNil(t, claims)
	for name, purpose := range map[string]string{"Sec-Purpose": "prefetch;prerender", "X-Moz": "prefetch"} {
		got := a.ask(http.MethodGet, "/rooms/integration/return", "", name, purpose)
		require.Equal(t, http.StatusNoContent, got.StatusCode, "a browser may only be looking ahead")
	}
	for _, session := range []string{uuid.NewString(), "no session"} {
		other := newSeller(t, l.URL(), "s-1")
		other.session = session
		address, claims := other.goBack(returnSecret)
		require.Equal(t, "https://portal.example/done?from=waitroom", address)
		require.Nil(t, claims, "the name of a seller is no proof")
	}
	store.Stop()
	address, claims := a.goBack(returnSecret)
	require.Equal(t, "https://portal.example/done?from=waitroom", address)
	require.Nil(t, claims, "Redis is away")
}
