package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestLinkIsRefusedInWords(t *testing.T) {
	server := redistest.Start(t)
	r := start(t, config(t, "--redis-url", server.URL(), "--rooms", "integration,stock"))
	stranger := newSeller(t, r.URL(), "x")
	requireProblem(t, stranger.ask("POST", linkAPI, ""), 404, "no_place")
	stranger.session = ""
	requireProblem(t, stranger.ask("POST", linkAPI, ""), 404, "no_place")
	requireProblem(t, stranger.ask("POST", "/api/nowhere/lock/link", ""), 404, "unknown_room")
	requireProblem(t, stranger.ask("GET", linkAPI, ""), 405, "method_not_allowed")

	first, second := newReader(t, r.URL()), newReader(t, r.URL())
	first.submit(roomPage+"/join", "seller_id", "s-1")
	requireProblem(t, first.ask("POST", linkAPI, "", "Origin", "https://evil.example"), 403, "cross_site")
	replaced, link := first.link(), first.link()
	for _, method := range []string{"GET", "POST"} {
		for _, path := range []string{replaced, roomPage + "/link/x",
			strings.Replace(link, "integration", "stock", 1)} {
			requireErrorPage(t, second.ask(method, path, ""), 404, noLink)
		}
	}
	got := second.ask("POST", link, "", "Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, got.StatusCode)
	require.Nil(t, second.status().json["me"])

	const hasPlace = "이 브라우저는 이미 줄을 서 있어요"
	neighbour := newReader(t, r.URL())
	neighbour.submit(roomPage+"/join", "seller_id", "s-2")
	for _, b := range []*seller{first, neighbour} {
		shown := b.ask("GET", link, "")
		requireErrorPage(t, shown, 200, hasPlace)
		require.NotContains(t, shown.body, `id="link-confirm"`)
		requireErrorPage(t, b.submit(link), 409, hasPlace)
	}
	requireState(t, second.submit(link), "locked")
	requireState(t, second.submit(link), "locked") // a browser that lost the answer presses again
	require.Equal(t, roomPage, second.ask("GET", link, "").Request.URL.Path)
	requireErrorPage(t, second.submit(first.link()), 409, hasPlace)
	requireErrorPage(t, newReader(t, r.URL()).ask("GET", link, ""), 404, noLink)

	late := first.link()
	for _, key := range server.Client().Keys(t.Context(), "{waitroom-link}:token:*").Val() {
		require.NoError(t, server.Client().PExpire(t.Context(), key, -1).Err())
	}
	requireErrorPage(t, newReader(t, r.URL()).submit(late), 404, noLink)
	over := first.link()
	first.leave("")
	requireErrorPage(t, newReader(t, r.URL()).ask("GET", over, ""), 404, noLink)
	requireErrorPage(t, newReader(t, r.URL()).submit(over), 404, noLink)
	requireProblem(t, first.ask("POST", linkAPI, ""), 404, "no_place")
	first.submit(roomPage+"/join", "seller_id", "s-1")
	requireErrorPage(t, newReader(t, r.URL()).submit(over), 404, noLink) // nor does it open the next place
}

func TestLinkLeadsToTheNameThatTheServerIsCalled(t *testing.T) {
	r := start(t, config(t, "--public-url", "https://wait.example"))
	s := newSeller(t, r.URL(), "s-1")
	s.host = "wait.example"
	s.join()
	require.True(t, strings.HasPrefix(s.ask("POST", linkAPI, "").text("url"),
		"https://wait.example/rooms/integration/link/"))
	trusting := start(t, config(t, "--trusted-proxies", "127.0.0.0/8"))
	s = newSeller(t, trusting.URL(), "s-1")
	s.join()
	got := s.ask("POST", linkAPI, `{"session_id":"`+s.session+`"}`, asJSON, jsonType, "X-Forwarded-Proto",
		"https")
	require.True(t, strings.HasPrefix(got.text("url"),
		"https://"+strings.TrimPrefix(trusting.URL(), "http://")+"/rooms/"), got.body)
}
