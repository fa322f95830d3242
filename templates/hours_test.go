package templates_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASellerWhoComesOutsideTheHoursIsToldWhenTheRoomOpens(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(ownNotifications)
	tab.open(room, "ko")
	tab.run(`Notification.permission = "granted"; Object.defineProperty(document, "hidden", { value: true })`)
	tab.hides("closed")
	tab.shows("join-form")

	room.push(t, object{"opens_at": time.Now().Add(7 * 24 * time.Hour).UnixMilli()})
	tab.shows("closed")
	tab.shows("closed-notify")
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
	tab.until(`shown.at(-1) === "이제 열렸어요 줄을 설 수 있어요."`)
	tab.requireQuiet()
}

func TestAnAnnouncementOfSupportIsOnThePageInEveryState(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	text := func(want string) {
		tab.until(fmt.Sprintf(`document.getElementById("announcement").textContent === %q`, want))
	}
	text("")
	said := object{"text": "문자가 늦어져요", "level": "warning", "until": "2027-01-01T00:00:00.000Z"}
	for _, state := range []object{{}, {"status": "waiting", "ticket": 9, "queue_position": 2, "queue_length": 3},
		ended("cancelled")} {
		maps.Copy(state, object{"notice": said})
		room.push(t, state)
		text("문자가 늦어져요")
		tab.shows("announcement")
		tab.until(`document.getElementById("announcement").matches("[role=status][data-level=warning]")`)
		room.push(t, object{"notice": nil})
		text("")
	}
	tab.requireQuiet()
}
