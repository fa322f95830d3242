package templates_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

func TestSellerTurnsThePortalsMessageOnAndOffWithoutAReload(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.change(object{"status": "waiting", "ticket": 9, "queue_position": 4, "queue_length": 6})
	room.view.Reach = "카카오톡 010-****-5678"
	tab.open(room, "ko")
	tab.run(`window.stays = true`)
	require.Equal(t, "꺼짐", tab.text("reach-state"))
	for _, press := range []struct {
		wants         bool
		state, button string
	}{{true, "켜짐", "끄기"}, {false, "꺼짐", "켜기"}} {
		tab.do(chromedp.Click("#reach"))
		tab.until(`document.getElementById("reach-state").textContent === "` + press.state + `"`)
		require.Equal(t, press.button, tab.text("reach"))
		require.Equal(t, "POST /api/integration/lock/reach ", room.lastCall())
		require.Equal(t, press.wants, room.last().body["wants"])
	}
	room.then(object{"code": "store_unavailable", "detail": "잠시 뒤에 다시 시도해 주세요"})
	tab.do(chromedp.Click("#reach"))
	tab.until(`document.querySelector("[data-panel=waiting] [role=alert]").textContent !== ""`)
	require.Equal(t, "꺼짐", tab.text("reach-state"), "nothing has changed")
	tab.until(`window.stays`)
}

func TestPageHasNoChoiceWhereThePortalCanNotReachTheSeller(t *testing.T) {
	page := render(t, templates.RoomPage(templates.RoomView{Lang: "ko", Room: "integration", State: "waiting", QueuePosition: 1}))
	require.NotContains(t, page, "reach-form")
	page = render(t, templates.RoomPage(templates.RoomView{Lang: "ko", Room: "integration", State: "waiting", QueuePosition: 1,
		Reach: "<b>카카오톡</b>", WantsReach: true}))
	require.Contains(t, page, "&lt;b&gt;카카오톡")
	require.Contains(t, page, `name="wants" value="false"`)
}
