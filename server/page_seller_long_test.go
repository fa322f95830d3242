//go:build long

package server

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestWindowOfASellerSaysThatItsBrowserIsAnothersNow(t *testing.T) {
	r := start(t, config(t, proving("--redis-url", redistest.Lent(t).URL())...))
	comesFromThePortal(t, r.URL(), "holder").press()
	browser := browsertest.New(t)
	browsertest.AllowErrors(browser, "403")
	arrive := func(p page, seller string, asked bool) page {
		require.NoError(t, chromedp.Do(p.ctx, browsertest.Viewport(360, 740, false, false),
			browsertest.Language("ko-KR"),
			chromedp.Navigate(r.URL()+roomPage+"?token="+token(t, portaltest.For(seller)))))
		if asked { // since the browser's seller has a live place
			p.press("#arrival-switch")
		}
		p.press("#join")
		p.state("waiting")
		return p
	}
	first := arrive(page{t: t, ctx: browser}, "s-1", false)
	second := arrive(page{t: t, ctx: browsertest.Tab(t, browser)}, "s-2", true)
	first.is(`document.body.dataset.connection === "open"`)
	first.press("#leave")
	first.press("#leave-confirm")
	first.is(`document.querySelector("[data-error=waiting]").textContent.includes("다른 판매자로 들어왔어요") && document.body.dataset.state === "waiting"`)
	second.state("waiting")
	// make the page reconnect
	_, err := chromedp.Run(browser, chromedp.Evaluate[bool](`dispatchEvent(new Event("online"))`))
	require.NoError(t, err)
	first.is(`document.body.dataset.connection === "replaced" && document.querySelector("#lost-title").textContent.includes("다른 판매자")`)
	// the page gets no further state
	first.is(`document.querySelector("#estimate").textContent === "예상 시간을 알 수 없어요"`)
	first.pictures("seller-changed")
	for _, seller := range []string{"s-1", "s-2"} {
		require.Equal(t, "waiting", comesBack(t, r.URL(), seller).status().me().text("status"))
	}
}
