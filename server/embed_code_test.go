package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestThePageToCopyKeepsTheCodeThatEndedTheTurn(t *testing.T) {
	g := newGuest(t)
	r := start(t, config(t, "--allowed-origins", g.origin, "--redis-url", redistest.Start(t).URL(),
		"--sms-webhook-secret", smsSecret))
	g.shows(t, 0, r.URL())
	p := page{t: t, ctx: browsertest.New(t)}
	code := func(text string) string { return `document.querySelector("#code").textContent === "` + text + `"` }
	where := func(text string) string {
		return `document.querySelector("#where").textContent.includes("` + text + `")`
	}
	// wait longer than two ticks of the page
	ticks := ` && (window.since ??= performance.now()) < performance.now() - 2500`
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(g.origin)))
	p.is(where("0 waiting"))
	require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#seller"), "guest")))
	p.press("#ready button")
	p.is(where("Your turn"))
	p.press("#ask")
	sent := 0
	require.Eventually(t, func() bool { // a message from before the ask stays unmatched when repeated
		sent++
		return carrier(t, r.URL(), fmt.Sprintf("m-%d", sent), "인증번호는 [482913] 입니다",
			time.Now()).text("result") == "matched"
	}, patience, 100*time.Millisecond)
	p.is(where("Over: completed") + " && " + code("482913") + ticks)

	require.NoError(t, chromedp.Do(p.ctx, chromedp.Reload()))
	p.is(where("Over: completed") + " && " + code("482913"))
	require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#seller"), "guest")))
	p.press("#ready button")
	p.is(where("Your turn") + " && " + code(""))
}
