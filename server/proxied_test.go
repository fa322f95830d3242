package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// through returns the address of a proxy in front of a server, which changes requests and answers.
func through(t *testing.T, base string, request func(*http.Request),
	answer func(*http.Response) error) string {
	t.Helper()
	to, err := url.Parse(base)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{ModifyResponse: answer, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			request(r.Out)
		}}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// asShipped drops the headers that nginx drops without WebSocket configuration.
func asShipped(r *http.Request) {
	r.Header.Del("Upgrade")
	r.Header.Del("Connection")
}

func TestWhereNoSocketComesThroughASellerIsShownItsTurnAllTheSame(t *testing.T) {
	log := &testproc.Log{}
	s, err := New(t.Context(), config(t), slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	r := run(t, s)
	holder := newSeller(t, r.URL(), "holder")
	holder.join()

	browser := browsertest.New(t)
	browsertest.AllowErrors(browser, "WebSocket", "lock/messages", "lock/expect") // the number is busy
	p := onPage(t, browser)
	require.NoError(t, chromedp.Do(browser, browsertest.Viewport(360, 740, false, false),
		browsertest.Language("ko-KR"),
		chromedp.Navigate(through(t, r.URL(), asShipped, nil))))
	p.is(`document.body.dataset.connection === "polling"`)
	p.is(`document.getElementById("lost").hidden`)
	p.join("seller-b")
	p.state("waiting")
	p.picture("polling", false)
	p.picture("polling", true)
	holder.leave("")
	p.state("locked")
	require.Equal(t, 1, strings.Count(log.String(), "no WebSocket comes through"), "one line a minute at most")
	require.Equal(t, 1, strings.Count(log.String(), "docs/proxies.md"))
}

func onPage(t *testing.T, ctx context.Context) page { return page{t: t, ctx: ctx} }

// A page that polls with here=true counts as present: an away seller is back by it, as by a socket. A program
// that polls without it does not count.
func TestPageThatPollsAsPresentIsNotAway(t *testing.T) {
	store := redistest.Start(t)
	r := start(t, config(t, "--redis-url", store.URL(), "--away-after", "300ms"))
	holder, waiter := newSeller(t, r.URL(), "holder"), newSeller(t, r.URL(), "waiter")
	holder.join()
	waiter.join()
	conn := open(t, r.URL(), "X-Session-ID", waiter.session)
	next(t, conn)
	require.NoError(t, conn.Close(websocket.StatusNormalClosure, ""))
	options, err := redis.ParseURL(store.URL())
	require.NoError(t, err)
	rdb := redis.NewClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	testproc.Until(t, time.Minute, func() error {
		return rdb.ZScore(t.Context(), "{integration}:away",
			waiter.session).Err()
	})
	holder.leave("")
	require.Equal(t, "waiting", waiter.status().me().text("status"), "who only looks is not back")
	here := waiter.ask("GET", lockPath+"/status?here=true", "")
	require.Equal(t, "locked", here.me().text("status"), here.body)
}

// A program that dies before it has asked for its state once holds up no seller behind it. A join without
// here=true is no sign that the program asks again.
func TestProgramThatJoinsAsPresentIsAwayWhenItHasDied(t *testing.T) {
	store := redistest.Start(t)
	r := start(t, config(t, "--redis-url", store.URL(), "--away-after", "300ms"))
	holder, patient, dead := newSeller(t, r.URL(), "holder"), newSeller(t, r.URL(), "patient"),
		newSeller(t, r.URL(), "dead")
	holder.join()
	joined := dead.ask("POST", lockPath+"?here=true", `{"seller_id":"dead"}`, jsonHeader...)
	require.Equal(t, http.StatusAccepted, joined.StatusCode, joined.body)
	patient.join()
	options, err := redis.ParseURL(store.URL())
	require.NoError(t, err)
	rdb := redis.NewClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	testproc.Until(t, time.Minute, func() error {
		return rdb.ZScore(t.Context(), "{integration}:away", dead.session).Err()
	})
	holder.leave("")
	require.Equal(t, "locked", patient.status().me().text("status"))
	require.Equal(t, "waiting", dead.status().me().text("status"))
}

// Clients such as the Python one have no socket to open.
func TestAProgramThatPollsIsNoSignOfAProxyWithoutWebSockets(t *testing.T) {
	log := &testproc.Log{}
	s, err := New(t.Context(), config(t), slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	program := newSeller(t, run(t, s).URL(), "program")
	program.join()
	require.Equal(t, http.StatusOK, program.ask("GET", lockPath+"/status?here=true", "").StatusCode)
	require.NotContains(t, log.String(), "no WebSocket comes through")
}

// keepsNoCookies makes a browser block cookies and storage.
func keepsNoCookies(t *testing.T, ctx context.Context, base string) (url string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, emulation.SetDocumentCookieDisabled,
			emulation.SetDocumentCookieDisabledParams{Disabled: true}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `
			for (const name of ["localStorage", "sessionStorage"])
				Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });`})
		return err
	})))
	return through(t, base, func(r *http.Request) { r.Header.Del("Cookie") }, func(r *http.Response) error {
		r.Header.Del("Set-Cookie")
		return nil
	})
}

func TestWhereCookiesAreBlockedThePageKeepsItsPlaceAlsoThroughAReload(t *testing.T) {
	r := start(t, config(t))
	browser := browsertest.New(t)
	p := openPage(t, browser, keepsNoCookies(t, browser, r.URL()))
	p.join("seller-a")
	p.state("locked")
	require.NoError(t, chromedp.Do(browser, chromedp.Reload()))
	p.state("locked")
	other := newSeller(t, r.URL(), "other")
	require.Equal(t, "waiting", other.join().text("status"))
	p.press("#cancel")
	p.press("#leave-confirm")
	p.state("ended")
	require.Equal(t, "locked", other.status().me().text("status"))
}

func TestWithoutScriptAndCookiesNoPlaceIsTakenAndThePageSaysWhy(t *testing.T) {
	r := start(t, config(t))
	holder := newSeller(t, r.URL(), "holder")
	holder.join()
	link := holder.ask("POST", linkAPI, "").text("url")
	for _, form := range []struct{ page, action, fields string }{
		{r.URL() + "/rooms/integration", r.URL() + "/rooms/integration/join", "seller_id=shop&cookies=asked"},
		{link, link, "cookies=asked"},
	} {
		body := get(t, form.page)
		require.Contains(t, body, `name="cookies" value="asked"`)
		resp, err := http.Post(form.action, "application/x-www-form-urlencoded",
			strings.NewReader(form.fields+"&lang=ko"))
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusBadRequest, resp.StatusCode)
		require.Contains(t, string(text), "쿠키를 허용한 뒤")
	}
	require.EqualValues(t, 0, holder.status().number("queue_length"), "no unknown seller waits")
	require.Contains(t, get(t, link), `id="link-confirm"`, "it is not used up")
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}
