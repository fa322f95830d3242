package server

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// withoutItsScript makes requests for the page's script fail, or succeed again. Scripts are on.
func (p page) withoutItsScript(on bool) {
	p.t.Helper()
	urls := []*network.BlockPattern{{URLPattern: "*://*:*/*room.js", Block: on}}
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: urls})
		return err
	})))
}

func TestPageWhoseScriptDidNotArriveRefreshesItselfAfterAPress(t *testing.T) {
	r := start(t, config(t, "--redis-url", redistest.Lent(t).URL()))
	holder := newSeller(t, r.URL(), "holder")
	require.Equal(t, 200, holder.join().StatusCode)
	p := page{t: t, ctx: browsertest.New(t)}
	browsertest.AllowErrors(p.ctx, "Failed to load resource")
	p.withoutItsScript(true)
	require.NoError(t, chromedp.Do(p.ctx, browsertest.Viewport(360, 740, false, false),
		browsertest.Language("ko-KR"), chromedp.Navigate(r.URL()+roomPage)))
	p.is(`document.querySelector(".reload").checkVisibility()`)
	p.is(text("#connection") + ` === "자동으로 바뀌지 않아요"`)
	p.join("seller-a")
	p.state("waiting")
	p.is(text("#connection") + ` === "5초마다 새로고침해요"`)
	p.is(`document.querySelector(".reload").checkVisibility() && !document.querySelector("#keep").checkVisibility()`)
	p.picture("plain", false)
	holder.ask("DELETE", lockPath, "")
	p.state("locked") // without a press

	p.withoutItsScript(false)
	p.is(`document.body.dataset.connection === "open" && document.querySelector("meta[http-equiv]") === null`)
	p.is(`!document.querySelector(".reload").checkVisibility()`)
	p.state("locked")
}
