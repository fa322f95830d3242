package templates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A proxy may take a handshake and never answer it: the page reconnects long before
// the seller counts as away.
func TestHandshakeThatIsNotAnsweredIsGivenUpAfterTenSeconds(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	letIn := room.shutOut()
	tab.before(`{ const real = setTimeout; window.setTimeout = (f, ms, ...rest) => real(f, ms === 10000 ? 100 : ms, ...rest);
		const Real = WebSocket; window.tried = 0; window.WebSocket = class extends Real { constructor(...how) { super(...how); window.tried++; } } }`)
	tab.do(chromedp.Navigate(room.server.URL + "/rooms/integration?lang=ko"))
	tab.until(`window.tried > 1`)
	letIn()
	tab.until(`document.body.dataset.connection === "open"`)
}

// noSockets opens a page without sockets: window.answers answers its polls.
const noSockets = `{ window.answers = {};
	window.WebSocket = class extends EventTarget { close() {} constructor() { super(); setTimeout(() => this.dispatchEvent(new CloseEvent("close", { code: 1006 }))); } };
	const fetched = window.fetch;
	window.fetch = async (url, ...how) => {
		const answer = Object.entries(window.answers).find(([part]) => String(url).includes(part))?.[1];
		return answer ? new Response(JSON.stringify(answer), { headers: { "Content-Type": "application/json" } }) : fetched(url, ...how);
	};
	const real = setTimeout; window.setTimeout = (f, ms, ...rest) => real(f, ms < 10000 ? Math.min(ms, 50) : ms, ...rest) }`

func TestAPageWithoutASocketShowsTheTurnItsUnclaimedMessagesAndTheCode(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.change(place(1))
	tab.before(noSockets)
	tab.do(chromedp.Navigate(room.server.URL + "/rooms/integration?lang=ko"))
	now := time.Now().UTC()
	status := func(more string) string {
		return fmt.Sprintf(`{ room: "integration", status: "locked", paused: false, queue_length: 0, expires_in: 100, estimated_wait: 0, epoch: "e", version: Date.now(), server_time: Date.now(),
			me: { status: "locked", room: "integration", ticket: 9, fence: 77, expires_at: %q, expires_in: 100 %s } }`, now.Add(100*time.Second).Format(time.RFC3339), more)
	}
	tab.run(`window.answers = { "/lock/status": ` +
		status(fmt.Sprintf(`, claim_by: %q`, now.Add(50*time.Second).Format(time.RFC3339))) + ` }`)
	tab.until(`document.body.dataset.connection === "polling"`)
	require.Equal(t, "몇 초마다 확인하고 있어요", tab.text("connection"))
	tab.hides("lost")
	tab.step("claim")
	tab.run(`window.answers = { "/lock/status": ` + status("") +
		`, "/lock/messages": { room: "integration", fence: 77, status: "locked",
		messages: [{ message_id: "m", text: "인증번호 482103", code: "482103", received_at: new Date().toISOString(), late: false }] } }`)
	tab.step("code")
	require.Equal(t, "482103", tab.text("sms-code"))
	tab.run(
		`window.answers = { "/lock/status": { broken: true } }; window.fetch = () => Promise.reject(new TypeError("no network"))`)
	tab.until(`document.body.dataset.connection === "lost"`)
}
