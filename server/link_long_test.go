//go:build long

package server

import (
	"context"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// accessible checks the page with axe.
func (p page) accessible() {
	p.t.Helper()
	p.is(`document.body.getAnimations().length === 0`) // the colour of a state comes softly
	found, err := browsertest.Axe(p.ctx)
	require.NoError(p.t, err)
	require.Empty(p.t, found)
}

// pictures takes a screenshot in each theme.
func (p page) pictures(name string) {
	p.picture(name, false)
	p.picture(name, true)
}

// linkOf makes a link on the first device's page, and returns it with another replica's address.
func (p page) linkOf(base string) string {
	p.t.Helper()
	p.press("#link-make")
	p.is(`!document.querySelector("#link-made").hidden && document.querySelector("#link-qr path").getBBox().width > 20`)
	p.is(`/^[45]:[0-5][0-9]$/.test(document.querySelector("#link-countdown").textContent.trim())`)
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.querySelector("#link-url").value`))
	require.NoError(p.t, err)
	at, err := url.Parse(text)
	require.NoError(p.t, err)
	return base + at.Path
}

func opened(t *testing.T, ctx context.Context, link string) page {
	t.Helper()
	p := page{t: t, ctx: ctx}
	require.NoError(t, chromedp.Do(ctx, browsertest.Viewport(360, 740, false, false),
		browsertest.Language("ko-KR"), chromedp.Navigate(link)))
	return p
}

// The link is used on another device and another replica. Both devices then show the same until the place
// ends.
func TestPlaceGoesOnOnAnotherDevice(t *testing.T) {
	args := []string{"--redis-url", redistest.Lent(t).URL(), "--sms-quarantine", "0s"}
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	holder := newSeller(t, one.URL(), "holder")
	holder.join()
	browser := browsertest.New(t)
	browsertest.AllowErrors(browser, "404")
	first := openPage(t, browser, one.URL())
	first.is(`document.querySelector("#link").hidden`)
	first.join("s-1")
	first.state("waiting")
	first.pictures("link-none-waiting")
	link := first.linkOf(other.URL())
	first.accessible()
	first.pictures("link-waiting")

	phone := browsertest.Isolated(t, browser)
	second := opened(t, phone, link)
	second.is(`document.body.innerText.includes("s-1") && document.body.innerText.includes("integration")`)
	second.accessible()
	second.pictures("link-open")
	second.press("#link-confirm")
	second.state("waiting")
	second.is(`document.body.dataset.connection === "open" && location.pathname === "` + roomPage +
		`" && !document.referrer.includes("/link/")`)
	second.is(`document.querySelector("#position").textContent.trim() === "1"`)
	first.is(`document.querySelector("#notice").textContent.includes("다른 기기에서도") && document.querySelector("#link-made").hidden`)
	first.pictures("link-joined")

	third := opened(t, browsertest.Isolated(t, browser), link)
	third.is(`document.body.innerText.includes("이 링크는 더 쓸 수 없어요")`)
	third.pictures("link-used")

	holder.leave("?reason=completed")
	for _, p := range []page{first, second} {
		p.state("locked")
	}
	again := first.linkOf(other.URL())
	first.accessible()
	first.pictures("link-turn")
	itself := opened(t, browsertest.Tab(t, phone), again)
	itself.is(`document.body.innerText.includes("이 브라우저는 이미 줄을 서 있어요") && !document.querySelector("#link-confirm")`)
	itself.pictures("link-refused")
	second.press("#cancel")
	second.press("#leave-confirm")
	for _, p := range []page{first, second} {
		p.state("ended")
		p.is(`document.querySelector("#outcome").dataset.outcome === "cancelled" && document.querySelector("#link").hidden`)
	}
	second.press("#seller summary")
	second.join("-2")
	second.state("locked")
	second.is(`document.body.dataset.connection === "open"`)
	first.is(`document.body.dataset.state === "ended"`)
	first.press("#join")
	first.state("waiting")
	first.is(`document.querySelector("#link-made").hidden && document.querySelector("#link-url").value === ""`)
}
