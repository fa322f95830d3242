package templates_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASellerWhoComesOutsideTheHoursIsToldWhenTheRoomOpens(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	tab.hides("closed")
	tab.shows("join-form")

	room.push(t, object{"opens_at": time.Now().Add(7 * 24 * time.Hour).UnixMilli()})
	tab.shows("closed")
	tab.hides("join-form")
	tab.hides("line")
	require.Regexp(t, `^\d+월 \d+일 오[전후] \d+:\d\d에 열려요\.$`, tab.text("opens"))

	room.push(t, object{"status": "waiting", "ticket": 9, "queue_position": 2, "queue_length": 3})
	tab.hides("closed")
	tab.hides("join-form")
	room.push(t, ended("cancelled"))
	tab.shows("closed")
	tab.hides("join-form")

	room.push(t, object{"opens_at": nil})
	tab.hides("closed")
	tab.shows("join-form")
	tab.until(`document.getElementById("say").textContent.includes("이제 열렸어요")`)
	tab.requireQuiet()
}
