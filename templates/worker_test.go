package templates_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
)

// pushed returns the text of the notification for a turn that ends ten minutes after the server's midnight. The
// device's clock is ahead of the server's by so many minutes; the push was delivered late by as many.
const pushed = `(async (source, ahead, late, answer) => {
	const midnight = new Date(2026, 0, 1).getTime(), minute = 60000, does = {}, shown = [], asked = [];
	const now = () => midnight + (ahead + late) * minute;
	class Clock extends Date { static now() { return now(); } }
	const registration = { getNotifications: async () => [], showNotification: async (title, { body }) => shown.push(body) };
	const fetch = (address, { signal }) => {
		asked.push(address);
		if (answer === "none") return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
		return Promise.resolve({ json: async () => (answer === "refused" ? { code: "too_many_requests" } : { server_time: midnight + late * minute }) });
	};
	const self = { addEventListener: (name, f) => { does[name] = f; }, location, registration, navigator: { userAgent: "" },
		clients: { matchAll: async () => [] } };
	new Function("self", "fetch", "Date", "setTimeout", source)(self, fetch, Clock, (f) => setTimeout(f, 0));
	const message = { title: "t", body: "{time}", until: midnight + 10 * minute, server_time: midnight, room: "a:b", lang: "en-GB", tag: "x", paths: ["/rooms/a:b"] };
	await new Promise((resolve) => does.push({ data: { json: () => message }, waitUntil: (work) => resolve(work) }));
	return asked.join() + " " + shown.join();
})(%q, %d, %d, %q)`

func TestPushShowsTheEndOfATurnByTheDevicesClock(t *testing.T) {
	answer := httptest.NewRecorder()
	static.Worker().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/worker.js", nil))
	worker := answer.Body.String()
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	for _, tc := range []struct {
		name        string
		ahead, late int
		answer      string
		want        string
	}{
		{"right", 0, 0, "", "00:10:00"},
		{"ahead", 10, 0, "", "00:20:00"},
		{"behind", -5, 0, "", "00:05:00"},
		{"ahead, and late", 10, 3, "", "00:20:00"},
		{"right, and late, without an answer", 0, 3, "none", "00:10:00"},
		{"behind, without an answer", -5, 0, "none", "00:05:00"},
		{"behind, and refused", -5, 0, "refused", "00:05:00"},
	} {
		got, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](
			fmt.Sprintf(pushed, worker, tc.ahead, tc.late, tc.answer), chromedp.EvalAwaitPromise))
		require.NoError(t, err, tc.name)
		require.Equal(t, "/api/a:b/lock/status "+tc.want, got, tc.name)
	}
}
