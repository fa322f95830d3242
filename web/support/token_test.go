package support_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/signin"
)

// withTokens returns a desk of two integrations.
func withTokens() *fakeDesk {
	f := newFakeDesk()
	f.tokens = map[string]signin.Agent{
		"zendesk's": {Name: "token:zendesk", Role: signin.Act, Key: "token:zendesk", Program: true},
		"board's":   {Name: "token:board", Role: signin.Watch, Key: "token:board", Program: true},
	}
	return f
}

const (
	releasePath = "/api/support/integration/release"
	releaseBody = `{"fence":9,"reason":"the seller asked"}`
)

func TestIntegrationActsUnderItsOwnNameFromWhereverItCalls(t *testing.T) {
	for _, from := range [][]string{{}, {"Origin", "https://evil.example"},
		{"Sec-Fetch-Site", "cross-site"}} {
		f := withTokens()
		headers := append(from, "Authorization", "bearer  zendesk's ")
		w := f.call(t, deskHandler(t, f), "", "POST", releasePath, releaseBody, headers...)
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, []string{"release integration 9"}, f.did)
		require.Equal(t, room.Action{Who: "token:zendesk", Address: "192.0.2.1", Action: "release", Reason: "the seller asked"},
			f.by)
		require.Empty(t, w.Header()["Set-Cookie"])
	}
}

func TestIntegrationThatMayOnlyWatchAsksAndDoesNotAct(t *testing.T) {
	f := withTokens()
	h := deskHandler(t, f)
	board := []string{"Authorization", "Bearer board's"}
	for _, query := range []string{"history", "timeline?seller=a", "history?format=csv"} {
		w := f.call(t, h, "", "GET", "/api/support/integration/"+query, "", board...)
		require.Equal(t, http.StatusOK, w.Code, query)
	}
	require.Equal(t, room.Action{Who: "token:board", Address: "192.0.2.1", Action: "exported"}, f.by)
	w := f.call(t, h, "kim", "POST", releasePath, releaseBody, board...)
	require.Equal(t, http.StatusForbidden, w.Code, "kim's cookie counts for nothing beside it")
	require.Contains(t, w.Body.String(), `"code":"not_allowed"`)
	require.NotContains(t, f.did, "release integration 9")
}

func TestUnknownTokenIsRefusedAlsoBesideASignIn(t *testing.T) {
	f := withTokens()
	h := deskHandler(t, f)
	for _, value := range []string{"Bearer guess", "Bearer", "Bearer ", "BEARER zendesk's,board's"} {
		w := f.call(t, h, "kim", "POST", releasePath, releaseBody, "Authorization", value)
		require.Equal(t, http.StatusUnauthorized, w.Code, value)
		require.Contains(t, w.Body.String(), `"code":"not_signed_in"`)
		require.NotContains(t, w.Body.String(), "guess")
		require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
	}
	require.Equal(t, "unknown token from 192.0.2.1", f.did[0])
	for _, tc := range []struct {
		err         error
		status      int
		code, after string
	}{
		{signin.Limited{After: 61 * time.Second}, http.StatusTooManyRequests, "too_many_requests", "61"},
		{room.ErrStore, http.StatusServiceUnavailable, "store_unavailable", "1"},
	} {
		f.unknown = tc.err
		w := f.call(t, h, "", "POST", releasePath, releaseBody, "Authorization", "Bearer guess")
		require.Equal(t, tc.status, w.Code)
		require.Contains(t, w.Body.String(), `"code":"`+tc.code+`"`)
		require.Equal(t, tc.after, w.Header().Get("Retry-After"))
	}
}

func TestTokenCountsForTheAPIAloneAndOnlyWhereOneIsSet(t *testing.T) {
	f := withTokens()
	h := deskHandler(t, f)
	token := []string{"Authorization", "Bearer zendesk's"}
	page := f.call(t, h, "", "GET", "/support", "", token...)
	require.Equal(t, http.StatusSeeOther, page.Code, "pages are for people")
	cross := append([]string{"Origin", "https://evil.example"}, token...)
	require.Equal(t, http.StatusForbidden, f.call(t, h, "kim", "POST", "/support/sign-out", "",
		cross...).Code)
	require.Equal(t, http.StatusForbidden, f.call(t, h, "kim", "POST", releasePath, releaseBody,
		"Origin", "https://evil.example", "Authorization", "Basic zendesk's").Code,
		"another scheme is no token")

	f.tokens = nil
	for _, headers := range [][]string{token, {"Authorization", "Bearer of a proxy in front"}} {
		for agent, status := range map[string]int{"kim": http.StatusOK, "": http.StatusUnauthorized} {
			require.Equal(t, status, f.call(t, h, agent, "POST", releasePath, releaseBody, headers...).Code)
		}
	}
	require.Equal(t, http.StatusForbidden, f.call(t, h, "kim", "POST", releasePath, releaseBody,
		cross...).Code)
}

func TestIntegrationHasASocket(t *testing.T) {
	paths := map[string]string{"/api/support/integration/ws": "integration", "/api/support/ws": ""}
	for path, room := range paths {
		f := withTokens()
		h := deskHandler(t, f)
		f.call(t, h, "", "GET", path, "", "Authorization", "Bearer board's")
		require.Equal(t, []string{`serve "` + room + `" token:board`}, f.did)
		require.True(t, f.program)
		f.call(t, h, "kim", "GET", path, "")
		require.False(t, f.program, "a cookie's needs its Origin")
	}
}
