package templates_test

import (
	"fmt"
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

// touched returns the visible buttons whose edge is nearer than 4 px to a text: forced colours draw every edge.
const touched = `(() => {
	const onShow = (e) => e.checkVisibility() && !e.closest("dialog, .unseen, .skip");
	const texts = [...document.querySelectorAll("main *")].filter((e) => onShow(e) && !e.closest(".button, svg") &&
		[...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()));
	const near = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom + 4 && b.top < a.bottom + 4;
	return [...document.querySelectorAll("main .button")].filter(onShow).filter((button) =>
		texts.some((text) => near(text.getBoundingClientRect(), button.getBoundingClientRect()))).map((e) => e.id).join();
})()`

func TestEveryButtonCanBeReadInForcedColors(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{URL: "https://market.example"}, ReturnURL: "#back"}
	tab.do(forcedColors(true), chromedp.EmulateViewport(360, 740))
	tab.open(room, "ko")
	legible := func(step string) {
		t.Helper()
		tab.step(step)
		tab.until(pale + ` === ""`)
		tab.until(touched + ` === ""`)
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
	tab.do(chromedp.Click("#sms-whole summary"))
	tab.shows("sms-text")
	legible("code")
	room.push(t, ended("expired"))
	tab.until(`document.body.dataset.state === "ended"`)
	legible("")
}

func TestBarShowsTheTimeLeftInForcedColors(t *testing.T) {
	_, tab := expectTurn(t)
	tab.do(forcedColors(true))
	tab.until(`getComputedStyle(document.getElementById("time-bar")).borderTopWidth === "1px"`)
	tab.until(`((bar) => bar.value > 0 && bar.value < bar.max)(document.getElementById("time-bar"))`)
}

// disorder returns what is wrong with a turn's parts: the one thing to do stands above the time, all else below,
// outlined, and cancel as the last button, apart.
const disorder = `((task) => {
	const at = (id) => document.getElementById(id).getBoundingClientRect();
	const buttons = [...document.querySelectorAll("main .button")].filter((e) => e.getClientRects().length > 0);
	const below = buttons.slice(buttons.findIndex((e) => at(e.id).top > at("time-left").top));
	const full = (e) => getComputedStyle(e).backgroundColor === "rgb(255, 255, 255)";
	const plain = (e) => getComputedStyle(e).borderTopColor === "rgba(0, 0, 0, 0)";
	const wrong = [];
	if (buttons.filter(full).map((e) => e.id).join() !== task) wrong.push("primary: " + buttons.filter(full).map((e) => e.id));
	if (task && at(task).bottom > at("time-left").top) wrong.push(task + " is not above the time");
	if (below.at(-1).id !== "cancel") wrong.push(below.at(-1).id + " is last");
	if (below.filter(plain).map((e) => e.id).join() !== "cancel") wrong.push("not outlined: " + below.filter(plain).map((e) => e.id));
	if (at("cancel").top - at(below.at(-2).id).bottom < 16) wrong.push("cancel is not apart");
	return wrong.join();
})(%q)`

func TestTheOneThingToDoIsAboveTheTimeAndCancelIsLastAndApart(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{URL: "https://market.example"}}
	tab.do(chromedp.EmulateViewport(360, 740))
	tab.open(room, "ko")
	in := func(step, task string) {
		t.Helper()
		tab.step(step)
		tab.until(fmt.Sprintf(disorder, task) + ` === ""`)
	}
	claims, asked := turn(0), turn(0)
	claims["claim_by"] = time.Now().Add(time.Hour).UnixMilli()
	asked["codes"] = object{"asked": 1, "open": 1, "ask_after": nil}
	room.push(t, claims)
	in("claim", "claim")
	room.push(t, also(turn(0), object{"claim_by": nil}))
	in("ask", "ask")
	room.push(t, asked)
	in("asked", "market")
	room.send(t, message("a", "인증번호 000000", "000000", 0))
	in("code", "sms-copy")
	tab.rejects()
	in("again", "ask-again")
	tab.do(chromedp.Click("#ask-again"))
	in("asked", "market")
}

// uneven returns the visible buttons that are lower than another one in their row.
const uneven = `(() => {
	const buttons = [...document.querySelectorAll("main .button")].filter((e) => e.checkVisibility() && !e.closest("dialog"));
	const edges = (e) => e.getBoundingClientRect();
	return buttons.filter((a) => buttons.some((b) => edges(a).top < edges(b).bottom && edges(b).top < edges(a).bottom &&
		edges(a).height < edges(b).height - 1)).map((e) => e.id).join();
})()`

func TestButtonsOfARowAreEquallyHighInEveryLanguage(t *testing.T) {
	for _, lang := range templates.Languages() {
		room, tab := startFakeRoom(t), openBrowser(t)
		tab.do(chromedp.EmulateViewport(360, 740))
		tab.open(room, lang)
		asked := turn(0)
		asked["codes"] = object{"asked": 1, "open": 1, "ask_after": nil}
		room.push(t, asked)
		tab.step("asked")
		tab.until(uneven + ` === ""`)
		room.send(t, offer("m-1"))
		tab.shows("unclaimed")
		tab.until(uneven + ` === ""`)
	}
}

func TestButtonThatIsAloneHasTheWholeRow(t *testing.T) {
	room, tab := expectTurn(t)
	room.send(t, message("a", "인증번호 000000", "000000", 0))
	tab.step("code")
	tab.hides("ask-again")
	tab.until(`document.getElementById("cancel").offsetWidth === document.getElementById("done").offsetWidth`)
}
