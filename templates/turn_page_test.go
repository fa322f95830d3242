package templates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

// stopped stops the clocks of the pages opened from now on; pass(ms) advances them.
const stopped = `{
	let now = performance.now();
	const since = Date.now() - now;
	performance.now = () => now;
	Date.now = () => since + now;
	window.pass = (ms) => now += ms;
}`

func TestTurnIsAnnouncedThreeTimesBeforeItIsOver(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(stopped)
	tab.before(`window.buzzed = []; navigator.vibrate = (pattern) => buzzed.push(pattern.length) > 0`)
	room.at = time.Now().UnixMilli()
	room.change(place(6))
	tab.open(room, "ko")
	tab.do(chromedp.Click("#sound-test")) // browsers play no sound before a press
	for _, position := range []int{5, 3, 2, 1} {
		room.push(t, object{"queue_position": position})
		tab.until(fmt.Sprintf(`document.getElementById("position").textContent === "%d"`, position))
	}
	tab.until(`buzzed.join() === "1,1"`)
	short := turn(0)
	short["lease_expires_at"] = room.at + 31_000
	room.push(t, short)
	tab.until(`buzzed.join() === "1,1,5"`)
	tab.run(`pass(2000)`)
	tab.until(`document.body.dataset.hurry === "true"`)
	require.Equal(t, "곧 끝나요", tab.text("time-left"))
	room.push(t, object{"queue_length": 3})
	tab.until(`buzzed.join() === "1,1,5,3"`)
}

func TestPageShowsTheOperatorsRoomDetails(t *testing.T) {
	view := everyState()["locked"]
	view.Info = templates.RoomInfo{Name: "쿠팡 연동", Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{Name: "쿠팡", URL: "https://wing.example"},
		Support: templates.SupportInfo{Text: "판매자 센터", URL: "https://help.example",
			Tel: "1500 0000"}, ReturnURL: "https://portal.example/done"}
	page := render(t, templates.RoomPage(view))
	require.Contains(t, between(t, page, `<header`, "</header>"), "쿠팡 연동")
	require.Contains(t, page, `<strong id="number" class="whole" translate="no">010-0000-0000</strong>`)
	require.Contains(t, between(t, page, `id="ask"`, "</button>"), "인증번호 요청하러 가기")
	require.Contains(t, between(t, page, `id="ask"`, "</button>"), `data-opens="https://wing.example"`)
	require.Contains(t, between(t, page, `id="turn-lead">`, "</p>"), "아래 버튼을 누르면 쿠팡 화면이 열려요. 거기서 인증번호를 요청해 주세요.")
	require.Contains(t, page, `href="tel:15000000"`)
	require.Contains(t, page, `href="https://help.example"`)
	require.Contains(t, between(t, page, `id="return"`, ">"), `href="https://portal.example/done"`)
	require.NotContains(t, between(t, page, "<footer", "</footer>"), "integration")

	require.Contains(t,
		render(t,
			templates.LinkPage(templates.LinkView{Lang: "ko", Room: "integration", Name: "쿠팡 연동"})), `<dd translate="no">쿠팡 연동</dd>`)

	view.Info.Support.URL, view.Info.ReturnURL = "javascript:alert(1)", "javascript:alert(1)"
	require.NotContains(t, render(t, templates.RoomPage(view)), "javascript:")
	bare := render(t, templates.RoomPage(everyState()["locked"]))
	for _, id := range []string{"number", "market", "return"} {
		require.NotContains(t, bare, `id="`+id+`"`)
	}
	require.Contains(t, between(t, bare, `id="ask"`, "</button>"), "이제 요청할게요")
}

func TestNextInLineHasNumberAndMarketplaceAtHandAndLeavesByTheLastButton(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{Name: "마켓", URL: "https://market.example"},
		Support:     templates.SupportInfo{Text: "평일 9시~18시", URL: "https://help.example"}}
	tab.open(room, "ko")
	room.push(t, place(2))
	tab.until(`document.body.dataset.state === "waiting"`)
	tab.hides("ready")
	room.push(t, place(1))
	tab.shows("ready")
	tab.hasText("ready", "010-0000-0000")
	tab.until(`document.querySelector("#ready a").href === "https://market.example/"`)
	tab.until(
		`[...document.querySelectorAll("main button")].filter((b) => b.getClientRects().length > 0).at(-1).id === "leave"`)
	tab.until(
		`document.querySelector(".help a").textContent === "고객센터에 물어보기" && document.querySelector(".help span").textContent === "평일 9시~18시"`)
	room.push(t, turn(0))
	tab.step("ask")
	tab.hides("ready")
}

// opensTabs replaces window.open and records what happens to the new tabs.
const opensTabs = `window.opened = []; window.open = () => {
	opened.push("tab");
	return { document: { body: {} }, location: { replace: (url) => opened.push(url) }, close: () => opened.push("closed") };
}`

func TestOnePressRecordsTheAskAndOpensTheMarketplace(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info.Marketplace = templates.MarketplaceInfo{Name: "마켓", URL: "https://market.example"}
	tab.before(opensTabs)
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
	tab.until(`opened.join() === "tab,https://market.example"`)
	require.Equal(t, "POST /api/integration/lock/expect ", room.lastCall())
	tab.shows("market")
	tab.do(chromedp.Click("#ask-again"))
	tab.until(`!document.querySelector("[aria-busy]") && opened.length === 2`)
}

// cutOff makes the page's socket send and receive nothing, as without a network.
const cutOff = `window.WebSocket = class extends EventTarget { close() {} };
	window.fetch = () => new Promise((_, lost) => setTimeout(() => lost(new TypeError("no network")), 10));
	const real = setTimeout; window.setTimeout = (f, ms) => real(f, ms < 10000 ? Math.min(ms, 50) : ms)`

func TestTurnThatMayBeOverDoesNotCallToTheMarketplace(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info.Marketplace = templates.MarketplaceInfo{Name: "마켓", URL: "https://market.example"}
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	tab.run(`document.getElementById("ask").focus()`)
	tab.run(`(() => {` + cutOff + `})()`)
	room.push(t, object{"lease_expires_at": time.Now().Add(time.Second).UnixMilli()}) // its last frame
	room.closeAll(4001)
	tab.until(`document.body.dataset.connection === "lost"`)
	tab.step("over")
	for _, id := range []string{"ask", "market", "done", "cancel", "lost-turn"} {
		tab.hides(id)
	}
	require.Equal(t, "시간이 다 됐어요", tab.text("turn-title"))
	require.Contains(t, tab.text("turn-lead"), "그때까지 인증번호를 요청하지 마세요")
	tab.until(
		`document.title === "시간이 다 됐어요 · 인증 대기실" && document.querySelector("link[rel=icon]").href.endsWith("waiting.svg")`)
	tab.until(`document.activeElement.id === "turn-title"`)
	tab.hasText("say", "시간이 다 됐어요. 차례가 어떻게 됐는지 아직 확인하지 못했어요")
	require.Empty(t, tab.text("shout"))
}

// Support extends a turn that has just run out.
func TestTurnThatGoesOnAfterAllSaysSo(t *testing.T) {
	room, tab := expectTurn(t)
	room.push(t, object{"lease_expires_at": time.Now().Add(time.Second).UnixMilli()})
	tab.step("over")
	tab.hasText("say", "시간이 다 됐어요")
	room.push(t, turn(0))
	tab.step("ask")
	tab.hasText("say", "지금 차례예요")
}

func TestMarketplaceIsOpenedOnlyOnceTheAskCounts(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info.Marketplace = templates.MarketplaceInfo{Name: "마켓", URL: "https://market.example"}
	tab.before(opensTabs)
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	room.then(object{"code": "number_busy", "detail": "바빠요",
		"ask_after": rfc(time.Now().Add(10 * time.Minute).UnixMilli())})
	tab.do(chromedp.Click("#ask"))
	tab.step("busy")
	tab.until(`opened.join() === "tab,closed"`)
	room.then(nil)
	room.push(t, busyUntil(nil))
	tab.step("ask")
	tab.run(`(() => { window.fetched = window.fetch; ` + cutOff + `})()`)
	tab.do(chromedp.Click("#ask"))
	tab.until(
		`document.querySelector("[data-error=locked]").textContent.startsWith("서버에 연결하지 못했어요. 아직 인증번호를 요청하지 말고")`)
	tab.until(`opened.join() === "tab,closed,tab,closed"`)
	tab.run(`window.fetch = window.fetched; window.open = () => null`) // blocked
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
	tab.until(`document.activeElement.id === "market"`)
	tab.hasText("market-note", "새 창이 열리지 않았어요. 위 버튼을 눌러 이동해 주세요.")
	room.send(t, message("m-1", "인증번호 482103", "482103", 0))
	tab.step("code")
	require.Empty(t, tab.text("market-note"), "its button is gone")
}
