package templates_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPageIsNotLiveWhileTheServerHearsNothing(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.change(place(2))
	tab.open(room, "ko")
	now := time.Now().UnixMilli()
	silent := object{"type": "ping", "server_time": now, "as_of": now - 3_600_000}
	room.send(t, silent)
	tab.until(`document.body.dataset.connection === "stale"`)
	tab.shows("lost")
	hourOld := `Math.abs(Date.now() - 3600000 - Date.parse(document.getElementById("updated").dateTime)) < 30000`
	tab.until(hourOld)
	room.send(t, silent)
	room.push(t, object{"queue_length": 7})
	require.Equal(t, "최신 상태를 확인하고 있어요", tab.text("connection"))
	tab.until(hourOld)
	room.send(t, object{"type": "ping", "server_time": time.Now().UnixMilli()})
	tab.until(`document.body.dataset.connection === "open" && !(` + hourOld + `)`)
	tab.hides("lost")
}

func TestMachineWithoutANetworkHasNoConnection(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.change(place(2))
	tab.open(room, "ko")
	letIn := room.shutOut()
	tab.run(`dispatchEvent(new Event("offline"))`) // the socket gets no event
	tab.until(`document.body.dataset.connection === "lost"`)
	letIn()
	tab.until(`document.body.dataset.connection === "open"`)
}

func TestHandingOverIsShownOnlyWhereItIsKnown(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	over := place(2)
	over["lease_expires_at"] = time.Now().Add(-time.Second).UnixMilli()
	room.change(over)
	tab.open(room, "ko")
	tab.hasText("lease-countdown", "다음 차례로 넘기고 있어요")
	letIn := room.shutOut()
	room.closeAll(4001)
	tab.shows("lost")
	tab.until(`document.getElementById("lease-countdown").textContent === "–"`)
	letIn()
	tab.hides("lost")
	tab.hasText("lease-countdown", "다음 차례로 넘기고 있어요")
}
