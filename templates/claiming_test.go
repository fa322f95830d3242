package templates_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/chrometest"
)

func TestClaimIsThePagesWhereSomebodyIsThereElseTheSellers(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	mine := turn(0)
	mine["claim_by"] = time.Now().Add(20 * time.Second).UnixMilli()
	room.push(t, mine)
	tab.step("claim")
	tab.shows("claim")
	tab.hides("ask")
	tab.until(`/^0:(1\d|20)$/.test(document.getElementById("countdown").textContent)`)
	tab.says("shout", "‘저 여기 있어요’를 눌러 주세요")
	require.Empty(t, room.made(), "nobody has touched the page")
	room.then(object{"claim_by": nil})
	tab.run(`document.getElementById("claim").click()`)
	tab.step("ask")
	require.Equal(t, "POST /api/integration/lock/claim ", room.lastCall())
	require.Equal(t, object{"fence": 77.0}, room.last().body)

	missed := place(1)
	missed["unclaimed"] = true
	room.push(t, missed)
	tab.shows("back")
	require.Contains(t, tab.text("keep"), "화면을 열어 두세요")
	tab.until(`document.body.dataset.missed === "true"`)
	room.then(object{"unclaimed": false})
	tab.do(chromedp.Click("#back"))
	tab.hides("back")
	require.Equal(t, object{}, room.last().body, "it holds no lease to name")

	next := turn(0)
	next["fence"], next["claim_by"] = 78, time.Now().Add(20*time.Second).UnixMilli()
	room.then(object{"claim_by": nil})
	calls := len(room.made())
	room.push(t, next)
	tab.step("ask")
	require.Len(t, room.made(), calls+1, "who has just pressed is there")
	require.Equal(t, object{"fence": 78.0}, room.last().body)
}

func TestMouseThatLiesStillOnThePageIsNobody(t *testing.T) {
	pen := func(p *input.DispatchMouseEventParams) { p.PointerType = input.DispatchMouseEventPointerTypePen }
	for name, use := range map[string]chrometest.Action{
		"a mouse that moves":  chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 10, 10),
		"a pen over the page": chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 0, 0, pen),
	} {
		t.Run(name+" is somebody", func(t *testing.T) {
			room, tab := startFakeRoom(t), openBrowser(t)
			tab.before(`window.moves = 0; addEventListener("pointermove", () => { moves++ })`)
			tab.open(room, "ko")
			mine := turn(0)
			mine["claim_by"] = time.Now().Add(20 * time.Second).UnixMilli()
			room.push(t, mine)
			tab.step("claim")
			still := chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 0, 0) // where Chromium has it from the start
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
