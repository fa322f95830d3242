package support_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/signin"
	"github.com/waitroom/waitroom/web/support"
)

const asForm = "application/x-www-form-urlencoded"

func (f *fakeDesk) signIn(t *testing.T, name, password, next string,
	headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	form := url.Values{"username": {name}, "password": {password}, "next": {next}}
	return f.call(t, deskHandler(t, f), "", "POST", "/support/sign-in", form.Encode(),
		append([]string{"Content-Type", asForm}, headers...)...)
}

func supportCookieOf(t *testing.T, w *httptest.ResponseRecorder, name string) *http.Cookie {
	t.Helper()
	for _, c := range w.Result().Cookies() {
		if c.Name == name {
			return c
		}
	}
	require.Fail(t, "cookie is not set", "%v", w.Header()["Set-Cookie"])
	return nil
}

func TestSignInSetsACookieThatNoOtherSiteSends(t *testing.T) {
	f := newFakeDesk()
	w := f.signIn(t, " kim ", "open sesame", "/support/integration?x=1")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/support/integration?x=1", w.Header().Get("Location"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	c := supportCookieOf(t, w, "waitroom_support")
	require.True(t, c.HttpOnly)
	require.False(t, c.Secure)
	require.Equal(t, http.SameSiteStrictMode, c.SameSite)
	require.Equal(t, "/", c.Path)
	require.Equal(t, 8*60*60, c.MaxAge)
	require.Empty(t, c.Domain)
}

func TestRefusedSignInSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		code   string
		after  string
	}{
		{nil, 401, "wrong_password", ""},
		{signin.Limited{After: 61 * time.Second}, 429, "too_many_requests", "61"},
		{room.ErrStore, 503, "store_unavailable", "1"},
	} {
		f := newFakeDesk()
		f.err = tt.err
		w := f.signIn(t, "kim", "wrong", "/support")
		require.Equal(t, tt.status, w.Code)
		require.Contains(t, w.Header().Get("Content-Type"), "text/html")
		require.Equal(t, tt.after, w.Header().Get("Retry-After"))
		require.Empty(t, w.Header()["Set-Cookie"])
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		require.NotContains(t, w.Body.String(), "wrong\"")

		w = f.signIn(t, "kim", "wrong", "/support", "Accept", "application/json")
		require.Equal(t, tt.status, w.Code)
		require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
		require.Contains(t, w.Body.String(), `"code":"`+tt.code+`"`)
		require.Equal(t, tt.after, w.Header().Get("Retry-After"))
	}
	f := newFakeDesk()
	require.Equal(t, http.StatusForbidden, f.signIn(t, "kim", "open sesame", "", "Origin",
		"https://portal.example").Code)
}

func TestSignInLeadsToTheDeskAlone(t *testing.T) {
	f := newFakeDesk()
	for next, want := range map[string]string{
		"": "/support", "/support": "/support",
		"/support/a:b/history?seller=x": "/support/a:b/history?seller=x",
		"/support/-/sellers/%ED%95%9C":  "/support/-/sellers/%ED%95%9C",
		"https://evil.example/support":  "/support", "//evil.example/support": "/support",
		`/\evil.example/support`: "/support",
		"/supporter":             "/support", "/rooms/integration": "/support",
		"/api/support/integration/history": "/support",
		"/support/../rooms/x":              "/support", "/support//evil.example": "/support",
		"/support/sign-out":              "/support",
		"/support/sign-in?next=/support": "/support", "/support/oidc/start": "/support",
		"javascript:alert(1)": "/support", "%zz": "/support",
		"/support\r\nX: y": "/support",
	} {
		require.Equal(t, want, f.signIn(t, "kim", "open sesame", next).Header().Get("Location"), next)
	}
}

func TestPageLeadsToTheFormAndBack(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	for path, next := range map[string]string{"/support": "/support",
		"/support/integration/history?seller=a&to=1": "/support/integration/history?seller=a&to=1",
		"/support/elsewhere":                         "/support/elsewhere",
		"/support/-/nothing":                         "/support/-/nothing"} {
		w := f.call(t, h, "", "GET", path, "")
		require.Equal(t, http.StatusSeeOther, w.Code, path)
		require.Equal(t, "/support/sign-in?next="+url.QueryEscape(next), w.Header().Get("Location"))
	}
	w := f.call(t, h, "", "POST", "/support/-/deliveries/7/retry", "")
	require.Equal(t, "/support/sign-in?next=%2Fsupport", w.Header().Get("Location"),
		"a form that was sent is not sent again")
	require.Equal(t, "/support/x", f.call(t, h, "kim", "GET", "/support/sign-in?next=/support/x",
		"").Header().Get("Location"))
	require.Equal(t, http.StatusServiceUnavailable, f.call(t, h, "store", "GET", "/support", "").Code)
	require.Equal(t, http.StatusUnauthorized, f.call(t, h, "", "GET", "/support", "", "Accept",
		"application/json").Code)
	require.Empty(t, f.did)
}

func TestLinkOnAnotherSiteLeadsOnOnce(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	cross := []string{"Sec-Fetch-Site", "cross-site"}
	w := f.call(t, h, "", "GET", "/support/integration?seller=a", "", cross...)
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "/support/integration?bounced=1")
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))

	w = f.call(t, h, "", "GET", "/support/integration?bounced=1&seller=a", "", cross...)
	require.Equal(t, "/support/sign-in?next="+url.QueryEscape("/support/integration?seller=a"),
		w.Header().Get("Location"))
	w = f.call(t, h, "kim", "GET", "/support/integration?bounced=1&seller=a", "", "Sec-Fetch-Site",
		"same-origin")
	require.Equal(t, "/support/integration?seller=a", w.Header().Get("Location"))
	require.Equal(t, http.StatusSeeOther, f.call(t, h, "lee", "GET", "/support", "", cross...).Code,
		"the cookie came, and is no good")
}

func TestSignOutEndsTheSessionItsSocketsAndTheCookie(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	require.Equal(t, http.StatusForbidden, f.call(t, h, "kim", "POST", "/support/sign-out", "", "Origin",
		"https://portal.example").Code)
	w := f.call(t, h, "kim", "POST", "/support/sign-out", "")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/support/sign-in", w.Header().Get("Location"))
	require.Equal(t, []string{"sign out " + signin.KeyOf("kim")}, f.did)
	require.Negative(t, supportCookieOf(t, w, "waitroom_support").MaxAge)
	require.Equal(t, http.StatusUnauthorized, f.call(t, h, "kim", "GET", "/api/support/integration/history",
		"").Code)
	for _, token := range []string{"kim", ""} {
		require.Equal(t, http.StatusSeeOther, f.call(t, h, token, "POST", "/support/sign-out", "").Code)
	}
}

func TestSignOutOfASignInThatIsGoneStillClosesItsSockets(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	closed := []string{"sign out " + signin.KeyOf("kim")}
	f.unannounced = room.ErrStore
	w := f.call(t, h, "kim", "POST", "/support/sign-out", "")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Empty(t, w.Header()["Set-Cookie"], "it can be sent again")
	require.NotContains(t, f.agents, "kim")
	require.Equal(t, closed, f.did)

	f.unannounced, f.did = nil, nil
	w = f.call(t, h, "kim", "POST", "/support/sign-out", "")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, closed, f.did)
	require.Negative(t, supportCookieOf(t, w, "waitroom_support").MaxAge)

	f.did = nil
	require.Equal(t, http.StatusServiceUnavailable,
		f.call(t, h, "store", "POST", "/support/sign-out", "").Code)
	require.Equal(t, http.StatusSeeOther, f.call(t, h, "", "POST", "/support/sign-out", "").Code)
	require.Empty(t, f.did, "for an unknown or empty name nothing is closed")
}

func TestWhatIsPostedIsNoPage(t *testing.T) {
	f := newFakeDesk()
	rooms, err := web.ParseRooms("sign-out,integration")
	require.NoError(t, err)
	h, err := web.New(web.Config{Support: f.support(), Rooms: rooms})
	require.NoError(t, err)
	for _, token := range []string{"", "kim"} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			w := f.call(t, h, token, method, "/support/sign-out", "", "Accept", "application/json")
			require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
			require.Equal(t, "POST", w.Header().Get("Allow"), method)
			require.Contains(t, w.Body.String(), `"code":"method_not_allowed"`, method)
		}
	}
	require.Contains(t, f.call(t, h, "kim", "GET", "/support/sign-out", "").Header().Get("Content-Type"),
		"text/html")
	paths := []string{"/support/-/deliveries/7/retry"}
	for name := range support.Actions {
		paths = append(paths, "/api/support/integration/"+name)
	}
	for _, path := range paths {
		w := f.call(t, h, "kim", "GET", path, "")
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, path)
		require.Equal(t, "POST", w.Header().Get("Allow"), path)
	}
	require.Contains(t, f.agents, "kim")
	require.Empty(t, f.did)
}

func TestSignInByOpenIDConnect(t *testing.T) {
	f := newFakeDesk()
	require.Equal(t, http.StatusNotFound, f.call(t, deskHandler(t, f), "", "GET", "/support/oidc/start",
		"").Code)
	f.oidc = true
	h := deskHandler(t, f)
	w := f.call(t, h, "", "GET", "/support/oidc/start?next=/support/integration", "")
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "https://issuer.example/authorize", w.Header().Get("Location"))
	c := supportCookieOf(t, w, "waitroom_oidc_STATE1")
	require.Equal(t, http.SameSiteLaxMode, c.SameSite)
	require.True(t, c.HttpOnly)
	require.Equal(t, 600, c.MaxAge)

	back := func(query string) *httptest.ResponseRecorder {
		return f.call(t, h, "", "GET", "/support/oidc/callback"+query, "", "Cookie", c.Name+"="+c.Value,
			"Sec-Fetch-Site", "cross-site")
	}
	w = back("?state=STATE1&code=c")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "/support/integration")
	require.Equal(t, http.SameSiteStrictMode, supportCookieOf(t, w, "waitroom_support").SameSite)
	require.Negative(t, supportCookieOf(t, w, "waitroom_oidc_STATE1").MaxAge)

	for _, query := range []string{"?state=STATE1", "?state=STATE2&code=c", "?code=c", "?state=STATE2&error=x"} {
		require.Equal(t, http.StatusUnauthorized, back(query).Code, query)
	}
	require.Equal(t, http.StatusUnauthorized, f.call(t, h, "", "GET",
		"/support/oidc/callback?state=STATE1&code=c", "").Code)
	for _, row := range []struct {
		err    error
		status int
		words  string
	}{
		{signin.ErrNotAdmitted, http.StatusForbidden, "may not open the support desk"},
		{signin.ErrTooManyGroups, http.StatusForbidden, "in so many groups"},
		{signin.ErrDenied, http.StatusForbidden, "cancelled at your company"},
		{signin.ErrAway, http.StatusServiceUnavailable, "cannot be reached"},
		{errors.New("unforeseen"), http.StatusInternalServerError, ""},
	} {
		f.err = row.err
		w = f.call(t, h, "", "GET", "/support/oidc/callback?state=STATE1&code=c", "", "Cookie",
			c.Name+"="+c.Value, "Accept-Language", "en")
		require.Equal(t, row.status, w.Code)
		require.Contains(t, w.Body.String(), row.words)
		require.False(t, strings.Contains(strings.Join(w.Header()["Set-Cookie"], ""), "waitroom_support="))
	}
	f.err = signin.ErrAway
	require.Equal(t, http.StatusServiceUnavailable, f.call(t, h, "", "GET", "/support/oidc/start", "").Code)
}

func TestErrorOfTheProviderIsNotAnExpiredSignIn(t *testing.T) {
	f := newFakeDesk()
	f.oidc = true
	w := f.call(t, deskHandler(t, f), "", "GET", "/support/oidc/callback?state=S&error=access_denied", "",
		"Cookie", "waitroom_oidc_S=cookie /support", "Accept-Language", "en")
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Contains(t, w.Body.String(), "cancelled at your company")
}

func TestTabsThatSignInAtOnceDoNotEndEachOther(t *testing.T) {
	f := newFakeDesk()
	f.oidc = true
	h := deskHandler(t, f)
	jar := map[string]string{}
	var names []string // in the order in which a browser got and sends them
	call := func(path string) *httptest.ResponseRecorder {
		var sent []string
		for _, name := range names {
			if value, ok := jar[name]; ok {
				sent = append(sent, name+"="+value)
			}
		}
		w := f.call(t, h, "", "GET", path, "", "Cookie", strings.Join(sent, "; "))
		for _, c := range w.Result().Cookies() {
			if c.MaxAge < 0 {
				delete(jar, c.Name)
				continue
			}
			jar[c.Name] = c.Value
			names = append(names, c.Name)
		}
		return w
	}
	call("/support/oidc/start?next=/support/one")
	call("/support/oidc/start?next=/support/two")
	require.Contains(t, call("/support/oidc/callback?state=STATE1&code=c").Body.String(), "/support/one")
	require.Contains(t, call("/support/oidc/callback?state=STATE2&code=c").Body.String(), "/support/two")
	delete(jar, "waitroom_support")
	require.Empty(t, jar)

	for range 8 {
		require.Equal(t, http.StatusSeeOther, call("/support/oidc/start").Code)
	}
	require.Len(t, jar, 5)
	require.Equal(t, http.StatusUnauthorized, call("/support/oidc/callback?state=STATE5&code=c").Code)
	require.Equal(t, http.StatusOK, call("/support/oidc/callback?state=STATE6&code=c").Code, "the last five live")
}
