package server

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
)

// newReader returns a browser without JavaScript: it keeps cookies and follows redirects.
func newReader(t *testing.T, base string) *seller {
	t.Helper()
	s := newSeller(t, base, "")
	s.session = ""
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	s.http.Jar, s.http.CheckRedirect = jar, nil
	return s
}

// submit sends a form; fields are name, value, name, value …
func (s *seller) submit(path string, fields ...string) reply {
	s.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return s.ask(http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func requireState(t *testing.T, page reply, state string) {
	t.Helper()
	require.Equal(t, http.StatusOK, page.StatusCode, page.body)
	require.Contains(t, page.body, `data-state="`+state+`"`)
}

func TestWholeTurnWorksByFormsAlone(t *testing.T) {
	r := start(t, config(t))
	a, b := newReader(t, r.URL()), newReader(t, r.URL())
	requireState(t, a.ask("GET", "/", ""), "idle")
	requireState(t, a.submit("/rooms/integration/join", "seller_id", " a "), "locked")
	requireState(t, b.submit("/rooms/integration/join", "seller_id", "b"), "waiting")
	requireState(t, b.ask("GET", "/", ""), "waiting")

	asked := b.submit("/rooms/integration/leave", "reason", "cancelled", "fence", "")
	requireState(t, asked, "waiting")
	require.Equal(t, "ask=leave", asked.Request.URL.RawQuery, "leaving asks first")

	requireState(t, a.submit("/rooms/integration/leave", "reason", "completed", "fence", fenceField(t, a),
		"confirm", "yes"), "ended")
	requireState(t, b.ask("GET", "/rooms/integration", ""), "locked")
	requireState(t, b.submit("/rooms/integration/leave", "confirm", "yes"), "ended")
	require.Equal(t, "/rooms/integration", b.ask("GET", "/rooms/integration/", "").Request.URL.Path)
}

// fenceField returns the fence in the page's forms.
func fenceField(t *testing.T, s *seller) string {
	t.Helper()
	_, rest, ok := strings.Cut(s.ask("GET", "/rooms/integration", "").body, `name="fence" value="`)
	require.True(t, ok)
	fence, _, _ := strings.Cut(rest, `"`)
	return fence
}

func TestRefusedFormSaysSoInWordsOnce(t *testing.T) {
	r := start(t, config(t))
	a, b := newReader(t, r.URL()), newReader(t, r.URL())
	a.submit("/rooms/integration/join", "seller_id", "a")

	page := b.submit("/rooms/integration/join", "seller_id", "a", "lang", "en")
	requireState(t, page, "idle")
	require.Contains(t, page.body, "This seller is already in line. Please continue in the browser that joined.")
	require.Contains(t, page.body, `value="a"`, "what was typed is still there")
	require.NotContains(t, b.ask("GET", "/rooms/integration", "").body, "the browser that joined")

	page = b.submit("/rooms/integration/join", "seller_id", `"><script>alert(1)</script>`, "lang", "ko")
	require.Contains(t, page.body, "판매자 ID를 확인해 주세요.")
	require.NotContains(t, page.body, "<script>alert")

	page = a.submit("/rooms/integration/leave", "reason", "completed", "fence", "1", "confirm", "yes")
	requireState(t, page, "locked")
	require.Contains(t, page.body, "그 차례는 이미 끝났거나")
	require.Equal(t, http.StatusOK, a.submit("/rooms/integration/leave", "reason", "expired", "confirm",
		"yes").StatusCode)
	requireState(t, a.ask("GET", "/", ""), "locked")
}

func TestPageIsReadInTheLanguageThatWasPicked(t *testing.T) {
	r := start(t, config(t))
	s := newReader(t, r.URL())
	lang := func(path, accept string) string {
		return s.ask("GET", path, "", "Accept-Language", accept).Header.Get("Content-Language")
	}
	require.Equal(t, "ko", lang("/", ""))
	require.Equal(t, "en", lang("/", "en"))
	require.Equal(t, "ko", lang("/?lang=ko", "en"))
	require.Equal(t, "ko", lang("/", "en"), "the choice is kept")
	require.Equal(t, "en", lang("/rooms/nowhere?lang=en", "ko"))
	require.Equal(t, "en", lang("/rooms/integration?lang=xx", "ko"))
}

func TestMissingPageIsAPage(t *testing.T) {
	r := start(t, config(t))
	s := newReader(t, r.URL())
	for _, path := range []string{"/rooms/nowhere", "/rooms/support", "/rooms/integration/what"} {
		got := s.ask("GET", path, "")
		require.Equal(t, http.StatusNotFound, got.StatusCode, path)
		require.Contains(t, got.Header.Get("Content-Type"), "text/html", path)
	}
	got := s.ask("GET", "/what", "", "Accept", "text/html,*/*;q=0.8")
	require.Equal(t, http.StatusNotFound, got.StatusCode)
	require.Contains(t, got.Header.Get("Content-Type"), "text/html")
	got = s.ask("POST", "/rooms/integration/join", "seller_id=x", "Origin", "https://evil.example", asJSON,
		"application/x-www-form-urlencoded")
	require.Equal(t, http.StatusForbidden, got.StatusCode)
}

func TestWithoutARoomOfItsOwnNameThereIsNoFirstPage(t *testing.T) {
	r := start(t, config(t, "--rooms", "stock:*"))
	s := newReader(t, r.URL())
	require.Equal(t, http.StatusNotFound, s.ask("GET", "/", "").StatusCode)
	requireState(t, s.ask("GET", "/rooms/stock:item:4", ""), "idle")
}

func TestEverythingIsServedUnderAStrictPolicy(t *testing.T) {
	r := start(t, config(t))
	s := newReader(t, r.URL())
	for _, path := range []string{"/", "/rooms/nowhere", "/api/integration/lock/status", "/nothing",
		static.Prefix() + "/js/room.js"} {
		h := s.ask("GET", path, "").Header
		policy := h.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", path)
		require.Contains(t, policy, "frame-ancestors 'none'", path)
		require.NotContains(t, policy, "unsafe", path)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		require.Equal(t, "same-origin", h.Get("Referrer-Policy"), path)
		require.NotEmpty(t, h.Get("X-Request-ID"), path)
	}
}

func TestFilesAreKeptByTheBrowserUntilTheyChange(t *testing.T) {
	r := start(t, config(t))
	s := newReader(t, r.URL())
	got := s.ask("GET", static.Prefix()+"/js/room.js", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Contains(t, got.Header.Get("Cache-Control"), "immutable")
	again := s.ask("GET", "/static/js/room.js", "", "If-None-Match", got.Header.Get("ETag"))
	require.Equal(t, http.StatusNotModified, again.StatusCode)
}

// Browsers request /favicon.ico for every page that names no icon.
func TestIconIsWhereBrowsersLookForIt(t *testing.T) {
	r := start(t, config(t))
	got := newReader(t, r.URL()).ask("GET", "/favicon.ico", "")
	if got.StatusCode == http.StatusFound {
		got = newReader(t, r.URL()).ask("GET", got.Header.Get("Location"), "")
	}
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "image/svg+xml", got.Header.Get("Content-Type"))
}

func TestPageOfARejectedCodeDoesNotSayVerified(t *testing.T) {
	r := start(t, config(t, "--sms-webhook-secret", smsSecret))
	a := newReader(t, r.URL())
	a.submit("/rooms/integration/join", "seller_id", "a", "lang", "ko")
	fence := fenceField(t, a)
	a.submit("/rooms/integration/expect", "fence", fence, "key", "k")
	carrier(t, r.URL(), "m-1", "인증번호 482913", time.Now().Add(10*time.Millisecond))
	require.Contains(t, heading(t, a), "인증번호가 도착했어요")

	a.submit("/rooms/integration/reject", "fence", fence, "message_id", "m-1", "confirm", "yes", "lang", "ko")
	for range 2 { // a reload, or another tab
		require.Contains(t, heading(t, a), `data-rejected="true"`)
		require.Contains(t, heading(t, a), "문자를 지웠어요")
	}
	require.Contains(t, carrier(t, r.URL(), "m-2", "인증번호 555666", time.Now()).body, `"late"`)
	require.Contains(t, heading(t, a), "인증번호가 도착했어요", "it is to be entered still")

	a.submit("/rooms/integration/join", "seller_id", "a")
	a.submit("/rooms/integration/leave", "reason", "completed", "fence", fenceField(t, a), "confirm", "yes")
	require.Contains(t, heading(t, a), "인증을 마쳤어요", "another turn")
}

func TestSellerThatRejectsACodeAndFinishesLaterIsVerified(t *testing.T) {
	r := start(t, config(t, "--sms-webhook-secret", smsSecret, "--sms-completes=false"))
	a := newReader(t, r.URL())
	a.submit("/rooms/integration/join", "seller_id", "a", "lang", "ko")
	fence := fenceField(t, a)
	a.submit("/rooms/integration/expect", "fence", fence, "key", "k")
	carrier(t, r.URL(), "m-1", "인증번호 482913", time.Now().Add(10*time.Millisecond))
	requireState(t, a.submit("/rooms/integration/reject", "fence", fence, "message_id", "m-1", "confirm", "yes"),
		"locked")
	a.submit("/rooms/integration/leave", "reason", "completed", "fence", fence, "confirm", "yes")
	require.Contains(t, heading(t, a), "인증을 마쳤어요")
}

// heading returns the page's heading about the place's end.
func heading(t *testing.T, s *seller) string {
	t.Helper()
	_, rest, ok := strings.Cut(s.ask("GET", "/rooms/integration?lang=ko", "").body, `<h1 id="outcome"`)
	require.True(t, ok)
	title, _, _ := strings.Cut(rest, "</h1>")
	return title
}

// A secret that is the same in each compressed page can be found by the pages' lengths (BREACH).
func TestPageHasItsSessionMaskedAnewEachTime(t *testing.T) {
	s := newReader(t, start(t, config(t)).URL())
	first, again := s.ask("GET", roomPage, ""), s.ask("GET", roomPage, "")
	session := cookieOf(t, first, "waitroom_session").Value
	masked := regexp.MustCompile(`"session":"([0-9a-f]{64})"`)
	before := masked.FindStringSubmatch(first.body)
	require.NotNil(t, before, first.body)
	require.NotEqual(t, before[1], masked.FindStringSubmatch(again.body)[1])
	for _, page := range []reply{first, again} {
		require.NotContains(t, page.body, session)
		require.NotContains(t, page.body, strings.ReplaceAll(session, "-", ""))
	}
}
