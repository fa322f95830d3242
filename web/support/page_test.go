package support_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/signin"
	"github.com/waitroom/waitroom/web/support"
)

func TestPagesOfTheDeskAreThere(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	for path, status := range map[string]int{"/support": 200, "/support/integration": 200,
		"/support/integration/history":        200,
		"/support/integration/report":         200,
		"/support/integration/report?from=x":  400,
		"/support/integration/history?from=x": 400, "/support/-/sellers/%ED%95%9C%EA%B8%80": 200,
		"/support/-/sellers/a?room=integration": 200,
		"/support/-/sellers/a?room=elsewhere":   404, "/support/-/sellers/a%20b": 400, "/support/-/audit": 200,
		"/support/-/deliveries": 200, "/support/-/guide": 200,
		"/support/elsewhere": 404, "/support/-": 404, "/support/-/nothing": 404,
		"/support/integration/fly": 404, "/support/": 404} {
		w := f.call(t, h, "park", "GET", path, "")
		require.Equal(t, status, w.Code, path)
		require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"), path)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"), path)
		require.Equal(t, templates.ContentSecurityPolicy, w.Header().Get("Content-Security-Policy"), path)
	}
	f.lost = problem.Refusal("ledger_unavailable")
	for path, status := range map[string]int{"/support/integration/history": 503,
		"/support/integration/report": 503, "/support/-/sellers/a": 200,
		"/support/-/audit":      503,
		"/support/-/deliveries": 503, "/support/integration": 200} {
		require.Equal(t, status, f.call(t, h, "park", "GET", path, "").Code, path)
	}
}

func TestPageOfARoomKnowsWhetherItHasHours(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	require.NotContains(t, f.call(t, h, "kim", "GET", "/support/integration", "").Body.String(), `"hours":true`)
	f.begin = time.Now().Add(time.Hour)
	require.Contains(t, f.call(t, h, "kim", "GET", "/support/integration", "").Body.String(), `"hours":true`)
}

func TestTimelineIsASellersInOneRoom(t *testing.T) {
	f := newFakeDesk()
	f.events = []support.StoryEvent{{At: 1000, Room: "integration", Epoch: 1, Ticket: 4, Kind: "joined"},
		{At: 2000, Room: "integration", Epoch: 1, Ticket: 4, Fence: 9, Kind: "action", Who: "kim",
			Action: "extend", Reason: "asked"}}
	h := deskHandler(t, f)
	w := f.call(t, h, "park", "GET", "/api/support/integration/timeline?seller=a&from=1970-01-02", "")
	require.Equal(t, http.StatusOK, w.Code)
	require.JSONEq(t, `{"partial":false,"events":[
		{"at":"1970-01-01T00:00:01.000Z","room":"integration","epoch":1,"ticket":4,"fence":null,"kind":"joined"},
		{"at":"1970-01-01T00:00:02.000Z","room":"integration","epoch":1,"ticket":4,"fence":9,"kind":"action","who":"kim","action":"extend","reason":"asked"}]}`,
		w.Body.String())
	require.Equal(t, []string{"audit support looked", "story a integration 86400000"}, f.did)
	require.Equal(t, "room=integration&seller=a", f.by.Reason)
	for _, query := range []string{"", "?seller=", "?seller=a%20b"} {
		require.Contains(t, f.call(t, h, "park", "GET", "/api/support/integration/timeline"+query,
			"").Body.String(), "invalid_seller")
	}
	f.lost = problem.Refusal("ledger_unavailable")
	require.Contains(t, f.call(t, h, "park", "GET", "/api/support/integration/timeline?seller=a",
		"").Body.String(), `"partial":true`)
}

func TestSearchOfAPageIsTheExportsToo(t *testing.T) {
	require.Equal(t, "/api/support/a:b/history?format=csv&seller=x",
		support.ExportPath("a:b", map[string][]string{"seller": {"x"}, "cursor": {"c"}, "limit": {"5"}}))
}

func TestDeliveryIsRetriedByAgentsThatMayAct(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	const path = "/support/-/deliveries/7/retry"
	require.Equal(t, http.StatusForbidden, f.call(t, h, "park", "POST", path, "").Code)
	require.Equal(t, http.StatusForbidden, f.call(t, h, "kim", "POST", path, "", "Origin",
		"https://portal.example").Code)
	require.Equal(t, http.StatusNotFound, f.call(t, h, "kim", "POST", "/support/-/deliveries/x/retry",
		"").Code)
	require.Empty(t, f.did)
	w := f.call(t, h, "kim", "POST", path, "")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/support/-/deliveries?retried=7", w.Header().Get("Location"))
	require.Equal(t, []string{"retry 7", "audit support delivery_retried"}, f.did)
	f.refuse = problem.Refusal("not_dead")
	require.Equal(t, http.StatusConflict, f.call(t, h, "kim", "POST", path, "").Code)
}

func TestAllDeliveriesAreRetriedByAgentsThatMayAct(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	const path = "/support/-/deliveries/retry"
	require.Equal(t, http.StatusForbidden, f.call(t, h, "park", "POST", path, "").Code)
	require.Equal(t, http.StatusForbidden, f.call(t, h, "kim", "POST", path, "", "Origin",
		"https://portal.example").Code)
	require.Empty(t, f.did)
	w := f.call(t, h, "kim", "POST", path, "")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/support/-/deliveries?all=3", w.Header().Get("Location"))
	require.Equal(t, []string{"retry all", "audit support delivery_retried"}, f.did)
	require.Equal(t, "all deliveries: 3", f.by.Reason)
	require.Contains(t, f.call(t, h, "kim", "GET", "/support/-/deliveries?all=3&lang=en", "").Body.String(),
		"3 deliveries are being sent again")
	f.lost = problem.Refusal("ledger_unavailable")
	require.Equal(t, http.StatusServiceUnavailable, f.call(t, h, "kim", "POST", path, "").Code)
}

func TestDeliveriesThatFailAreSaidBeforeTheyAreGivenUp(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	page := func() string {
		return f.call(t, h, "park", "GET", "/support/-/deliveries?lang=en",
			"").Body.String()
	}
	require.NotContains(t, page(), `id="failing"`)
	f.failing, f.lastError = 1000, "dial tcp: <refused>"
	require.Regexp(t, `(?s)id="failing".*1970-01-01 00:00:01.*dial tcp: &lt;refused&gt;`, page())
}

func TestSocketIsServedToSignedInAgents(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	f.call(t, h, "park", "GET", "/api/support/ws", "")
	f.call(t, h, "park", "GET", "/api/support/integration/ws", "")
	key := signin.KeyOf("park")
	require.Equal(t, []string{`serve "" ` + key, `serve "integration" ` + key}, f.did)
	require.Equal(t, http.StatusNotFound, f.call(t, h, "park", "GET", "/api/support/elsewhere/ws", "").Code)
}

func TestLanguageLinkKeepsWhatThePageWasAskedFor(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	for path, link := range map[string]string{
		"/support/-/sellers/a?room=integration&lang=ko":         "?room=integration&amp;lang=en",
		"/support/-/sellers/a":                                  "?lang=en",
		"/support/integration/history?seller=s-1&to=2026-11-21": "?seller=s-1&amp;to=2026-11-21&amp;lang=en",
	} {
		require.Contains(t, f.call(t, h, "park", "GET", path, "").Body.String(),
			`class="lang" href="`+link+`"`, path)
	}
	form := f.call(t, h, "", "GET", "/support/sign-in?next=/support/integration", "").Body.String()
	require.Contains(t, form, `class="lang" href="?next=%2Fsupport%2Fintegration&amp;lang=en"`)
	f.oidc = true
	back := f.call(t, h, "", "GET", "/support/oidc/callback?state=s&code=secret", "").Body.String()
	require.NotContains(t, back, "secret")
}
