package templates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func support(notice string) object {
	return object{"type": "notice", "notice": notice, "server_time": time.Now().UnixMilli()}
}

func TestSellerSeesSupportsActionUntilItIsNoLongerTrue(t *testing.T) {
	room, tab := expectTurn(t)
	room.send(t, support("extended"))
	tab.hasText("notice", "상담원이 시간을 더 드렸어요")
	room.push(t, object{"lease_expires_at": time.Now().Add(time.Hour).UnixMilli()})
	tab.until(`/^(60|59):/.test(document.getElementById("countdown").textContent)`)
	require.NotEmpty(t, tab.text("notice"), "the turn goes on")
	room.push(t, ended("expired"))
	tab.until(`document.body.dataset.state === "ended" && document.getElementById("notice").textContent === ""`)

	room.push(t, object{"status": "waiting", "outcome": nil, "ticket": 12, "queue_position": 3,
		"queue_length": 5, "codes": nil})
	room.send(t, support("moved"))
	tab.hasText("notice", "상담원이 순서를 바꿨어요. 지금 순서를 확인해 주세요.")
	room.push(t, object{"queue_position": 2})
	tab.until(`document.getElementById("position").textContent === "2"`)
	require.NotEmpty(t, tab.text("notice"), "the place is the same")
	room.push(t, turn(0))
	tab.until(`document.getElementById("notice").textContent === ""`)
	tab.requireQuiet()
}

func TestSellerSeesThatSupportCheckedATextWhileItIsOnShow(t *testing.T) {
	room, tab := expectTurn(t)
	room.push(t, ended("completed"))
	room.send(t, support("assigned"))
	room.send(t, message("a", "인증번호 482103", "482103", 0))
	tab.hasText("notice", "상담원이 확인한 문자예요")
	tab.hasText("sms-code", "482103")
	room.push(t, turn(0))
	room.send(t, support("unheard of"))
	room.push(t, object{"ticket": 13, "fence": 78})
	tab.until(`document.getElementById("notice").textContent === ""`)
	tab.requireQuiet()
}

func TestMovedSellerDoesNotSeeThatOthersFinished(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	for lang, shown := range map[string]string{"ko": "줄 선 뒤 2명 줄었어요", "en": "You have moved up 2 places"} {
		room.change(place(3))
		tab.open(room, lang)
		room.push(t, object{"queue_position": 1})
		room.send(t, support("moved"))
		tab.until(fmt.Sprintf(`document.getElementById("passed").textContent === %q`, shown))
	}
}
