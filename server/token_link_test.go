package server

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
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
		{"GET", []string{"X-Purpose", "preview"}},
		{"GET", []string{"Sec-Fetch-Dest", "image", "Sec-Fetch-Site", "same-site"}},
		{"GET", []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "cross-site"}},
		{"GET", []string{"Sec-Fetch-Dest", "empty", "Sec-Fetch-Mode", "no-cors"}},
		{"GET", []string{"Accept", "image/webp,image/avif,*/*;q=0.5"}}}
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

// An attacker's site sends a seller's browser to a link with the attacker's own token.
func TestALinkAsksBeforeItReplacesASellerWithALivePlace(t *testing.T) {
	r := start(t, config(t, proving("--rooms", "integration,stock:*")...))
	victim := comesFromThePortal(t, r.URL(), "victim")
	require.Equal(t, "locked", victim.press().text("status"))
	session := victim.cookies()
	for _, page := range []string{roomPage, "/rooms/stock:1", "/"} {
		link := page + "?token=" + token(t, portaltest.For("attacker"))
		asked := victim.ask("GET", link, "", "Sec-Fetch-Dest", "document", "Sec-Fetch-Site", "cross-site")
		require.Equal(t, http.StatusOK, asked.StatusCode, page)
		require.Contains(t, asked.body, `id="arrival-switch"`)
		require.Contains(t, asked.body, `<bdi translate="no">victim</bdi>`)
		require.Equal(t, session, victim.cookies(), "the browser stays the victim's")
	}
	require.Equal(t, "victim", victim.press().text("seller_id"))

	word := token(t, portaltest.For("colleague"))
	require.Contains(t, victim.ask("GET", roomPage+"?token="+word, "").body, `id="arrival-switch"`)
	crossed := victim.ask("POST", roomPage+"/arrive", "token="+word, "Content-Type",
		"application/x-www-form-urlencoded", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, crossed.StatusCode)
	require.Equal(t, session, victim.cookies())
	requireState(t, victim.submit(roomPage+"/arrive", "token", word), "idle")
	require.NotEqual(t, session, victim.cookies(), "a press changes the seller")
	require.Equal(t, "colleague", victim.press().text("seller_id"))
}

func TestALinkReplacesASellerWithoutALivePlaceAtOnce(t *testing.T) {
	r := start(t, config(t, proving()...))
	s := comesFromThePortal(t, r.URL(), "s-1")
	session := s.cookies()
	require.Equal(t, "locked", s.press().text("status"))
	require.Equal(t, "released", s.leave("").text("status"))
	requireState(t, s.ask("GET", roomPage+"?token="+token(t, portaltest.For("s-2")), ""), "idle")
	require.NotEqual(t, session, s.cookies())
	require.Equal(t, "s-2", s.press().text("seller_id"))
}

// The room that cannot be read may be the one with the seller's place.
func TestALinkAsksWhereARoomCannotBeRead(t *testing.T) {
	redis := redistest.Start(t)
	r := start(t, config(t, proving("--redis-url", redis.URL(), "--rooms", "integration,broken")...))
	s := comesFromThePortal(t, r.URL(), "s-1")
	require.NoError(t, redis.Client().Set(t.Context(), "{broken}:state", "x", 0).Err())
	asked := s.ask("GET", roomPage+"?token="+token(t, portaltest.For("s-2")), "")
	require.Equal(t, http.StatusOK, asked.StatusCode, asked.body)
	require.Contains(t, asked.body, `id="arrival-switch"`)
}
