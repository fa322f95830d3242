package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// cutOff starts a server, and returns functions that cut it off from its store and reconnect it.
func cutOff(t *testing.T, args ...string) (r *replica, away, back func()) {
	t.Helper()
	proxy := redistest.Start(t).Proxy()
	r = start(t, config(t, append([]string{"--redis-url", proxy.URL(), "--away-after", "1m", "--drop-after",
		"7m"}, args...)...))
	return r, func() { proxy.Refuse(); proxy.CutAll() }, proxy.Accept
}

// refreshes returns the address that a page makes the browser load again by itself; "" for none.
func refreshes(t *testing.T, page reply) string {
	t.Helper()
	require.NotContains(t, page.body, "<noscript", "an error page has no script that would do it")
	_, rest, ok := strings.Cut(page.body, `<meta http-equiv="refresh" content="`)
	if !ok {
		return ""
	}
	content, _, _ := strings.Cut(rest, `"`)
	return content
}

func TestPageThatCannotBeShownNowIsAskedForAgainByItself(t *testing.T) {
	t.Parallel() // it waits
	r, away, _ := cutOff(t)
	holder, waiting := newReader(t, r.URL()), newReader(t, r.URL())
	requireState(t, holder.submit(roomPage+"/join", "seller_id", "s-1"), "locked")
	requireState(t, waiting.submit(roomPage+"/join", "seller_id", "s-2", "lang", "vi"), "waiting")
	link := waiting.link()
	away()

	for path, lang := range map[string]string{"/": "vi", roomPage: "vi", roomPage + "?lang=ja": "ja",
		link: "ja"} {
		page := waiting.ask("GET", path, "", "Accept", "text/html")
		require.Equal(t, http.StatusServiceUnavailable, page.StatusCode, page.body)
		if !strings.Contains(path, "lang") {
			lang = page.Header.Get("Content-Language")
		}
		require.Contains(t, page.body, `<html lang="`+lang+`">`, path)
		require.Equal(t, "5", refreshes(t, page), "%s: the same address, so in the same language", path)
	}
	require.Empty(t, refreshes(t, waiting.ask("GET", "/rooms/nowhere", "")), "that does not pass")
	page := waiting.ask("GET", roomPage+"?lang=en", "")
	require.Contains(t, page.body, "Without a connection a place is kept for 7 minutes.")
	require.NotContains(t, page.body, "you still are")

	page = newReader(t, r.URL()).submit(roomPage+"/join", "seller_id", "s-3", "lang", "zh-Hans")
	require.Equal(t, roomPage, page.Request.URL.Path,
		"a form's answer leads to the page, which is asked for again")
	require.Equal(t, http.MethodGet, page.Request.Method)
	require.Equal(t, "5", refreshes(t, page))
}

func TestFormIsNotSentAgainByItselfAndItsLinkIsNotShown(t *testing.T) {
	t.Parallel() // it waits
	r, away, _ := cutOff(t)
	first := newReader(t, r.URL())
	requireState(t, first.submit(roomPage+"/join", "seller_id", "s-1"), "locked")
	link := first.link()
	away()
	second := newReader(t, r.URL())
	page := second.submit(link, "lang", "vi")
	require.Equal(t, http.StatusServiceUnavailable, page.StatusCode, page.body)
	require.Contains(t, page.body, `<html lang="vi">`)
	require.Equal(t, "5;url=?lang=vi", refreshes(t, page), "the link's page, which asks before it uses the link")
	for _, page := range []reply{page, second.ask("GET", link, "")} {
		require.NotContains(t, page.body, strings.TrimPrefix(link, roomPage+"/link/"))
		require.Equal(t, "no-referrer, strict-origin", page.Header.Get("Referrer-Policy"))
	}
}
