package server

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
)

func TestOnlyAPressUsesATokenInAnAddressAndMayBeRepeated(t *testing.T) {
	r := start(t, config(t, proving()...))
	link := roomPage + "?token=" + token(t, portaltest.For("s-1"))
	s := newReader(t, r.URL())
	looks := []struct {
		method  string
		headers []string
	}{{"HEAD", nil}, {"GET", []string{"Sec-Purpose", "prefetch;prerender"}},
		{"GET", []string{"Purpose", "prefetch"}}, {"GET", []string{"X-Moz", "prefetch"}},
		{"GET", []string{"X-Purpose", "preview"}}}
	for _, look := range looks {
		got := s.ask(look.method, link, "", look.headers...)
		require.Equal(t, http.StatusNoContent, got.StatusCode, look)
		require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		require.Empty(t, got.Header.Values("Set-Cookie"))
	}
	requireState(t, s.ask("GET", link, ""), "idle")
	session := s.cookies()
	require.NotEmpty(t, session)
	requireState(t, s.ask("GET", link, ""), "idle")
	require.Equal(t, session, s.cookies(), "it is the same session")
	require.Equal(t, "s-1", s.press().text("seller_id"))
	requireState(t, s.ask("GET", link, ""), "locked")

	other := newReader(t, r.URL())
	require.Equal(t, http.StatusUnauthorized, other.ask("GET", link, "").StatusCode,
		"another browser is not let in")
	require.Equal(t, http.StatusUnauthorized,
		comesFromThePortal(t, r.URL(), "s-2").ask("GET", link, "").StatusCode)
	requireProblem(t, other.press("Authorization", "Bearer "+link[len(roomPage+"?token="):]), 401, "token_used")
}
