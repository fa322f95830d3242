package templates_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

func TestPageClaimsForAPresentSellerAndElseTheSellerDoes(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	mine := turn(0)
	mine["claim_by"] = time.Now().Add(5 * time.Minute).UnixMilli()
	room.push(t, mine)
	tab.step("claim")
	tab.shows("claim")
	tab.hides("ask")
	tab.until(`/^(5:00|4:\d\d)$/.test(document.getElementById("countdown").textContent)`)
	tab.hasText("shout", "‘저 여기 있어요’를 눌러 주세요")
	require.Empty(t, room.made(), "the page was not touched")
	room.then(object{"claim_by": nil})
	tab.run(`document.getElementById("claim").click()`)
	tab.step("ask")
	require.Equal(t, "POST /api/integration/lock/claim ", room.lastCall())
	require.Equal(t, object{"fence": 77.0}, room.last().body)

	missed := place(1)
	missed["unclaimed"] = true
	room.push(t, missed)
	tab.shows("back")
	tab.until(`document.body.dataset.missed === "true"`)
	room.then(object{"unclaimed": false})
	tab.do(chromedp.Click("#back"))
	tab.hides("back")
	require.Equal(t, object{}, room.last().body, "it holds no lease to name")

	next := turn(0)
	next["fence"], next["claim_by"] = 78, time.Now().Add(5*time.Minute).UnixMilli()
	room.then(object{"claim_by": nil})
	calls := len(room.made())
	room.push(t, next)
	tab.step("ask")
	require.Len(t, room.made(), calls+1, "who has just pressed is there")
	require.Equal(t, object{"fence": 78.0}, room.last().body)
}

func TestPresentSellerIsNotAskedToPressTheClaim(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(`window.shouted = []; const real = fetch; window.fetch = (...asked) => new Promise((go) => setTimeout(go, 300)).then(() => real(...asked)); addEventListener("DOMContentLoaded", () => {
		const shout = document.getElementById("shout");
		new MutationObserver(() => shout.textContent && shouted.push(shout.textContent)).observe(shout, { childList: true, characterData: true, subtree: true });
	})`)
	tab.open(room, "ko")
	room.push(t, place(1))
	tab.until(`document.body.dataset.next === "true"`)
	tab.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 10, 10),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 20, 20))
	mine := turn(0)
	mine["claim_by"] = time.Now().Add(5 * time.Minute).UnixMilli()
	room.then(object{"claim_by": nil})
	room.push(t, mine)
	tab.step("ask")
	tab.hasText("shout", "안에 인증해 주세요")
	tab.until(`shouted.length > 0 && !shouted.some((shown) => shown.includes("저 여기 있어요"))`)

	room.push(t, place(1))
	tab.until(`document.body.dataset.state === "waiting"`)
	browsertest.AllowErrors(tab.ctx, "the server responded with a status of")
	room.then(object{"code": "store_unavailable", "http": 503})
	again := turn(0)
	again["fence"], again["claim_by"] = 78, time.Now().Add(5*time.Minute).UnixMilli()
	room.push(t, again)
	tab.hasText("shout", "‘저 여기 있어요’를 눌러 주세요") // the page could not claim for them
	tab.shows("claim")
}

func TestMouseThatLiesStillOnThePageIsNoPresence(t *testing.T) {
	pen := func(p *input.DispatchMouseEventParams) { p.PointerType = input.DispatchMouseEventPointerTypePen }
	for name, use := range map[string]browsertest.Action{
		"a mouse that moves":  chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 10, 10),
		"a pen over the page": chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 0, 0, pen),
	} {
		t.Run(name+" is somebody", func(t *testing.T) {
			room, tab := startFakeRoom(t), openBrowser(t)
			tab.before(`window.moves = 0; addEventListener("pointermove", () => { moves++ })`)
			tab.open(room, "ko")
			mine := turn(0)
			mine["claim_by"] = time.Now().Add(5 * time.Minute).UnixMilli()
			room.push(t, mine)
			tab.step("claim")
			// Chromium's mouse is here from the start, so this event moves nothing
			still := chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 0, 0)
			tab.do(still, still)
			tab.until(`moves >= 2`)
			tab.step("claim")
			require.Empty(t, room.made())
			room.then(object{"claim_by": nil})
			tab.do(use)
			tab.step("ask")
			require.Equal(t, object{"fence": 77.0}, room.last().body)
		})
	}
}

func TestMissedTurnShowsTheDeadlineAndTheEffectOfASecondOne(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.AwaySeconds, room.view.DropSeconds = 5, 45
	room.change(place(1))
	tab.do(inZone("Asia/Seoul"))
	tab.open(room, "ko")
	mine := turn(0)
	by := time.Now().Add(5 * time.Minute)
	mine["claim_by"] = by.UnixMilli()
	room.push(t, mine)
	tab.step("claim")
	missed := place(1)
	missed["unclaimed"], missed["lease_expires_at"] = true, nil
	room.push(t, missed)
	tab.shows("back")
	tab.hides("keep") // the page is open, and the place is already passed over
	tab.until(`document.title === "차례가 지나갔어요 – 눌러 주세요"`)
	require.Equal(t, "버튼을 누르지 않아 차례를 건너뛰었어요. 누르면 다시 맨 앞이에요.", tab.text("missed-lead"))
	require.Equal(t, "차례가 지난 뒤 45초 안에 돌아오면 순서가 그대로예요. 한 번 더 놓치면 순서가 사라져요.", tab.text("missed-rule"))
	until := by.Add(45 * time.Second).In(time.FixedZone("KST", 9*60*60))
	around := map[string]bool{}
	for off := -1; off <= 20; off++ { // by the page's clock, which is behind by the fastest frame's delay
		around[until.Add(time.Duration(off)*time.Second).Format("15:04:05")+"까지 눌러 주세요."] = true
	}
	require.True(t, around[tab.text("missed-by")], tab.text("missed-by"))
	tab.open(room, "ko")
	require.True(t, around[tab.text("missed-by")], "after a reload too: %s", tab.text("missed-by"))

	room.push(t, ended("dropped"))
	tab.until(`document.getElementById("outcome").textContent === "버튼을 누르지 않아 순서가 사라졌어요"`)
	require.Contains(t, tab.text("outcome-lead"), "차례가 오면 ‘저\u00a0여기\u00a0있어요’를 눌러 주세요")
}

func TestSellerAwayWithoutATurnSeesNoMissedTurn(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	missed, back := place(1), place(1)
	missed["unclaimed"] = true
	room.change(missed)
	tab.open(room, "ko")
	tab.shows("back")
	require.Empty(t, tab.text("missed-by"), "since when is not known")
	room.push(t, back)
	tab.hides("back")
	tab.shows("keep")
	room.push(t, ended("dropped"))
	tab.until(`document.getElementById("outcome").textContent === "자리를 비운 사이 순서가 사라졌어요"`)

	view := everyState()["ended"]
	view.Outcome, view.Fence = "dropped", 77
	require.Contains(t, between(t, render(t, templates.RoomPage(view)), `id="outcome"`, "</p>"),
		"버튼을 누르지 않아 순서가 사라졌어요")
}

func TestSellerBackInLineSeesThePlace(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	missed := place(1)
	missed["unclaimed"] = true
	room.change(missed)
	tab.open(room, "ko")
	tab.shows("back")
	room.then(object{"unclaimed": false})
	tab.do(chromedp.Click("#back"))
	tab.hides("back")
	tab.until(`document.activeElement === document.querySelector("[data-panel=waiting] h1")`)
	tab.hasText("say", "다시 줄을 섰어요. 바로 다음 차례예요")
}
