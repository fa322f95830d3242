package templates_test

import "testing"

// Redis lost its data and the server was restarted, so only the browser knows of the place.
func TestUnknownPlaceIsShownAsLost(t *testing.T) {
	for name, mine := range map[string]object{
		"who waits": {"status": "waiting", "outcome": nil, "ticket": 9, "queue_position": 2, "queue_length": 3},
		"who holds": turn(0),
	} {
		t.Run(name, func(t *testing.T) {
			room, tab := startFakeRoom(t), openBrowser(t)
			tab.open(room, "ko")
			room.push(t, mine)
			tab.until(`document.body.dataset.state !== "idle"`)
			nothing := object{"status": "idle", "outcome": nil, "ticket": nil, "fence": nil, "queue_position": nil,
				"queue_length": 0, "lease_expires_at": nil, "codes": nil}
			nothing["epoch"] = "f"
			room.push(t, nothing)
			tab.hasText("outcome", "저희 쪽 문제로 순서가 사라졌어요")
			room.push(t, nothing) // another seller acted
			room.view.Epoch = "f"
			tab.open(room, "ko")
			tab.hasText("outcome", "저희 쪽 문제로 순서가 사라졌어요")

			room.push(t, object{"status": "waiting", "ticket": 1, "queue_position": 1, "queue_length": 1})
			tab.until(`document.body.dataset.state === "waiting"`)
			room.push(t, ended("cancelled"))
			tab.hasText("outcome", "줄에서 나왔어요")
			room.push(t, nothing)
			tab.until(`document.body.dataset.state === "idle"`)
			tab.requireQuiet()
		})
	}
}
