package templates_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// deskTab is one tab of an agent's browser.
type deskTab struct {
	t   *testing.T
	ctx context.Context
	d   *fakeDesk
}

func openDesk(t *testing.T, d *fakeDesk) *deskTab {
	t.Helper()
	tab := &deskTab{t, browsertest.Page(t), d}
	tab.size(1440, 900, false)
	return tab
}

func (b *deskTab) size(width, height int, dark bool) {
	b.t.Helper()
	b.do(browsertest.Viewport(width, height, dark, false))
}

func (b *deskTab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.d.server.URL + path))
	b.until(`document.body.dataset.connection === "open" && document.body.dataset.age === "fresh"`)
}

// before runs a script in each page opened from now on, before its own.
func (b *deskTab) before(script string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// timed holds the ten-second timers of the pages opened from now on, until later runs them.
func (b *deskTab) timed() {
	b.t.Helper()
	b.before(`{
		const real = setTimeout, kept = [];
		setTimeout = (f, ms, ...rest) => ms === 10000 ? kept.push(f) : real(f, ms, ...rest);
		window.later = () => kept.splice(0).forEach((f) => f());
	}`)
}

// later runs the held timers.
func (b *deskTab) later() {
	b.t.Helper()
	run[bool](b, `(window.later(), true)`)
}

func (b *deskTab) do(steps ...browsertest.Action) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

func (b *deskTab) until(expression string, args ...any) {
	b.t.Helper()
	(&browser{t: b.t, ctx: b.ctx}).until(fmt.Sprintf(expression, args...))
}

// press presses keys wherever focus is, as a keyboard does: a key that the page prevents types nothing.
func (b *deskTab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, key := range keys {
			events := kb.Encode(key)
			down, up := *events[0], *events[len(events)-1]
			down.Type = "keyDown"
			if len(events) == 3 {
				down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
			}
			for _, event := range []input.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, event); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// click presses an element by the script, wherever it is.
func (b *deskTab) click(selector string) {
	b.t.Helper()
	b.until(`document.querySelector(%q)`, selector)
	run[bool](b, `(document.querySelector(%q).click(), true)`, selector)
}

// goes waits until the page has navigated to another address.
func (b *deskTab) goes(address string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		at, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.pathname + location.search`))
		return err == nil && at == address // it fails while the page is being left
	}, 60*time.Second, 20*time.Millisecond, address)
}

func (b *deskTab) hasText(id, text string) {
	b.t.Helper()
	b.until(`document.getElementById(%q).textContent.includes(%q)`, id, text)
}

func (b *deskTab) text(id string) string {
	b.t.Helper()
	return run[string](b, `document.getElementById(%q).textContent.trim()`, id)
}

// cellHas waits until a row's cell of the line has a text; the row has to be in view. The rows are drawn one
// picture after the room's head.
func (b *deskTab) cellHas(ticket int, cell, text string) {
	b.t.Helper()
	b.until(`document.querySelector('[data-key="%d"] [data-cell=%s]')?.textContent.includes(%q)`, ticket, cell,
		text)
}

// picked returns the ticket of the picked row; 0 for none.
func (b *deskTab) picked() int {
	b.t.Helper()
	return run[int](b, `Number(document.querySelector('#line-rows [aria-selected=true]')?.dataset.key ?? 0)`)
}

func run[T any](b *deskTab, expression string, args ...any) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf(expression, args...),
		chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, expression)
	return value
}

// A sign-in ends after half an hour without use: an agent that works on a live page uses it.
func TestWorkOnALivePageIsUseAndALookIsNot(t *testing.T) {
	_, tab := openRooms(t, fewRooms())
	tab.until(`document.querySelectorAll("#rooms-rows [role=row]").length > 0`)
	const plain = `performance.getEntriesByType("resource").filter((e) => e.initiatorType === "fetch").length`
	press := func() { tab.do(chromedp.KeyEvent("?"), chromedp.KeyEvent(kb.Escape)) }
	press()
	require.Zero(t, run[int](tab, plain), "once in five minutes is enough")
	run[bool](tab, `(() => { const now = Date.now; Date.now = () => now() + 360000; return true; })()`)
	require.Zero(t, run[int](tab, plain))
	press()
	tab.until(plain + " === 1")
}
