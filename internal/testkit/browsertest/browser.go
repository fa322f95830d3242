// Package browsertest drives a real Chromium in tests. A test also fails when a page wrote an error to its
// console or broke its content security policy, unless the test expects that.
package browsertest

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// lifetime bounds a test that waits in vain.
const lifetime = 7 * time.Minute

// switches keep Chromium quiet, alike on every machine, and awake in tabs that are not in front.
//
// Chromium 103 without a window cannot encrypt cookies: half a minute after the first one its network service
// would crash, with all cookies, sockets and loads of that moment.
func switches() []chromedp.ExecAllocatorOption {
	var options []chromedp.ExecAllocatorOption
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check",
		"disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows",
		"disable-renderer-backgrounding",
		"disable-cookie-encryption", "disable-extensions", "disable-default-apps", "hide-scrollbars", "mute-audio",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	return append(options,
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.WSURLReadTimeout(time.Minute),
	)
}

// frugal halves the processor time: one process draws all pages of a profile, and the browser process does
// the work of the others.
var frugal = []chromedp.ExecAllocatorOption{chromedp.Flag("renderer-process-limit", "1"),
	chromedp.Flag("in-process-gpu", true)}

// shared are the browsers of all tests of a package that calls Main: starting one takes a second.
var shared struct {
	on                 bool
	lean, pages, whole *browser // pages: frugal
}

// browser is one that several tests use, each in tabs of its own.
type browser struct {
	switches []chromedp.ExecAllocatorOption
	ctx      context.Context // nil until the first test that needs it
	free     func()
}

// Main runs a package's tests, one after the other, with one browser of a kind for all. TestMain hands its
// result to os.Exit.
func Main(m interface{ Run() int }) int {
	shared.on, shared.lean, shared.pages, shared.whole = true, &browser{}, &browser{switches: frugal}, &browser{}
	code := m.Run()
	for _, b := range []*browser{shared.lean, shared.pages, shared.whole} {
		if b.ctx != nil {
			_ = chromedp.Cancel(b.ctx)
			b.free()
		}
	}
	return code
}

// whole is Chromium as people use it; lean has no window around the page, and takes a third of the processor
// time.
var (
	whole = []string{"chromium", "chromium-browser", "google-chrome"}
	lean  = append([]string{"chromium-headless-shell", "chrome-headless-shell"}, whole...)
)

// allocate starts a browser of the first of these programs that exists; free ends it.
func allocate(tb testing.TB, parent context.Context, programs []string,
	more ...chromedp.ExecAllocatorOption) (ctx context.Context, free func()) {
	tb.Helper()
	options := append(switches(), chromedp.ExecPath(testproc.Find(tb, programs...)))
	return chromedp.NewExecAllocator(parent, append(options, more...)...)
}

// New returns the first tab of a browser with a fresh profile. The browser is the test's own, or a part of
// the shared one that shares nothing with the others. Both are gone at the end of the test.
func New(tb testing.TB) context.Context {
	tb.Helper()
	return start(tb, lean, shared.lean, chromedp.WithNewBrowserContext())
}

// Page is New for a test with one visitor, at half the cost. The pages of a shared browser have one profile
// and one process.
//
// The test begins without cookies. Other storage belongs to an origin, and each test has a server of its own.
func Page(tb testing.TB) context.Context {
	tb.Helper()
	ctx := start(tb, lean, shared.pages)
	forgetCookies(tb, ctx)
	return ctx
}

// Whole is New with all features of Chromium: notifications, and keys and clicks in frames of other sites.
//
// Only the first profile of a running browser can show notifications, so tests that share a browser share
// that profile. It has no cookies when a test begins.
func Whole(tb testing.TB) context.Context {
	tb.Helper()
	ctx := start(tb, whole, shared.whole)
	forgetCookies(tb, ctx)
	return ctx
}

func forgetCookies(tb testing.TB, ctx context.Context) {
	tb.Helper()
	if err := chromedp.Do(ctx, call(network.ClearBrowserCookies, cdp.Empty{})); err != nil {
		tb.Fatalf("browsertest: %v", err)
	}
}

// start opens a test's first tab, in the shared browser if there is one. A nil in is a browser of its own.
func start(tb testing.TB, programs []string, in *browser, options ...chromedp.ContextOption) context.Context {
	tb.Helper()
	root, stop := context.WithTimeout(context.Background(), lifetime)
	w := &watch{}
	var ctx context.Context
	end := func() {}
	if shared.on && in != nil {
		in.begin(tb, programs)
		parent, cancel := context.WithCancel(context.WithValue(in.ctx, watchKey{}, w))
		context.AfterFunc(root, cancel)
		ctx, end = chromedp.NewContext(parent, options...)
	} else {
		alloc, free := allocate(tb, root, programs)
		ctx, _ = chromedp.NewContext(context.WithValue(alloc, watchKey{}, w)) // Cancel below ends it
		end = func() {
			_ = chromedp.Cancel(ctx)
			free()
		}
	}
	tb.Cleanup(func() {
		flush(ctx)
		end()
		stop()
		for _, complaint := range w.unexpected() {
			tb.Errorf("browsertest: %s", complaint)
		}
	})
	open(tb, ctx)
	return ctx
}

// begin starts the shared browser unless it runs already.
func (b *browser) begin(tb testing.TB, programs []string) {
	tb.Helper()
	if b.ctx != nil {
		return
	}
	var alloc context.Context
	alloc, b.free = allocate(tb, context.Background(), programs, b.switches...)
	b.ctx, _ = chromedp.NewContext(alloc) // Main ends it
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[int]("1")); err != nil {
		tb.Fatalf("browsertest: %v", err)
	}
}

// Isolated opens a tab that shares nothing with ctx's, as another person's browser
// would: no cookies, no storage.
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
		tb.Fatalf("browsertest: %v", err)
	}
}

// flush waits until every event of the page so far has been handled. It returns at once for a closed tab.
func flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, _ = chromedp.Run(ctx, chromedp.Evaluate[int]("1"))
}
