package templates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A seller compares a time on the page with the same phone's clock, which may be wrong: here it is five hours
// ahead. It moves on until the first frame is read, so the last digits are free.
func TestTimesOnScreenAreByThePhonesClock(t *testing.T) {
	const ahead = 5 * time.Hour
	server := time.Date(2026, 1, 1, 0, 30, 0, 0, time.Local)
	room, tab := startFakeRoom(t), openBrowser(t)
	room.at = server.UnixMilli()
	tab.before(fmt.Sprintf(`Date.now = () => %d + performance.now()`, server.Add(ahead).UnixMilli()))
	tab.open(room, "ko")

	waits := place(2)
	waits["estimated_wait"], waits["maximum_wait"] = 20*60, 60*60
	waits["lease_expires_at"] = nil
	room.push(t, waits)
	tab.hasText("when", "오전 5:5")

	before := server.Add(-5 * time.Minute).UnixMilli()
	mine := turn(0)
	mine["lease_expires_at"] = server.Add(time.Hour).UnixMilli()
	room.push(t, mine)
	tab.step("ask")
	room.send(t, object{"type": "sms_unclaimed", "message_id": "m-1", "received_at": before})
	tab.hasText("unclaimed-time", "05:2")
	room.send(t, object{"type": "sms", "message_id": "m-2", "text": "인증번호 482103", "code": "482103",
		"received_at": before})
	tab.step("code")
	tab.hasText("sms-time", "05:2")
}

// A seller or the phone's network sets the clock. To the page, one that is set ahead is as after a sleep.
func TestTurnGoesOnWhereThePhonesClockIsSet(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(`window.set = 0; { const date = Date.now; Date.now = () => date() + set; }`)
	tab.before( // a socket that is silent for long is opened anew: here only a new time may do that
		`{ const later = setTimeout; window.setTimeout = (f, ms, ...rest) => ms < 20000 ? later(f, ms, ...rest) : 0; }`)
	tab.open(room, "ko")
	room.push(t, turn(0))
	at := time.Now().Truncate(time.Minute).Add(-30 * time.Second)
	room.send(t, object{"type": "sms", "message_id": "m-1", "text": "인증번호 482103", "code": "482103",
		"received_at": at.UnixMilli()})
	tab.step("code")
	for _, set := range []time.Duration{time.Hour, -time.Hour, 0} {
		tab.run(fmt.Sprintf("set = %d", set.Milliseconds()))
		tab.hasText("sms-time", at.Add(set).Format("15:04"))
		tab.step("code")
		tab.until(`/^[23]\d:/.test(document.getElementById("countdown").textContent)`)
	}
	room.push(t, place(2))
	tab.run(`set = 3600000`)
	tab.until(`/^1:/.test(document.getElementById("lease-countdown").textContent)`)
	tab.requireQuiet()
}

// Each step has the local clock, a frame's time, the expected lead of the time over the local clock, and the
// machine's clock. All in seconds.
func TestTimeIsTheServersHoweverLateAFrameIs(t *testing.T) {
	tab := openModules(t)
	wrong := run[[]string](tab, `(async () => {
		const { ServerClock } = await import("/static/js/clock.js");
		const table = {
			"one frame is late": [[0, 100, 100], [25, 120, 100], [50, 150, 100]],
			"a stall holds up many": [[0, 100, 100], [10, 105, 100], [10, 106, 100], [10.1, 106.5, 100], [10.1, 107.5, 100], [10.2, 110, 100]],
			"each stall holds up one": [[0, 100, 100], [25, 120, 100], [26, 126, 100], [50, 145, 100], [51, 151, 100]],
			"two stalls in turn": [[0, 100, 100], [25, 120, 100], [50, 140, 100], [75, 175, 100]],
			"frames from before a sleep": [[0, 100, 100], [3600, 110, 100], [3600, 111, 100], [3601, 3701, 100]],
			"the first frame is late": [[0, 95, 95], [1, 101, 100], [2, 102, 100]],
			"every frame is a little late": [[0, 100, 100], [25, 123.5, 100], [50, 149, 100]],
			"no frame has come": [[0, null, 50, 50]],
			"the local clock stands still in a sleep": [[0, 100, 100], [1, null, 3700, 3600], [2, 3702, 3700, 3600], [27, 3727, 3700, 3600]],
			"the machine's clock is set back": [[0, 100, 100], [1, null, 100, -3600], [2, 102, 100, -3600]],
			"the machine's clock is set ahead": [[0, 100, 100], [1, null, 3700, 3600], [2, 102, 100, 3600], [3, null, 100, 3600]],
			"the server's clock is set ahead": [[0, 100, 100], [25, 155, 130]],
			"and right again": [[0, 100, 100], [25, 155, 130], [30, 130, 100]],
			"it is set back by more than the time since the last frame": [[0, 100, 100], [25, 95, 70], [26, 96, 70]],
			"by less": [[0, 100, 100], [25, 115, 100], [50, 140, 90]],
			"by less, with many frames": [[0, 100, 100], [25, 115, 100], [26, 116, 100], [34, 124, 100], [35, 125, 90]],
			"while nothing was heard for long": [[0, 100, 100], [600, 400, 100], [625, 425, -200]],
		};
		const wrong = [];
		for (const [name, steps] of Object.entries(table)) {
			let local, machine;
			const clock = new ServerClock(() => local, () => machine);
			for (const [read, says, ahead, apart = 0] of steps) {
				local = read * 1000;
				machine = local + apart * 1000;
				if (says != null) clock.observe(says * 1000);
				const is = (clock.now() - local) / 1000;
				if (is !== ahead) wrong.push([name, read, is].join(" | "));
			}
		}
		return wrong;
	})()`)
	require.Empty(t, wrong)
}
