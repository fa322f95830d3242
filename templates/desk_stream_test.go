package templates_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

func TestDeskShowsTheAgeOfItsData(t *testing.T) {
	d := busyDesk(t)
	tab := openDesk(t, d)
	tab.open(roomPage)
	tab.hasText("age-words", "방금")
	d.setLag(5 * time.Second)
	tab.until(
		`document.body.dataset.age === "late" && /^[56]초 전$/.test(document.getElementById("age-words").textContent) && document.getElementById("band").hidden`)
	d.setLag(12 * time.Second)
	tab.until(`document.body.dataset.age === "stale" && !document.getElementById("band").hidden`)
	tab.hasText("band-age", "초 전 데이터예요")
	tab.hasText("band-words", "새 소식이 들어오지 않아요")
	d.setLag(0)
	tab.until(`document.body.dataset.age === "fresh" && document.getElementById("band").hidden`)
}

func TestDeskComesBackAfterABreakAndGreysMeanwhile(t *testing.T) {
	d := startFakeDesk(t, 5)
	tab := openDesk(t, d)
	tab.open(roomPage)
	for n, code := range []int{4001, 1012} {
		d.line = append(d.line, waiter{int64(90 + n), "s-late", time.Now().UnixMilli(), 0})
		run[bool](tab,
			`(window.seen = [], new MutationObserver(() => window.seen.push(document.body.dataset.age)).observe(document.body, { attributes: true }), true)`)
		d.closeAll(code)
		tab.until(`window.seen.includes("lost")`)
		tab.until(`document.body.dataset.connection === "open" && document.body.dataset.age === "fresh"`)
		tab.until(`document.getElementById("line-count").textContent === "%d명"`, 6+n)
	}
}

func TestDeskComesBackForTheWholeLineWhenAChangeDoesNotFit(t *testing.T) {
	d := startFakeDesk(t, 5)
	tab := openDesk(t, d)
	tab.open(roomPage)
	tab.hasText("line-count", "5명")
	d.line = append(d.line, waiter{77, "s-unseen", time.Now().UnixMilli(), 0}) // sent to no socket
	d.change(t, func() object { return d.move(77, 1) })
	tab.until(`document.querySelector('[data-key="77"] [data-cell=position]')?.textContent === "1"`)
	require.Equal(t, 2, d.everOpened())
}

func TestSignedOutDeskLeadsToTheSignInAndBack(t *testing.T) {
	for path, next := range map[string]string{roomPage: "%2Fsupport%2Fintegration%3Flang%3Dko",
		"/support?lang=en": "%2Fsupport%3Flang%3Den"} {
		d := startFakeDesk(t, 2)
		d.rooms = manyRooms(3)
		tab := openDesk(t, d)
		tab.open(path)
		d.closeAll(4501)
		tab.goes("/support/sign-in?next=" + next)
	}
}

// A browser does not report why a socket was refused.
func TestDeskRefusedWithoutASignInLeadsToIt(t *testing.T) {
	d := startFakeDesk(t, 2)
	tab := openDesk(t, d)
	browsertest.AllowErrors(tab.ctx, "401", "HTTP Authentication failed")
	d.out = true
	tab.do(chromedp.Navigate(d.server.URL + roomPage))
	tab.goes("/support/sign-in?next=%2Fsupport%2Fintegration%3Flang%3Dko")
}

// setLag makes the fake server stamp every frame that much earlier from now on, and sends one at once.
func (d *fakeDesk) setLag(lag time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lag = lag
	d.beat(time.Now())
}
