package webdriver

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// chromium drives Chromium by the DevTools protocol.
type chromium struct {
	tb    testing.TB
	first context.Context
	tab   context.Context // the driven one
}

// Chromium is browsertest's browser with this package's methods, for journeys that every engine makes.
func Chromium(tb testing.TB, _ Config) *Browser {
	tb.Helper()
	return onChromium(tb, browsertest.Page(tb), "chromium") // permissions are the first profile's
}

// OldChromium is Chromium with the oldest version that long tests have.
func OldChromium(tb testing.TB, _ Config) *Browser {
	tb.Helper()
	return onChromium(tb, browsertest.Old(tb), "oldchromium")
}

func onChromium(tb testing.TB, ctx context.Context, name string) *Browser {
	tb.Helper()
	browsertest.AllowErrors(ctx, "") // the other engines' consoles are not checked
	c := &chromium{tb: tb, first: ctx, tab: ctx}
	if err := c.do(chromedp.Func(mayCopy)); err != nil {
		tb.Fatalf("chromium: %v", err)
	}
	return &Browser{tb: tb, engine: c, Name: name}
}

// mayCopy allows copying at a press, as Chromium with a window does.
func mayCopy(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "clipboard-write"},
		Setting:    browser.PermissionSettingGranted,
	})
	return err
}

func (c *chromium) open(url string) error { return c.do(chromedp.Navigate(url)) }

// do runs a step with a time limit, since chromedp waits for ever for an element that does not come.
func (c *chromium) do(step browsertest.Action) error {
	ctx, cancel := context.WithTimeout(c.tab, patience)
	defer cancel()
	return chromedp.Do(ctx, step)
}

// eval evaluates an expression in the page, which returns JSON; undefined is no JSON.
func (c *chromium) eval(expression string) (json.RawMessage, error) {
	written, err := chromedp.Run(c.tab, chromedp.Evaluate[string](
		"Promise.resolve("+expression+
			").then((value) => JSON.stringify(value ?? null))", chromedp.EvalAwaitPromise))
	return json.RawMessage(written), err
}

func (c *chromium) click(selector string) error {
	return c.do(chromedp.Click(chromedp.CSS(selector)))
}

func (c *chromium) keys(selector, text string) error {
	return c.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (c *chromium) resize(width, height int) error {
	return c.do(chromedp.EmulateViewport(int64(width), int64(height)))
}

func (c *chromium) picture() ([]byte, error) {
	return chromedp.Run(c.tab, chromedp.CaptureScreenshot())
}

func (c *chromium) tabs() (urls []string, err error) {
	all, err := chromedp.Targets(c.first)
	for _, target := range all {
		if target.Type == "page" {
			urls = append(urls, target.URL)
		}
	}
	return urls, err
}

func (c *chromium) newTab(url string) error {
	c.tab = browsertest.Tab(c.tb, c.first)
	return c.open(url)
}

func (c *chromium) firstTab() error {
	c.tab = c.first
	return c.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.BringToFront, cdp.Empty{})
		return err
	}))
}
