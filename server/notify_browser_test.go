package server

import (
	"context"
	"errors"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/chrometest"
	"github.com/waitroom/waitroom/internal/testproc"
)

// phone makes pages like those of a phone's browser, which throws where a page makes a notification itself; and the page hidden once it is told so.
const phone = `window.Notification = class extends Notification { constructor() { throw new TypeError("Illegal constructor"); } };
	Object.defineProperty(document, "hidden", { get: () => window.away === true });`

// noWorker is a browser that has no service workers.
const noWorker = `Object.defineProperty(navigator, "serviceWorker", { value: undefined });`

func TestPhoneShowsATurnByTheWorkerOrSaysThatItCannot(t *testing.T) {
	r := start(t, pushConfig(t))
	for name, c := range map[string]struct {
		script string
		then   func(*testing.T, context.Context, page)
	}{
		"by the worker": {phone, func(t *testing.T, ctx context.Context, p page) {
			testproc.Until(t, patience, func() error {
				if tells[string](t, ctx, shown) == "" {
					return errors.New("nothing is shown")
				}
				return nil
			})
			p.is(`document.querySelector("#notify-note").textContent.startsWith("켜짐")`)
		}},
		"without one": {phone + noWorker, func(_ *testing.T, _ context.Context, p page) {
			p.is(`document.querySelector("#notify-note").textContent === "이 브라우저에는 알림을 보낼 수 없어요"`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			holder := newSeller(t, r.URL(), "s-"+name[:2])
			holder.join()
			ctx := chrometest.New(t) // permissions are of a browser, not of a context of it
			allow(t, ctx, r.URL())
			require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
				_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: c.script})
				return err
			})))
			p := openPage(t, ctx, r.URL())
			p.join("s-b" + name[:2])
			p.state("waiting")
			p.is(`document.querySelector("#notify-note").textContent.startsWith("켜짐")`)
			tells[bool](t, ctx, `window.away = true`)
			holder.leave("?reason=completed")
			p.state("locked")
			c.then(t, ctx, p)
			p.press("#done")
			p.press("#done-confirm")
			p.state("ended")
		})
	}
}
