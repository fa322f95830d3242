// Package chrometest drives a real Chromium in tests. A test also fails when a page wrote an error to its console or
// broke its content security policy, unless the test says that it expects that.
package chrometest

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/waitroom/waitroom/internal/testproc"
)

// lifetime bounds a test that waits for something that never comes.
const lifetime = 3 * time.Minute

// switches keep Chromium quiet, alike on every machine, and awake in tabs that are not in front.
func switches() []chromedp.ExecAllocatorOption {
	var options []chromedp.ExecAllocatorOption
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check",
		"disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding",
		"disable-extensions", "disable-default-apps", "hide-scrollbars", "mute-audio",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	return append(options,
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.WSURLReadTimeout(time.Minute),
	)
}

// New starts a browser with a fresh profile and returns its first tab. Both are gone at the end of the test.
func New(tb testing.TB) context.Context {
	tb.Helper()
	path := testproc.Find(tb, "chromium", "chromium-browser", "google-chrome")
	root, stop := context.WithTimeout(context.Background(), lifetime)
	alloc, free := chromedp.NewExecAllocator(root, append(switches(), chromedp.ExecPath(path))...)
	w := &watch{}
	ctx, _ := chromedp.NewContext(context.WithValue(alloc, watchKey{}, w)) // Cancel below ends it
	tb.Cleanup(func() {
		flush(ctx)
		_ = chromedp.Cancel(ctx)
		free()
		stop()
		for _, complaint := range w.unexpected() {
			tb.Errorf("chrometest: %s", complaint)
		}
	})
	open(tb, ctx)
	return ctx
}

// Isolated opens a tab that shares nothing with ctx's, as another person's browser would: no cookies, no storage.
func Isolated(tb testing.TB, ctx context.Context) context.Context {
	tb.Helper()
	return child(tb, ctx, chromedp.WithNewBrowserContext())
}

// Tab opens another tab beside ctx's, with the same cookies.
func Tab(tb testing.TB, ctx context.Context) context.Context {
	tb.Helper()
	return child(tb, ctx)
}

func child(tb testing.TB, parent context.Context, options ...chromedp.ContextOption) context.Context {
	tb.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	tb.Cleanup(func() {
		flush(ctx)
		cancel()
	})
	open(tb, ctx)
	return ctx
}

// open makes the tab exist and listens to it from its first moment.
func open(tb testing.TB, ctx context.Context) {
	tb.Helper()
	if err := chromedp.Listen(ctx, watching(ctx).see); err != nil {
		tb.Fatalf("chrometest: %v", err)
	}
}

// flush returns when everything the page has said so far was heard. A tab that is gone has nothing more to say.
func flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, _ = chromedp.Run(ctx, chromedp.Evaluate[int]("1"))
}
