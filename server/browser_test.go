package server

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// page is one seller's browser on the room's page.
type page struct {
	t   *testing.T
	ctx context.Context
}

func openPage(t *testing.T, ctx context.Context, url string) page {
	t.Helper()
	p := page{t: t, ctx: ctx}
	require.NoError(t, chromedp.Do(ctx, browsertest.Viewport(360, 740, false, false),
		browsertest.Language("ko-KR"), chromedp.Navigate(url)))
	p.is(`document.body.dataset.connection === "open"`)
	return p
}

// wentOn matches Chromium's errors for a page that navigated during a call.
var wentOn = regexp.MustCompile("Cannot find context|Execution context was destroyed|Inspected target " +
	"navigated")

// is waits until an expression is true on the page.
func (p page) is(expression string) {
	p.t.Helper()
	for {
		_, err := chromedp.Run(p.ctx, chromedp.Poll[bool]("!!("+expression+")"))
		if err != nil && wentOn.MatchString(err.Error()) {
			continue // the page went on to another one meanwhile, which is asked then
		}
		require.NoError(p.t, err, expression)
		return
	}
}

func (p page) state(state string) {
	p.t.Helper()
	p.is(`document.body.dataset.state === "` + state + `"`)
}

// press clicks an element once two frames show it in the same place. The click would miss an element that
// still moves.
func (p page) press(id string) {
	p.t.Helper()
	p.is(`(() => {
		const box = document.querySelector(` + strconv.Quote(id) + `)?.getBoundingClientRect();
		const before = window.pressed;
		window.pressed = box && JSON.stringify(box);
		return box && before === window.pressed;
	})()`)
	for {
		err := chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS(id)))
		if err != nil && strings.Contains(err.Error(), "Could not find node with given id") {
			continue // the page moved it before it could be pressed
		}
		require.NoError(p.t, err)
		return
	}
}

func (p page) join(seller string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#seller-id"), seller)))
	p.press("#join")
}

// picture saves a screenshot for review if WAITROOM_PICTURES is set.
func (p page) picture(name string, dark bool) {
	dir := os.Getenv("WAITROOM_PICTURES")
	if dir == "" {
		return
	}
	for width, suffix := range map[int]string{360: "-360", 1280: "-1280"} {
		file := name + suffix + map[bool]string{true: "-dark", false: ""}[dark] + ".png"
		require.NoError(p.t, chromedp.Do(p.ctx, browsertest.Viewport(width, 800, dark, true)))
		require.NoError(p.t, browsertest.Screenshot(p.ctx, filepath.Join(dir, file)))
	}
}

// wholeTurn lets two sellers take a turn: the first holds the lock and gives it up, and the second's page
// shows its turn without a reload.
func wholeTurn(t *testing.T, first, second string) {
	browser := browsertest.New(t)
	a, b := openPage(t, browser, first), openPage(t, browsertest.Isolated(t, browser), second)
	a.state("idle")

	a.join("seller-a")
	a.state("locked")
	a.is(`/^[12]:[0-5][0-9]$/.test(document.querySelector("#countdown").textContent.trim())`)

	b.join("seller-b")
	b.state("waiting")
	b.is(`document.querySelector("#position").textContent.trim() === "1"`)
	b.is(`document.querySelector("#estimate").textContent.trim() !== ""`)
	b.is(`/^[12]:[0-5][0-9]$/.test(document.querySelector("#lease-countdown").textContent.trim())`)
	for _, dark := range []bool{false, true} {
		a.picture("locked", dark)
		b.picture("waiting", dark)
	}

	b.is(`window.wasHere = true`)
	a.press("#cancel")
	a.press("#leave-confirm")
	a.state("ended")
	b.state("locked")
	b.is(`window.wasHere && /^[12]:[0-5][0-9]$/.test(document.querySelector("#countdown").textContent.trim())`)
	a.is(`document.querySelector("#outcome").dataset.outcome === "cancelled"`)
	a.picture("ended", false)

	b.press("#done")
	b.press("#done-confirm")
	b.state("ended")
	b.is(`document.querySelector("#outcome").dataset.outcome === "completed"`)
}

func TestTwoBrowsersTakeTheirTurnsOnTwoReplicas(t *testing.T) {
	store := redistest.Lent(t).URL()
	one, other := start(t, config(t, "--redis-url", store)), start(t, config(t, "--redis-url", store))
	wholeTurn(t, one.URL(), other.URL())
}

// One browser has one session on all replicas of a test: cookies do not depend on the port.
func TestPlaceOutlivesAReloadASecondTabAndAnotherReplica(t *testing.T) {
	store := redistest.Lent(t).URL()
	one, other := start(t, config(t, "--redis-url", store)), start(t, config(t, "--redis-url", store))
	holder := newSeller(t, one.URL(), "holder").join()
	require.Equal(t, "locked", holder.json["status"])

	browser := browsertest.New(t)
	// the first replica ends below; while it does, it refuses sockets
	browsertest.AllowErrors(browser, "ERR_CONNECTION_REFUSED", "ws"+strings.TrimPrefix(one.URL(), "http"))
	waiter := openPage(t, browser, one.URL())
	waiter.join("waiter")
	waiter.state("waiting")
	same := `document.body.dataset.state === "waiting" && document.body.innerText.includes("대기 번호 2")`
	waiter.is(same)

	require.NoError(t, chromedp.Do(browser, chromedp.Reload()))
	waiter.is(same)
	second := openPage(t, browsertest.Tab(t, browser), other.URL())
	second.is(same)
	waiter.is(same)
	require.NoError(t, one.stop(t))
	require.NoError(t, chromedp.Do(second.ctx, chromedp.Reload()))
	second.is(same + ` && document.body.dataset.connection === "open"`)
}
