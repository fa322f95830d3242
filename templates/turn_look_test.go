package templates_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/waitroom/waitroom/templates"
)

// pale returns the visible buttons whose text has too little contrast.
const pale = `(() => {
	const parts = (color) => color.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => { const c = e ? parts(getComputedStyle(e).backgroundColor) : [255, 255, 255]; return c[3] === 0 ? behind(e.parentElement) : c; };
	return [...document.querySelectorAll(".button")].filter((e) => e.checkVisibility() && !e.closest("dialog")).filter((e) => {
		const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))];
		return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
	}).map((e) => e.id).join();
})()`

func TestEveryButtonCanBeReadInForcedColors(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{URL: "https://market.example"}, ReturnURL: "#back"}
	tab.do(forcedColors(true))
	tab.open(room, "ko")
	legible := func(step string) {
		t.Helper()
		tab.step(step)
		tab.until(pale + ` === ""`)
	}
	legible("")
	room.push(t, turn(0))
	legible("ask")
	room.send(t, offer("m-1"))
	tab.shows("unclaimed")
	legible("ask")
	asked := turn(0)
	asked["codes"] = object{"asked": 1, "open": 1, "ask_after": nil}
	room.push(t, asked)
	legible("asked")
	room.send(t, message("a", "인증번호 000000", "000000", 0))
	legible("code")
	room.push(t, ended("expired"))
	tab.until(`document.body.dataset.state === "ended"`)
	legible("")
}

func TestRingShowsTheTimeLeftInForcedColors(t *testing.T) {
	_, tab := expectTurn(t)
	tab.do(forcedColors(true))
	tab.until(
		`["track", "left"].map((part) => parseFloat(getComputedStyle(document.querySelector(".dial-" + part)).strokeWidth)).reduce((track, left) => track * 3 <= left)`)
}

// crossing returns the parts of the ring's label that lie on the ring or beyond it.
const crossing = `(() => {
	const ring = document.querySelector(".dial svg").getBoundingClientRect();
	const [x, y, inner] = [ring.x + ring.width / 2, ring.y + ring.height / 2, ring.width * 51 / 120];
	const text = document.createRange();
	text.selectNodeContents(document.getElementById("time-left"));
	return [...text.getClientRects()].filter((r) => [r.left, r.right].some((at) => Math.hypot(at - x, r.top + 3 - y) > inner)).length;
})()`

func TestLabelOfTheRingStaysInItInAnyLanguage(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	claims := turn(0)
	claims["claim_by"] = time.Now().Add(time.Hour).UnixMilli()
	tab.do(chromedp.EmulateViewport(360, 640))
	for _, lang := range templates.Languages() {
		room.change(object{"status": "idle", "fence": nil, "claim_by": nil})
		tab.open(room, lang)
		tab.until(`document.documentElement.lang === "` + lang + `"`)
		room.push(t, claims)
		tab.step("claim")
		tab.until(crossing + ` === 0`)
	}
}

func TestButtonThatIsAloneHasTheWholeRow(t *testing.T) {
	room, tab := expectTurn(t)
	room.send(t, message("a", "인증번호 000000", "000000", 0))
	tab.step("code")
	tab.hides("ask-again")
	tab.until(`document.getElementById("cancel").offsetWidth === document.getElementById("done").offsetWidth`)
}
