package templates_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

func TestStepsBeforeJoiningNameWhatIsNeeded(t *testing.T) {
	view := everyState()["idle"]
	view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{Name: "쿠팡", URL: "https://wing.example"}}
	page := render(t, templates.RoomPage(view))
	steps := between(t, page, `<ol class="way"`, "</ol>")
	require.NotContains(t, between(t, steps, "<ol", ">"), "hidden")
	require.Contains(t, steps, "쿠팡에 로그인하기")
	require.Contains(t, steps, "010-0000-0000")
	require.Contains(t, steps, `href="https://wing.example" target="_blank"`)
	require.Contains(t, steps, "차례가 오면 2분 안에 인증해 주세요")
	require.Less(t, len(before(t, page, steps)), len(before(t, page, `id="join"`)), "the steps come before the press")
	for _, id := range []string{"check", "check-lead"} {
		require.Contains(t, between(t, steps, ` id="`+id+`"`, ">"), "hidden", "without a script nothing is checked")
	}

	bare := render(t, templates.RoomPage(everyState()["idle"]))
	require.NotContains(t, between(t, bare, `<ol class="way"`, "</ol>"), "<a ")
	waiting := between(t, render(t, templates.RoomPage(everyState()["waiting"])), `<ol class="way"`, ">")
	require.Contains(t, waiting, "hidden")
}

// ownNotifications records what a page asks for and shows.
const ownNotifications = `window.shown = []; window.Notification = class {
		static permission = "default";
		static requestPermission() { shown.push("asked " + navigator.userActivation.isActive); return Promise.resolve(Notification.permission = window.answer ?? "granted"); }
		constructor(title, { body }) { shown.push(title + " " + body); }
		close() {}
	}`

func TestOnePressTriesSoundAndNotification(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(ownNotifications)
	tab.open(room, "ko")
	require.Empty(t, tab.text("check-result"), "nothing was tried yet")
	tab.do(chromedp.Click("#check"))
	tab.hasText("check-sound", "소리: 켜짐")
	tab.hasText("check-notify", "알림: 켜짐, 이 화면이 열려 있을 때만 와요")
	tab.hides("check-lead")
	tab.until(`shown.join() === "asked true,알림이 잘 와요 차례가 오면 이렇게 알려드려요."`)
	tab.do(chromedp.Click("#check"))
	tab.until(`shown.length === 3 && shown[1] === shown[2]`)

	tab.open(room, "ko")
	tab.run(`answer = "denied"`)
	tab.do(chromedp.Click("#check"))
	tab.hasText("check-notify", "알림: 브라우저 설정에서 꺼져 있어요")
	tab.until(`shown.join() === "asked true"`)
}

func TestCheckSaysNothingOfNotificationsBeforeTheSellerHasAnswered(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(ownNotifications)
	tab.open(room, "ko")
	tab.run(`Notification.requestPermission = () => {
		shown.push("asked");
		return new Promise((answered) => window.decide = (answer) => answered(Notification.permission = answer));
	}`)
	tab.do(chromedp.Click("#check"))
	tab.hasText("check-sound", "소리: 켜짐")
	tab.do(chromedp.Click("#check"))
	tab.until(`shown.length > 0`)
	require.Empty(t, tab.text("check-notify"))
	tab.run(`decide("default")`)
	tab.hasText("check-notify", "알림: 꺼짐")
	tab.until(`shown.join() === "asked"`)
}

// A press arms the sound before it is a click.
func TestPressOnNotificationsCountsWhereTheyWereAllowedMeanwhile(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(ownNotifications)
	room.change(place(2))
	tab.open(room, "ko")
	tab.run(`Notification.permission = "granted"`) // on another page
	tab.do(chromedp.Click("#notify"))
	tab.until(`shown.join() === "asked true"`)
	tab.hasText("notify-note", "켜짐, 이 화면이 열려 있을 때만 와요")
}

// The steps may be longer than a small screen. The form stays at its foot, and covers no focused button.
func TestButtonToJoinStaysOnTheScreenBelowTheSteps(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{URL: "https://market.example"}}
	tab.do(browsertest.Viewport(320, 568, false, true))
	tab.open(room, "en")
	const on = `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.getElementById("join").getBoundingClientRect())`
	tab.until(on + ` && document.documentElement.scrollHeight > innerHeight`)
	tab.run(`document.getElementById("check").focus()`)
	tab.until(on + ` && document.getElementById("check").getBoundingClientRect().bottom <= document.getElementById("join-form").getBoundingClientRect().top`)
}

// before returns what comes before a part of a page.
func before(t *testing.T, page, part string) string {
	t.Helper()
	ahead, _, found := strings.Cut(page, part)
	require.True(t, found, part)
	return ahead
}
