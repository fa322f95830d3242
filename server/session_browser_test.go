package server

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// forget clears the browser's cookies under an open page, and waits until the page has a new socket.
func (p page) forget() {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.ClearBrowserCookies, cdp.Empty{})
		return err
	})))
	p.reconnect()
}

// reconnect makes the page open a new socket, and waits for its first frame.
func (p page) reconnect() {
	p.t.Helper()
	p.is(`dispatchEvent(new Event("online")), document.body.dataset.connection !== "open" || true`)
	p.is(`document.body.dataset.connection === "open"`)
}

// A portal signs its seller out with Clear-Site-Data, or the seller clears the browser's data.
func TestPageGoesOnByItsOwnSessionWhereItsCookieVanishes(t *testing.T) {
	r := start(t, config(t, "--redis-url", redistest.Lent(t).URL(), "--sms-webhook-secret", smsSecret))
	browser := browsertest.New(t)
	browsertest.AllowErrors(browser, "409")
	a, b := openPage(t, browser, r.URL()), openPage(t, browsertest.Isolated(t, browser), r.URL())

	a.forget() // while idle: the join brings another session than the socket's
	a.join("seller-a")
	a.state("locked")
	a.reconnect()
	a.state("locked")
	b.join("seller-b")
	b.state("waiting")

	b.forget()
	b.state("waiting")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Reload()))
	b.is(`document.body.dataset.connection === "open"`)
	b.state("waiting") // the tab still knows its session, beside a new cookie

	a.forget()
	a.state("locked")
	a.press("#ask")
	a.is(`document.body.dataset.step === "asked"`)
	require.Contains(t, carrier(t, r.URL(), "m-1", "[쿠팡] 인증번호는 [482913] 입니다",
		time.Now().Add(10*time.Millisecond)).body, `"matched"`)
	a.state("ended")
	a.is(text("#sms-code") + ` === "482913"`)
	a.forget()
	a.state("ended")
	a.is(text("#sms-code") + ` === "482913"`)

	b.state("locked")
	b.press("#cancel")
	b.press("#leave-confirm")
	b.state("ended")
	a.press("#join")
	a.state("locked")
	a.is(text("#sms-code") + ` !== "482913"`)
}

// silent opens a tab beside another one, in which no call is answered: no answer names the session.
func silent(t *testing.T, beside context.Context, url string) page {
	t.Helper()
	ctx := browsertest.Tab(t, beside)
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `const called = fetch;
			window.fetch = (...what) => window.answered ? called(...what) : Promise.reject(new TypeError("no network"))`})
		return err
	})))
	return openPage(t, ctx, url)
}

// The cookie vanishes before an answer has come: a page knows its session from its load on, also while
// another tab joins.
func TestPageKnowsItsSessionFromItsLoadOn(t *testing.T) {
	r := start(t, config(t, "--redis-url", redistest.Lent(t).URL()))
	browser := browsertest.New(t)
	first, idle := openPage(t, browser, r.URL()), silent(t, browser, r.URL())
	first.join("seller-a")
	loaded := silent(t, browser, r.URL())
	loaded.forget()
	loaded.state("locked")
	idle.state("locked")
	idle.reconnect()
	idle.state("locked")
	require.NoError(t, chromedp.Do(loaded.ctx, chromedp.Reload()))
	loaded.is(`document.body.dataset.connection === "open"`)
	loaded.state("locked")
	loaded.is(`window.answered = true`)
	loaded.press("#cancel")
	loaded.press("#leave-confirm")
	loaded.state("ended")

	other := openPage(t, browsertest.Isolated(t, browser), r.URL())
	other.join("seller-b")
	other.state("locked")
	other.press("#cancel")
	other.press("#leave-confirm")
	other.state("ended")
	ended := silent(t, other.ctx, r.URL())
	ended.forget()
	ended.state("ended")
}

// A second tab's join without the cookie gave the browser another session.
func TestPageGoesOnByItsOwnSessionWhereItsCookieIsAnothers(t *testing.T) {
	r := start(t, config(t, "--redis-url", redistest.Lent(t).URL()))
	browser := browsertest.New(t)
	first := openPage(t, browser, r.URL())
	first.join("seller-a")
	first.state("locked")
	first.forget()
	second := openPage(t, browsertest.Tab(t, browser), r.URL())
	second.join("seller-b")
	second.state("waiting")
	first.reconnect()
	first.state("locked")
	first.press("#cancel")
	first.press("#leave-confirm")
	first.state("ended")
	second.state("locked")
}

func TestPageOfAProvenSellerGoesOnWhereItsCookieVanishes(t *testing.T) {
	r := start(t, config(t, proving("--redis-url", redistest.Lent(t).URL())...))
	comesFromThePortal(t, r.URL(), "holder").press()
	p := page{t: t, ctx: browsertest.New(t)}
	browsertest.AllowErrors(p.ctx, "401")
	require.NoError(t, chromedp.Do(p.ctx, browsertest.Viewport(360, 740, false, false),
		browsertest.Language("ko-KR"),
		chromedp.Navigate(r.URL()+roomPage+"?token="+token(t, portaltest.For("s-1")))))
	p.press("#join")
	p.state("waiting")
	p.forget()
	p.state("waiting")
	p.press("#leave")
	p.press("#leave-confirm")
	p.state("ended")
	require.Equal(t, "ended", comesBack(t, r.URL(), "s-1").status().me().text("status"))
}
