package templates_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// backwards returns the steps of Tab (recorded by tabbed) that lead up the page, or to the left within a
// line. At the page's end a form that stays at the foot of the screen has the place that is its own.
const backwards = `(() => {
	window.scrollTo(0, document.documentElement.scrollHeight);
	const named = (e) => e.tagName.toLowerCase() + "#" + e.id;
	const at = (e) => { const { top, bottom, left } = e.getBoundingClientRect(); return { top, bottom, left }; };
	return window.tabbed.slice(1).filter((e, i) => {
		const [a, b] = [at(window.tabbed[i]), at(e)];
		return b.bottom <= a.top || (b.top < a.bottom && a.top < b.bottom && b.left < a.left);
	}).map((e) => named(window.tabbed[window.tabbed.indexOf(e) - 1]) + " -> " + named(e)).join();
})()`

// unreached returns the buttons and fields that Tab did not reach.
const unreached = `[...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")]
	.filter((e) => e.checkVisibility() && e.type !== "hidden" && !window.tabbed.includes(e)).map((e) => "unreached " + e.id + e.className).join()`

// belowTheFold returns the page's first primary button if it is not wholly on the first screen.
const belowTheFold = `(() => {
	window.scrollTo(0, 0);
	const primary = [...document.querySelectorAll(".button.primary")].find((e) => e.checkVisibility() && getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)");
	const bottom = primary?.getBoundingClientRect().bottom ?? 0;
	return bottom > innerHeight ? primary.id + " ends at " + Math.round(bottom) + " of " + innerHeight : "";
})()`

// A browser's zoom makes the page's window smaller: 640 by 512 is 200 % on a screen of 1280 by 1024.
func TestMainButtonIsOnTheFirstScreenAndTabGoesAsReadingDoes(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	states := pageStates(room)
	room.change(object{"status": "idle", "fence": nil, "codes": nil})
	tab.open(room, "ko")
	var wrong []string
	for _, s := range states {
		room.push(t, s.state)
		for _, frame := range s.frames {
			room.send(t, frame)
		}
		tab.until(s.shown)
		tab.tabThrough()
		for _, size := range [][2]int{{360, 740}, {640, 512}, {320, 640}, {1280, 1024}} {
			tab.do(browsertest.Viewport(size[0], size[1], false, true))
			look := backwards + ` + ` + unreached
			if size[0] != 360 {
				look += ` + ` + belowTheFold
			}
			if found := read(t, tab.ctx, look); found != "" {
				wrong = append(wrong, fmt.Sprintf("%s at %d: %s", s.name, size[0], found))
			}
		}
	}
	require.Empty(t, wrong)
}

// tabThrough presses Tab from the beginning of the page to its end, and records the focused elements.
func (b *browser) tabThrough() {
	b.t.Helper()
	begin := `(window.tabbed = [document.querySelector(".skip")], window.tabbed[0].focus(), "")`
	next := `(() => {
		const at = document.activeElement;
		if (at === document.body || window.tabbed.includes(at)) return "end";
		window.tabbed.push(at);
		return "";
	})()`
	read(b.t, b.ctx, begin)
	for ended := ""; ended == ""; ended = read(b.t, b.ctx, next) {
		b.do(chromedp.KeyEvent(kb.Tab))
	}
}
