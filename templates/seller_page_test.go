package templates_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

// place returns the fields of a state frame of a place in line.
func place(position int) object {
	return object{"status": "waiting", "outcome": nil, "ticket": 9, "queue_position": position,
		"queue_length": 6, "fence": nil, "codes": nil,
		"estimated_wait": 180, "maximum_wait": 300, "lease_expires_at": time.Now().Add(
			87 * time.Second).UnixMilli(), "claim_by": nil, "unclaimed": false}
}

func (b *browser) run(script string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](script + ";0"))
}

// before runs a script in each page opened from now on, before its own.
func (b *browser) before(script string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

func (b *browser) lifecycle(state cdppage.SetWebLifecycleStateState) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.SetWebLifecycleState, cdppage.SetWebLifecycleStateParams{State: state})
		return err
	}))
}

func forcedColors(on bool) browsertest.Action {
	value := map[bool]string{true: "active", false: "none"}[on]
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors",
				Value: value}}})
		return err
	})
}

func (r *fakeRoom) open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sockets)
}

func TestFrozenPageReportsItsAbsence(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	room.push(t, place(2))
	tab.until(`document.body.dataset.state === "waiting"`)
	tab.lifecycle(cdppage.SetWebLifecycleStateStateFrozen)
	require.Eventually(t, func() bool { return room.open() == 0 }, 60*time.Second, 10*time.Millisecond)
	tab.lifecycle(cdppage.SetWebLifecycleStateStateActive)
	require.Eventually(t, func() bool { return room.open() == 1 }, 60*time.Second, 10*time.Millisecond)
	tab.until(`document.body.dataset.connection === "open"`)
}

func TestScreenStaysOnWhileThereIsSomethingToWaitFor(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(`window.held = 0;
		Object.defineProperty(navigator, "wakeLock", { value: { request: async (what) => {
			held += 1;
			const lock = new EventTarget();
			lock.release = async () => { held -= 1; lock.dispatchEvent(new Event("release")); };
			return lock;
		} } });`)
	tab.open(room, "ko")
	tab.until(`held === 0`)
	room.push(t, place(2))
	tab.until(`held === 1 && document.getElementById("screen-state").textContent === "켜짐"`)
	room.push(t, turn(0))
	room.push(t, ended("expired"))
	tab.until(`document.body.dataset.state === "ended" && held === 0`)
}

func TestPlaceIsKeptForAsLongAsThePageShows(t *testing.T) {
	view := everyState()["waiting"]
	keep := func() string { return between(t, render(t, templates.RoomPage(view)), `id="keep">`, "</p>") }
	require.NotRegexp(t, `15초|5분`, keep(), "what is not known is not shown")
	view.AwaySeconds, view.DropSeconds, view.ClaimSeconds = 15, 300, 20
	require.Contains(t, keep(), "15초 넘게 닫아 두면 차례를 건너뛰어요. 5분 안에 돌아오면 순서는 그대로예요. 차례가 오면 20초 안에 "+
		"‘저\u00a0여기\u00a0있어요’를 눌러 주세요.")
	require.Contains(t, between(t, render(t, templates.RoomPage(view)), `id="keep">`, `class="leave"`),
		"<noscript><p class=\"note\">이 화면을 닫아도 차례는 와요. 차례가 오면 2분 안에 인증해야 해요.")
	require.Contains(t, between(t, render(t, templates.RoomPage(view)), `id="lost-lead"`, `id="lost-long"`),
		"5분 안에 돌아오면 순서가 그대로예요")
	dropped := everyState()["ended"]
	dropped.Outcome, dropped.DropSeconds = "dropped", 300
	require.Contains(t, between(t, render(t, templates.RoomPage(dropped)), `id="outcome-lead">`, "</p>"),
		"5분 안에 돌아와야")
}

func TestSellerPassedOverSeesIt(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.AwaySeconds = 1
	tab.open(room, "ko")
	room.push(t, place(1))
	tab.until(`document.body.dataset.next === "true"`)
	tab.lifecycle(cdppage.SetWebLifecycleStateStateFrozen)
	require.Eventually(t, func() bool { return room.open() == 0 }, 60*time.Second, 10*time.Millisecond)
	room.at = time.Now().Add(time.Minute).UnixMilli()
	room.change(object{"lease_expires_at": room.at + 100_700}) // another's turn
	tab.lifecycle(cdppage.SetWebLifecycleStateStateActive)
	tab.hasText("notice", "자리를 비운 사이 다음 분이 먼저 시작했어요")
}

// As where a network drops every packet.
func TestSellerPassedOverBehindADeadConnectionSeesIt(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.AwaySeconds = 15
	tab.before(
		`window.skip = 0; const real = performance.now.bind(performance); performance.now = () => real() + skip`)
	tab.open(room, "ko")
	room.push(t, place(1))
	tab.until(`document.body.dataset.next === "true"`)
	room.at = time.Now().Add(time.Minute).UnixMilli()
	// another seller's turn began 40 s ago, 20 s after the page's last frame
	room.change(object{"lease_expires_at": room.at + 80_700})
	tab.run(`skip = 60_000; dispatchEvent(new Event("online"))`)
	tab.hasText("notice", "자리를 비운 사이 다음 분이 먼저 시작했어요")
}

func TestSoundIsOnOnlyAfterAPress(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.change(place(2))
	tab.open(room, "ko")
	require.Equal(t, "꺼짐", tab.text("sound-state"))
	tab.do(chromedp.Click("#sound-test"))
	tab.hasText("sound-state", "켜짐")
	require.Equal(t, "들어보기", tab.text("sound-test"))
	tab.open(room, "ko")
	require.Equal(t, "꺼짐", tab.text("sound-state"), "it has to be armed again")
	require.Equal(t, "켜기", tab.text("sound-test"))
}

// A telephone call stops the sound of an iPhone's page, whose state is then "interrupted" and which may not
// answer a resume.
func TestSoundThatCannotBePlayedIsShown(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(`window.AudioContext = class extends AudioContext {
		constructor() { super(); window.sound = this; }
		get state() { return window.call ? "interrupted" : super.state; }
		resume() { return window.call ? new Promise(() => {}) : super.resume(); }
	}`)
	room.change(place(2))
	tab.open(room, "ko")
	tab.do(chromedp.Click("#sound-test"))
	tab.hasText("sound-state", "켜짐")
	tab.run(`call = true; sound.dispatchEvent(new Event("statechange"))`)
	tab.hasText("sound-state", "소리를 낼 수 없어요")
	require.Equal(t, "켜기", tab.text("sound-test"))
	tab.run(`call = false`)
	tab.do(chromedp.Click("#sound-test"))
	tab.hasText("sound-state", "켜짐")

	tab.before(`window.AudioContext = undefined`)
	tab.open(room, "ko")
	tab.do(chromedp.Click("#sound-test"))
	tab.hasText("sound-state", "소리를 낼 수 없어요")
}

// Safari on iOS has notifications only on a page that was opened from the Home Screen;
// navigator.standalone is true there.
func TestPageOnAnIPhoneShowsHowToGetNotifications(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info.Name = "스마트 공방"
	tab.before(`delete window.Notification; Navigator.prototype.standalone = false`)
	room.change(place(2))
	tab.open(room, "ko")
	tab.hasText("notify-note", "iPhone·iPad에서는 ‘공유 → 홈 화면에 추가’로 연 화면에서만 알림이 와요 (iOS 16.4부터)")
	tab.hides("notify")
	tab.until(`document.querySelector("link[rel=manifest]").href.endsWith("/icons/app.webmanifest")
		&& document.querySelector("link[rel=apple-touch-icon]").href.endsWith("/icons/app-180.png")
		&& document.querySelector("meta[name=apple-mobile-web-app-title]").content === "스마트 공방"`)
}

func TestDoneBeforeACodeHasComeAsksFirst(t *testing.T) {
	room, tab := expectTurn(t)
	tab.do(chromedp.Click("#done"))
	tab.shows("done-confirm")
	require.Empty(t, room.made())
	tab.do(chromedp.Click("#done-stay"))
	tab.hides("done-confirm")
	room.then(ended("completed"))
	tab.do(chromedp.Click("#done"), chromedp.WaitVisible("#done-confirm"), chromedp.Click("#done-confirm"))
	tab.until(`document.body.dataset.state === "ended"`)
}

// A hidden page draws nothing: its announcements wait until the seller is back.
func TestTurnThatCameAndWentUnseenIsNotAnnouncedAsCurrent(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	tab.run(`window.frames_ = new Map(); let n = 0;
		window.requestAnimationFrame = (f) => { frames_.set(++n, f); return n; };
		window.cancelAnimationFrame = (n) => frames_.delete(n)`)
	shout := `document.getElementById("shout").textContent`
	room.push(t, place(1))
	room.push(t, turn(0))
	tab.step("ask")
	room.push(t, ended("expired"))
	tab.until(`document.body.dataset.state === "ended"`)
	tab.run(`for (const frame of frames_.values()) frame(0)`)
	tab.until(shout + ` === ""`)

	tab.run(`frames_.clear()`)
	over := turn(0)
	over["ticket"], over["fence"], over["lease_expires_at"] = 10, 78, time.Now().Add(-time.Minute).UnixMilli()
	room.push(t, over)
	tab.step("over")
	tab.run(`for (const frame of frames_.values()) frame(0)`)
	tab.until(shout + ` === ""`)
}

func TestForcedColorsHideNothing(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.do(forcedColors(true), chromedp.EmulateViewport(360, 640))
	tab.open(room, "ko")
	style := func(selector, property string) string {
		return fmt.Sprintf(`getComputedStyle(document.querySelector(%q)).%s`, selector, property)
	}
	tab.until(style(".mark", "forcedColorAdjust") + ` === "none"`)
	tab.until(style(".dot", "backgroundColor") + ` !== ` + style("body", "backgroundColor"))
	room.push(t, place(4))
	tab.until(`document.body.dataset.state === "waiting"`)
	tab.until(style("progress", "borderTopWidth") + ` === "1px"`)
	tab.until(
		`document.querySelector(".hero-label").getBoundingClientRect().bottom <= document.querySelector(".hero-line").getBoundingClientRect().top + 1`)
	room.push(t, turn(0))
	tab.step("ask")
	tab.until(style("#time-bar", "borderTopWidth") + ` === "1px"`)
}

func TestLongTextLeavesTimeAndButtonsOnAPhone(t *testing.T) {
	room, tab := expectTurn(t)
	tab.do(chromedp.EmulateViewport(360, 640), chromedp.Click("#ask"))
	tab.step("asked")
	long := ""
	for range 40 {
		long += "길고 긴 광고 문자예요. "
	}
	onScreen := func(id string) {
		t.Helper()
		tab.until(
			fmt.Sprintf(
				`(({ top, bottom, height }) => height > 0 && top >= 0 && bottom <= 640)(document.getElementById(%q).getBoundingClientRect())`, id))
	}
	room.send(t, message("a", long, nil, 0))
	tab.step("text")
	onScreen("countdown")
	onScreen("ask-again")
	room.send(t, message("b", long+"인증번호 000000", "000000", 0))
	tab.step("code")
	for _, id := range []string{"sms-code", "countdown", "done"} {
		onScreen(id)
	}
}

func TestSpacePressesLinksThatLookLikeButtons(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info.ReturnURL = "#back"
	room.change(place(2))
	tab.open(room, "ko")
	tab.do(chromedp.Click("#leave"))
	tab.shows("leave-stay")
	tab.until(`document.getElementById("leave-stay").localName === "button"`)
	tab.run(`document.getElementById("leave-stay").focus()`)
	tab.do(chromedp.KeyEvent(" "))
	tab.hides("leave-stay")
	room.push(t, ended("completed"))
	tab.shows("return")
	tab.run(`document.getElementById("return").focus()`)
	tab.do(chromedp.KeyEvent(" "))
	tab.until(`location.hash === "#back"`)
}

func TestPageThatCannotBeShownNowOffersToTryAgain(t *testing.T) {
	sorry := func(code string) string {
		return between(t,
			render(t,
				templates.ErrorPage(templates.ErrorView{Lang: "ko", Code: code, Room: "integration"})),
			`<form method="get" action="/rooms/integration">`, "</form>")
	}
	require.Contains(t, sorry("store_unavailable"), "다시 시도하기")
	require.Contains(t, sorry("unknown_room"), "대기실로 돌아가기")
}

// After a reload the page does not know since when its place has been at this position, which may be a
// minute.
func TestAnOldTimeIsNeverShownAsJustNow(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	for lang, now := range map[string]string{"ko": "방금", "en": `\b[Jj]ust\b|moment ago`} {
		room.change(place(4))
		tab.open(room, lang)
		room.push(t, object{"server_time": time.Now().Add(65 * time.Second).UnixMilli(), "queue_length": 6})
		tab.until(
			`document.body.dataset.state === "waiting" && document.getElementById("passed").textContent !== ""`)
		tab.until(
			fmt.Sprintf(`!new RegExp(%q).test(document.querySelector("section[data-panel=waiting]").innerText)`, now))
	}
}

// This happens behind a load balancer while replicas are upgraded.
func TestPageWhoseScriptIsAnotherVersionsIsLoadedAgainUntilBothAreOfOne(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(
		`const real = setTimeout; window.setTimeout = (f, ms) => real(f, ms < 10000 ? Math.min(ms, 50) : ms)`)
	room.others = 2
	tab.open(room, "ko")
	require.Zero(t, room.others)
	require.Equal(t, "3명이 기다려요", tab.text("queue-length"))
}

func TestRefusalNamesTheErrorAndItsSubject(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	invalid := `document.getElementById("seller-id").getAttribute("aria-invalid") === "true"`
	for code, wrong := range map[string]bool{"room_full": false, "seller_has_place": false,
		"invalid_seller": true} {
		room.then(object{"code": code, "detail": "말 " + code, "http": 400})
		tab.run(`document.getElementById("seller-id").value = "s-1"`)
		tab.do(chromedp.Click("#join"))
		tab.hasText("error", "말 "+code)
		tab.until(fmt.Sprintf(`(%s) === %v`, invalid, wrong))
	}
	// shorten every wait but the one for a silent socket
	tab.before(
		`window.fetch = () => Promise.reject(new TypeError("no network")); const real = setTimeout; window.setTimeout = (f, ms) => real(f, ms < 10000 ? Math.min(ms, 50) : ms)`)
	room.change(place(2))
	tab.open(room, "ko")
	// after the reconnect, the earlier refusal is no longer shown
	tab.until(`document.body.dataset.connection === "open"`)
	tab.do(chromedp.Click("#leave"), chromedp.WaitVisible("#leave-confirm"), chromedp.Click("#leave-confirm"))
	tab.until(`document.querySelector("[data-error=waiting]").textContent === "연결이 끊겨 있어요. 다시 연결되면 바로 보낼게요."`)
	room.push(t, object{"status": "idle", "ticket": nil, "queue_position": nil})
	tab.until(`document.body.dataset.state === "idle"`)
	tab.run(`document.getElementById("seller-id").value = "s-1"`)
	tab.do(chromedp.Click("#join"))
	tab.hasText("error", "여러 번 눌러도 순서는 하나예요")
}

func TestLanguageIsOneEntryOfTheHistory(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	tab.until(`location.search === ""`)
	length := read(t, tab.ctx, `String(history.length)`)
	tab.do(chromedp.Click("#lang summary"), chromedp.Click(`#lang a[hreflang="en"]`))
	tab.until(
		`document.documentElement?.lang === "en" && document.body?.dataset.connection === "open" && location.search === ""`)
	require.Equal(t, length, read(t, tab.ctx, `String(history.length)`),
		"back does not lead to the old language")

	tab.do(chromedp.SendKeys("#seller-id", "half-typed"), chromedp.Click("#lang summary"),
		chromedp.Click(`#lang a[hreflang="ko"]`))
	tab.until(
		`document.documentElement?.lang === "ko" && document.getElementById("seller-id")?.value === "half-typed"`)
	tab.open(room, "ko")
	tab.until(`document.getElementById("seller-id")?.value === ""`)
}

func TestNothingKeepsPeopleOutOfTheSellersPage(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Name: "마켓 연동", Phone: "010-0000-0000",
		Support:     templates.SupportInfo{Text: "센터", URL: "https://help.example", Tel: "1500"},
		Marketplace: templates.MarketplaceInfo{URL: "https://market.example"}, ReturnURL: "https://portal.example"}
	tab.open(room, "ko")
	missed, mine, asked, hurry := place(1), turn(0), turn(0), turn(0)
	missed["unclaimed"], mine["claim_by"] = true, time.Now().Add(5*time.Minute).UnixMilli()
	asked["codes"], asked["claim_by"] = object{"asked": 1, "open": 1, "ask_after": nil}, nil
	hurry["lease_expires_at"], hurry["claim_by"] = time.Now().Add(25*time.Second).UnixMilli(), nil
	for _, state := range []object{{}, place(3), place(1), missed, mine, asked, hurry, ended("completed")} {
		room.push(t, state)
		if state["fence"] != nil && state["claim_by"] == nil {
			room.send(t, message("a", "인증번호 000000", "000000", 0))
		}
		tab.until(fmt.Sprintf(`document.body.dataset.state === %q`, room.state["status"]))
		tab.do(browsertest.Viewport(360, 740, false, true))
		found, err := browsertest.Axe(tab.ctx)
		require.NoError(t, err)
		require.Empty(t, found, "%v", state)
		tab.do(browsertest.Viewport(360, 740, true, true))
		found, err = browsertest.Axe(tab.ctx, "color-contrast")
		require.NoError(t, err)
		require.Empty(t, found, "%v, dark", state)
	}
	outside := `[...document.body.children].filter((e) => !e.matches("header, main, footer, section[aria-labelledby], .skip, [role=status], [role=alert], script")).length === 0`
	tab.until(outside + ` && document.querySelectorAll("main aside").length === 0`)
}

func TestRefusalOfAStoreThatWasAwayAsksForANewPressWhenItIsBack(t *testing.T) {
	room, tab := expectTurn(t)
	shown := fmt.Sprintf(`document.querySelector("[data-error=locked]").textContent === %q`, "대기실에 닿지 않아요")
	quiet := `document.querySelector("[data-error=locked]").textContent.startsWith("다시 연결됐어요.")`
	fresh := object{"type": "ping", "server_time": time.Now().UnixMilli()}
	away := func() {
		t.Helper()
		tab.run(
			`{ const real = setTimeout; window.setTimeout = (f, ms, ...rest) => real(f, ms > 500 && ms < 10000 ? 5 : ms, ...rest) }`)
		room.then(object{"code": "store_unavailable", "detail": "대기실에 닿지 않아요", "http": 503})
		tab.do(chromedp.Click("#ask"))
		tab.until(shown)
	}
	away()
	room.send(t, object{"type": "ping", "server_time": time.Now().UnixMilli(),
		"as_of": time.Now().UnixMilli() - 9000})
	tab.until(`document.body.dataset.connection === "stale"`)
	tab.until(shown)
	room.send(t, fresh)
	tab.until(quiet)

	away()
	room.closeAll(4002)
	tab.until(`document.body.dataset.connection === "open"`)
	tab.until(quiet)

	room.then(object{"code": "too_many_asks", "detail": "더 요청할 수 없어요"})
	tab.do(chromedp.Click("#ask"))
	tab.until(`document.querySelector("[data-error=locked]").textContent === "더 요청할 수 없어요"`)
	room.send(t, fresh)
	// The page may reconnect before the test looks.
	tab.run(
		`{ const watch = new MutationObserver(() => { window.wasLost ||= document.body.dataset.connection === "lost" }); watch.observe(document.body, { attributes: true }) }`)
	room.closeAll(4002)
	tab.until(`window.wasLost === true && document.body.dataset.connection === "open"`)
	tab.until(`document.querySelector("[data-error=locked]").textContent === "더 요청할 수 없어요"`)
}
