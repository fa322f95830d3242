//go:build long

package server

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// If the error page stayed for ever, a seller's turn would pass without the seller seeing it.
func TestWaitingPageComesBackFromAStoreThatWasAwayWithAndWithoutScript(t *testing.T) {
	for name, before := range map[string]func(context.Context){
		"without script": func(ctx context.Context) {
			require.NoError(t,
				chromedp.Do(ctx, browsertest.WithoutScript()))
		},
		"reloaded": func(context.Context) {},
	} {
		t.Run(name, func(t *testing.T) {
			r, away, back := cutOff(t)
			holder := newSeller(t, r.URL(), "holder")
			holder.join()
			ctx := browsertest.New(t)
			browsertest.AllowErrors(ctx, "")
			before(ctx)
			require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(r.URL()+roomPage+"?lang=vi")))
			state := func(wanted string) {
				t.Helper()
				require.Eventually(t, func() bool {
					got, err := chromedp.Run(ctx, chromedp.Evaluate[string](
						`document.documentElement.lang + " " + document.body?.dataset.state`))
					return err == nil && got == "vi "+wanted
				}, 30*time.Second, 20*time.Millisecond, wanted)
			}
			require.NoError(t, chromedp.Do(ctx, chromedp.SendKeys("#seller-id", "s-2"), chromedp.Click("#join")))
			state("waiting")
			away()
			if name == "reloaded" {
				_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`location.reload(), true`))
				require.NoError(t, err)
			}
			state("error")
			back()
			state("waiting")
			require.Equal(t, http.StatusOK, holder.leave("").StatusCode)
			state("locked")
		})
	}
}
