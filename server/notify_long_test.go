//go:build long

package server

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// phone imitates a phone's browser, where new Notification throws without a service worker, and hides the
// page on request.
const phone = `window.Notification = class extends Notification { constructor() { throw new TypeError("Illegal constructor"); } };
	Object.defineProperty(navigator, "serviceWorker", { value: undefined });
	Object.defineProperty(document, "hidden", { get: () => window.away === true });`

func TestPhoneThatCanShowNoNotificationSaysSo(t *testing.T) {
	r := start(t, pushConfig(t))
	holder := newSeller(t, r.URL(), "s-a")
	holder.join()
	ctx := browsertest.Whole(t)
	allow(t, ctx, r.URL())
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: phone})
		return err
	})))
	p := openPage(t, ctx, r.URL())
	p.join("s-b")
	p.state("waiting")
	p.is(`document.querySelector("#notify-note").textContent.startsWith("켜짐")`)
	result[bool](t, ctx, `window.away = true`)
	holder.leave("?reason=completed")
	p.is(`document.querySelector("#notify-note").textContent === "이 브라우저에는 알림을 보낼 수 없어요"`)
}
