package templates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

// unplugged makes every request fail while window.noNetwork is true, and shortens the page's waits between
// retries.
const unplugged = `{ const fetched = window.fetch;
	window.fetch = (...what) => window.noNetwork ? Promise.reject(new TypeError("no network")) : fetched(...what);
	const real = setTimeout; window.setTimeout = (f, ms, ...rest) => real(f, ms < 10000 ? Math.min(ms, 30) : ms, ...rest) }`

const keptWords = "연결이 끊겨 있어요. 다시 연결되면 바로 보낼게요."

// cut disconnects a page; plug reconnects it.
func cut(room *fakeRoom, tab *browser) (plug func()) {
	tab.t.Helper()
	tab.run(`window.noNetwork = true`)
	letIn := room.shutOut()
	room.closeAll(4001)
	tab.until(`document.body.dataset.connection === "lost"`)
	return func() {
		tab.run(`window.noNetwork = false`)
		letIn()
	}
}

// confirm presses a button and then one that answers its question, by a script: a page that has just lost its
// connection moves under a mouse.
func confirm(tab *browser, opener, yes string) {
	tab.t.Helper()
	tab.run(fmt.Sprintf("document.getElementById(%q).click()", opener))
	tab.until(fmt.Sprintf("document.getElementById(%q).getClientRects().length > 0", yes))
	tab.run(fmt.Sprintf("document.getElementById(%q).click()", yes))
}

// Each of these buttons ends something, so a seller who closes the page after pressing must not stay in line.
func TestPressWithoutAConnectionIsBusyAtOnceAndSentWhenItIsBack(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	for opener, c := range map[string]struct {
		yes, sent string
		state     func() object
	}{
		"leave": {"leave", "DELETE /api/integration/lock?reason=cancelled ", func() object {
			return place(2)
		}},
		"cancel": {"leave", "DELETE /api/integration/lock?reason=cancelled&fence=77 ", func() object {
			return turn(0)
		}},
		"done": {"done", "DELETE /api/integration/lock?reason=completed&fence=77 ", func() object {
			return turn(0)
		}},
		"sms-reject": {"reject", "POST /api/integration/lock/reject ", func() object { return turn(0) }},
	} {
		room.change(object{"claim_by": nil, "outcome": nil})
		room.change(c.state())
		tab.before(unplugged)
		tab.open(room, "ko")
		if opener == "sms-reject" {
			room.send(t, message("m-"+opener, "인증번호 000000", "000000", 0))
			tab.shows("sms-reject")
		}
		plug := cut(room, tab)
		calls := len(room.made())
		confirm(tab, opener, c.yes+"-confirm")
		tab.until(fmt.Sprintf(`document.getElementById(%q).getAttribute("aria-busy") === "true"`, opener))
		shown := fmt.Sprintf(`[...document.querySelectorAll("[data-error]")].some((e) => e.textContent === %q)`,
			keptWords)
		tab.until(shown)
		require.Len(t, room.made(), calls, "nothing came through")
		room.then(ended("cancelled"))
		plug()
		tab.until(`!document.querySelector("[aria-busy]") && !(` + shown + `)`)
		require.Equal(t, c.sent, room.lastCall())
	}
}

func TestLeaveOfAPlaceThatIsOverIsNotSent(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.change(place(2))
	tab.before(unplugged)
	tab.open(room, "ko")
	plug := cut(room, tab)
	confirm(tab, "leave", "leave-confirm")
	tab.until(`document.getElementById("leave").getAttribute("aria-busy") === "true"`)
	room.change(ended("removed"))
	tab.run(`window.noNetwork = true`)
	letIn := plug
	letIn()
	tab.until(`document.body.dataset.state === "ended" && !document.querySelector("[aria-busy]")`)
}

func TestAPressBesideAnUnansweredOneShowsTheReason(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.change(turn(0))
	tab.before(unplugged)
	tab.open(room, "ko")
	cut(room, tab)
	confirm(tab, "cancel", "leave-confirm")
	tab.until(`document.getElementById("cancel").getAttribute("aria-busy") === "true"`)
	tab.run(`document.getElementById("ask").click()`)
	tab.until(
		`[...document.querySelectorAll("[data-error=locked]")].some((e) => e.textContent.startsWith("앞서 누른 요청을 보내고 있어요"))`)
}

func TestAPressShowsEveryThrownError(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	const wrong = "처리하지 못했어요. 잠시 뒤 다시 눌러 주세요."
	breaks := `JSON.stringify = () => { throw new RangeError("broken") }`
	tab.run(`document.getElementById("seller-id").value = "s-1"`)
	tab.run(`{ window.whole = JSON.stringify; ` + breaks + ` }`)
	tab.run(`document.getElementById("join").click()`)
	tab.until(`document.getElementById("error").textContent === "` + wrong +
		`" && !document.querySelector("[aria-busy]")`)
	tab.run(`JSON.stringify = window.whole`)

	room.push(t, turn(0))
	tab.step("ask")
	tab.run(breaks)
	tab.run(`document.getElementById("ask").click()`)
	tab.until(`document.querySelector("[data-error=locked]").textContent === "` + wrong + `"`)
	tab.run(`fetch = undefined; document.getElementById("link-make").click()`)
	tab.until(`document.getElementById("link-error").textContent !== ""`)
}

// asIOS15 removes the APIs that Safari and iOS 15.0 do not have, as far as a page could use them.
const asIOS15 = `{
	const gone = (from, ...names) => { for (const name of names) if (from) delete from[name]; };
	gone(AbortSignal, "timeout", "any");
	gone(AbortSignal.prototype, "throwIfAborted");
	gone(window, "structuredClone", "reportError", "BroadcastChannel", "requestIdleCallback", "Notification", "scheduler", "navigation", "SharedWorker", "PushManager");
	gone(Array, "fromAsync");
	gone(Array.prototype, "at", "findLast", "findLastIndex", "toReversed", "toSorted", "toSpliced", "with");
	gone(String.prototype, "at", "isWellFormed", "toWellFormed");
	for (const list of [Int8Array, Uint8Array]) gone(Object.getPrototypeOf(list).prototype, "at", "findLast", "toReversed", "toSorted", "with");
	gone(Object, "hasOwn", "groupBy");
	gone(Map, "groupBy");
	gone(Set.prototype, "union", "intersection", "difference", "isSubsetOf");
	gone(Promise, "withResolvers", "try");
	gone(URL, "canParse", "parse");
	gone(Crypto.prototype, "randomUUID");
	gone(SubmitEvent.prototype, "submitter");
	gone(HTMLFormElement.prototype, "requestSubmit");
	gone(HTMLDialogElement.prototype, "showModal", "show", "close", "open", "returnValue", "requestClose");
	gone(HTMLElement.prototype, "inert", "popover", "showPopover", "hidePopover", "togglePopover");
	gone(Element.prototype, "checkVisibility", "setHTML", "moveBefore");
	gone(Navigator.prototype, "userActivation", "wakeLock", "vibrate", "locks", "setAppBadge", "connection");
}`

func TestASellerComesThroughATurnWithWhatIOS15Has(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(asIOS15)
	tab.open(room, "ko")
	room.then(place(2))
	tab.do(chromedp.SendKeys("#seller-id", "s-1"), chromedp.Click("#join"))
	tab.until(`document.body.dataset.state === "waiting"`)
	confirm(tab, "leave", "leave-stay")
	tab.hides("leave-dialog")

	room.push(t, turn(0))
	tab.step("ask")
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
	tab.do(chromedp.Click("#ask-again"))
	tab.until(`!document.querySelector("[aria-busy]")`)
	require.Equal(t, "POST /api/integration/lock/expect ", room.lastCall())
	room.send(t, message("m", "인증번호 482103", "482103", 0))
	tab.step("code")
	tab.do(chromedp.Click("#sms-copy"))
	tab.until(`document.getElementById("sms-note").textContent !== ""`)
	confirm(tab, "sms-reject", "reject-stay")
	room.then(ended("completed"))
	tab.do(chromedp.Click("#done"))
	tab.until(`document.body.dataset.state === "ended"`)
	tab.requireQuiet()
}

// Android's WebViews refuse the clipboard's interface always.
func TestCopyingWorksWhereTheClipboardIsDenied(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info.Phone = "010-2345-6789"
	tab.before(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async () => { throw new Error("denied"); } } });
		addEventListener("copy", () => (window.copied = getSelection().toString()))`)
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	tab.do(chromedp.Click("#number-copy"))
	tab.hasText("number-copy", "복사했어요")
	tab.until(`window.copied === "010-2345-6789"`)
	room.send(t, message("m", "인증번호 482103", "482103", 0))
	tab.step("code")
	tab.do(chromedp.Click("#sms-copy"))
	tab.hasText("sms-copy", "복사했어요")
	tab.until(`window.copied === "482103" && document.activeElement.id === "sms-copy"`)
	tab.requireQuiet()
}

// look returns how a button is drawn: "primary" in the page's own colour, "second" with a border or a
// background, "quiet" with neither, "" if hidden.
const look = `(id) => {
	const button = document.getElementById(id);
	if (!button || button.getClientRects().length === 0) return "";
	const { backgroundColor: ground, borderTopColor: line } = getComputedStyle(button);
	const none = "rgba(0, 0, 0, 0)";
	if (ground === getComputedStyle(document.getElementById("accent-probe")).color) return "primary";
	return ground === none && line === none ? "quiet" : "second";
}`

func TestWhileACodeIsOnShowToCopyItIsTheButtonAndTheMarketplaceTheSecond(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Marketplace: templates.MarketplaceInfo{Name: "마켓",
		URL: "https://market.example"}, ReturnURL: "https://portal.example"}
	tab.open(room, "ko")
	looks := func(want string) {
		t.Helper()
		tab.until(fmt.Sprintf(`(() => {
			const probe = document.getElementById("accent-probe") ?? document.querySelector("main").appendChild(Object.assign(document.createElement("i"), { id: "accent-probe" }));
			probe.style.color = "var(--accent)";
			const look = %s;
			return ["sms-copy", "sms-market", "market", "done", "cancel", "entered", "return", "join"].map((id) => id + ":" + look(id)).join(" ") === %q;
		})()`, look, want))
	}
	room.push(t, turn(0))
	tab.step("ask")
	room.send(t, message("m", "인증번호 482103", "482103", 0))
	tab.step("code")
	looks("sms-copy:primary sms-market:second market: done:second cancel:quiet entered: return: join:")
	require.Equal(t, "인증번호 복사", tab.text("sms-copy"))
	require.Equal(t, "마켓 열기", tab.text("sms-market"))
	room.push(t, ended("completed")) // by the code
	tab.hasText("outcome", "인증번호가 도착했어요")
	looks("sms-copy:primary sms-market:second market: done: cancel: entered:second return:quiet join:quiet")

	tab.do(chromedp.Click("#entered"))
	looks("sms-copy: sms-market: market: done: cancel: entered: return:primary join:second")

	room.push(t, object{"status": "locked", "ticket": 10, "fence": 78,
		"lease_expires_at": time.Now().Add(time.Minute).UnixMilli()})
	tab.step("ask")
	room.push(t, ended("cancelled"))
	looks("sms-copy: sms-market: market: done: cancel: entered: return:primary join:second")
}
