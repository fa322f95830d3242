//go:build long

package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// inFrame returns the page in the only frame of another site's page.
func inFrame(t *testing.T, ctx context.Context, url string) page {
	t.Helper()
	for {
		targets, err := chromedp.Targets(ctx)
		require.NoError(t, err)
		for _, info := range targets {
			if info.Type == "iframe" && strings.HasPrefix(info.URL, url) {
				frame, cancel := chromedp.NewContext(ctx, chromedp.WithTargetID(info.TargetID))
				t.Cleanup(cancel)
				return page{t: t, ctx: frame}
			}
		}
		require.NoError(t, ctx.Err(), "no frame shows %s", url)
	}
}

func TestANamedOriginHasThePageInAFrameAndItWorksThere(t *testing.T) {
	g, stranger := newGuest(t), newGuest(t)
	r := start(t, config(t, "--frame-ancestors", g.origin))
	g.shows(t, 1, r.URL())
	stranger.page = g.page
	browser := browsertest.Whole(t)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(g.origin)))
	framed := inFrame(t, browser, r.URL())
	framed.is(`document.body.dataset.connection === "open"`)
	// Without mouse and keyboard: a frame just drawn may not be handed what is pressed and typed yet.
	framed.is(`document.getElementById("seller-id").value = "framed"`)
	framed.is(`document.getElementById("join").click() ?? true`)
	framed.state("locked")
	require.NoError(t, chromedp.Do(browser, chromedp.Reload()))
	again := inFrame(t, browser, r.URL())
	again.state("locked")

	other := browsertest.Isolated(t, browser)
	require.NoError(t, chromedp.Do(other, chromedp.Navigate(stranger.origin)))
	var refused []string
	// the browser logs this error, not the page
	require.Eventually(t, func() bool { refused = browsertest.Errors(other); return len(refused) > 0 }, patience,
		20*time.Millisecond)
	browsertest.AllowErrors(other, "frame-ancestors")
	require.Len(t, refused, 1)
	require.Contains(t, refused[0], "frame-ancestors "+g.origin)
}
