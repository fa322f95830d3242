package support_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/signin"
)

func TestAgentThatMayActEndsASignInWithAReason(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	page := f.call(t, h, "kim", "GET", "/support/-/sign-ins", "")
	require.Equal(t, http.StatusOK, page.Code)
	end := "/support/-/sign-ins/" + signin.KeyOf("choi") + "/end"
	require.Contains(t, page.Body.String(), `action="`+end+`"`)
	post := func(as, path, reason string, headers ...string) (int, string) {
		w := f.call(t, h, as, "POST", path, url.Values{"reason": {reason}}.Encode(),
			append([]string{"Content-Type", asForm}, headers...)...)
		return w.Code, w.Header().Get("Location")
	}
	for _, none := range []string{"", "  ", strings.Repeat("x", 201), "a\x00b"} {
		status, _ := post("kim", end, none)
		require.Equal(t, http.StatusBadRequest, status)
	}
	status, _ := post("park", end, "curious")
	require.Equal(t, http.StatusForbidden, status)
	status, _ = post("kim", end, "by an image", "Sec-Fetch-Site", "same-site", "Origin", "https://other.example")
	require.Equal(t, http.StatusForbidden, status)
	require.Equal(t, http.StatusForbidden, f.call(t, h, "park", "GET", "/support/-/sign-ins", "").Code)
	require.Empty(t, f.did)

	status, to := post("kim", end, " stolen laptop ")
	require.Equal(t, http.StatusSeeOther, status)
	require.Equal(t, []string{"end choi by kim: stolen laptop", "sign out " + signin.KeyOf("choi")}, f.did)
	require.Contains(t, f.call(t, h, "kim", "GET", to, "").Body.String(), `id="ended"`)
	f.did = nil
	for _, unknown := range []string{end, "/support/-/sign-ins/made-up/end"} {
		_, to = post("kim", unknown, "again")
		require.Contains(t, f.call(t, h, "kim", "GET", to, "").Body.String(), `id="gone"`)
		require.Empty(t, f.did, "no replica hears of a sign-in that is not there")
	}
	f.unannounced = room.ErrStore
	status, _ = post("kim", "/support/-/sign-ins/"+signin.KeyOf("park")+"/end", "stolen laptop")
	require.Equal(t, http.StatusServiceUnavailable, status)
}

func TestProvidersSignOutClosesSockets(t *testing.T) {
	f := newFakeDesk()
	f.oidc = true
	h := deskHandler(t, f)
	post := func(token string) int {
		w := f.call(t, h, "", "POST", "/support/oidc/back-channel", url.Values{"logout_token": {token}}.Encode(),
			"Content-Type", asForm)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		return w.Code
	}
	require.Equal(t, http.StatusOK, post("kim"))
	require.Equal(t, []string{"sign out " + signin.KeyOf("kim")}, f.did)
	require.Equal(t, http.StatusBadRequest, post("forged"))
	f.unannounced = room.ErrStore
	require.Equal(t, http.StatusServiceUnavailable, post("kim"))
	f.oidc = false
	require.Equal(t, http.StatusNotFound, post("kim"))
}

// A page that is left open reconnects its socket for hours.
func TestAPersonsRequestIsUseAndASocketIsNot(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	f.call(t, h, "kim", "GET", "/api/support/integration/ws", "",
		"Connection", "Upgrade", "Upgrade", "websocket")
	require.Zero(t, f.uses)
	f.call(t, h, "kim", "GET", "/support", "")
	f.call(t, h, "kim", "POST", "/api/support/integration/pause", `{"reason":"r"}`)
	require.Equal(t, 2, f.uses)
}
