package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/doctor"
)

// portalSecret is the secret that the tests' portal and the server share.
var portalSecret = strings.Repeat("hush", 8)

const roomPage = "/rooms/integration"

// proving returns the arguments of a server whose sellers need tokens.
func proving(more ...string) []string {
	return append([]string{"--seller-auth", "jwt", "--seller-jwt-secret", portalSecret}, more...)
}

func token(t *testing.T, claims portaltest.Claims) string {
	t.Helper()
	return portaltest.Sign(t, jwt.SigningMethodHS256, []byte(portalSecret), "", claims)
}

// comesFromThePortal returns a seller with a new browser and the session that the portal's link gave it.
func comesFromThePortal(t *testing.T, base, id string) *seller {
	t.Helper()
	s := newReader(t, base)
	requireState(t, s.ask("GET", roomPage+"?token="+token(t, portaltest.For(id)), ""), "idle")
	return s
}

func (s *seller) cookies() string {
	s.t.Helper()
	at, err := url.Parse(s.base)
	require.NoError(s.t, err)
	for _, c := range s.http.Jar.Cookies(at) {
		if c.Name == "waitroom_session" {
			return c.Value
		}
	}
	return ""
}

// press joins with the session alone; the body names no seller.
func (s *seller) press(headers ...string) reply {
	s.t.Helper()
	return s.ask("POST", lockPath, `{"seller_id":"somebody-else"}`,
		append([]string{asJSON, jsonType}, headers...)...)
}

func TestPortalsTokenIsExchangedForACookieAndGone(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, proving("--redis-url", store)...))
		s := newSeller(t, r.URL(), "")
		s.session = ""
		link := roomPage + "?lang=en&token=" + token(t, portaltest.For("s-1"))
		got := s.ask("GET", link, "")
		require.Equal(t, http.StatusSeeOther, got.StatusCode, got.body)
		require.Equal(t, roomPage+"?lang=en", got.Header.Get("Location"))
		require.Equal(t, "no-referrer", got.Header.Get("Referrer-Policy"))
		require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		cookie := cookieOf(t, got, "waitroom_session")
		require.True(t, cookie.HttpOnly)
		require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)
		require.EqualValues(t, (12 * time.Hour).Seconds(), cookie.MaxAge)
		_, err := room.ParseSession(cookie.Value)
		require.NoError(t, err)

		page := s.ask("GET", roomPage+"?lang=en", "", "Cookie", "waitroom_session="+cookie.Value)
		requireState(t, page, "idle")
		require.Contains(t, page.body, `You are here as <bdi translate="no">s-1</bdi>`)
		require.NotContains(t, page.body, "<label for=\"seller-id\"", "nobody is asked who it is")
		locked := s.press("Cookie", "waitroom_session="+cookie.Value)
		require.Equal(t, http.StatusOK, locked.StatusCode, locked.body)
		require.Equal(t, "s-1", locked.text("seller_id"), "whatever the body says")
		require.Equal(t, cookie.Value, locked.text("session_id"))

		again := s.ask("GET", link, "", "Accept-Language", "en")
		require.Equal(t, http.StatusUnauthorized, again.StatusCode)
		require.Empty(t, again.Header.Values("Set-Cookie")[1:], "but for the language")
		require.Equal(t, "no-referrer", again.Header.Get("Referrer-Policy"))
		require.Contains(t, again.body, "That link was used before")
		require.NotContains(t, again.body, "token=")
	})
}

func TestSellersSecondBrowserSeesItsPlaceAndJoinsIt(t *testing.T) {
	args := proving("--redis-url", redistest.Lent(t).URL(), "--sms-quarantine", "0s")
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	holder, first := comesFromThePortal(t, one.URL(), "s-1"), comesFromThePortal(t, one.URL(), "s-2")
	require.Equal(t, "locked", holder.press().text("status"))
	waiting := first.press()
	require.Equal(t, http.StatusAccepted, waiting.StatusCode, waiting.body)

	second := newReader(t, other.URL())
	requireState(t, second.ask("GET", roomPage+"?token="+token(t, portaltest.For("s-2")), ""), "waiting")
	joined := second.press()
	require.Equal(t, waiting.number("ticket"), joined.number("ticket"))
	require.Equal(t, waiting.number("version"), joined.number("version"), "nothing has changed")
	require.Equal(t, first.cookies(), waiting.text("session_id"))
	require.Equal(t, second.cookies(), joined.text("session_id"), "each goes on under its own session")
	require.NotEqual(t, first.cookies(), second.cookies())
	require.Equal(t, waiting.number("ticket"), second.status().me().number("ticket"))

	var sockets []*websocket.Conn
	for _, s := range []*seller{first, second} {
		conn := open(t, s.base, "Cookie", "waitroom_session="+s.cookies(), "Origin", s.base)
		require.Equal(t, "waiting", next(t, conn)["status"])
		sockets = append(sockets, conn)
	}
	require.Equal(t, "released", holder.leave("?reason=completed").text("status"))
	turn := second.status().me()
	require.Equal(t, "locked", turn.text("status"))
	require.Equal(t, "s-2", turn.text("seller_id"))
	asked := second.ask("POST", lockPath+"/expect", `{"fence":`+strconv.FormatInt(turn.number("fence"), 10)+`}`,
		asJSON, jsonType)
	require.Equal(t, http.StatusOK, asked.StatusCode, asked.body)
	require.Equal(t, second.cookies(), asked.text("session_id"))
	done := first.leave("?reason=completed")
	require.Equal(t, "completed", done.text("outcome"), done.body)
	require.Equal(t, first.cookies(), done.text("session_id"))
	require.Equal(t, "ended", second.status().me().text("status"))
	for _, conn := range sockets {
		until(t, conn, "locked")
		require.Equal(t, "completed", until(t, conn, "ended")["outcome"])
	}
}

func TestSellerIsAwayWhenTheLastOfItsBrowsersIsGone(t *testing.T) {
	store := redistest.Lent(t).URL()
	args := proving("--redis-url", store, "--away-after", "300ms")
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	away := func(want int) {
		t.Helper()
		require.Eventually(t, func() bool {
			g, err := one.engine.Glance(t.Context(), "integration")
			return err == nil && g.Away == want
		}, patience, patience/1000)
	}
	watch := func(s *seller) *websocket.Conn {
		conn := open(t, s.base, "Cookie", "waitroom_session="+s.cookies(), "Origin", s.base)
		next(t, conn)
		return conn
	}
	holder, first, second := comesFromThePortal(t, one.URL(), "s-1"), comesFromThePortal(t, one.URL(), "s-2"),
		comesFromThePortal(t, other.URL(), "s-2")
	gone := comesFromThePortal(t, one.URL(), "s-3")
	for _, s := range []*seller{holder, first, gone} {
		s.press()
	}
	here, there, other3 := watch(first), watch(second), watch(gone)
	for _, conn := range []*websocket.Conn{here, there, other3} {
		answering(conn) // a seller that answers no ping is away
	}
	require.NoError(t, here.CloseNow())
	require.NoError(t, other3.CloseNow())
	away(1) // the one that has no other browser
	require.NoError(t, there.CloseNow())
	away(2)
	back := watch(second)
	answering(watch(second)) // for the seller; the other one's frames are read below
	away(1)
	holder.leave("?reason=completed")
	until(t, back, "locked")
}

func TestUnprovenSellerIsSentToThePortal(t *testing.T) {
	r := start(t, config(t, proving()...))
	s := newSeller(t, r.URL(), "s-1")
	for name, headers := range map[string][]string{
		"a session of its own": nil, "a cookie of its own": {"X-Session-ID", "", "Cookie",
			"waitroom_session=" + room.NewSession()},
		"a cookie that is none": {"X-Session-ID", "", "Cookie", "waitroom_session=me"},
		"another Authorization": {"Authorization", "Basic eDp4"},
	} {
		for method, path := range map[string]string{"POST": lockPath, "DELETE": lockPath} {
			got := s.ask(method, path, `{"seller_id":"s-1"}`,
				append([]string{asJSON, jsonType, "Accept-Language", "en"}, headers...)...)
			requireProblem(t, got, 401, "not_identified")
			require.Equal(t, "Bearer", got.Header.Get("WWW-Authenticate"))
			require.Empty(t, got.Header.Values("Set-Cookie"), name)
		}
		requireProblem(t, s.ask("POST", lockPath+"/expect", `{"fence":1}`,
			append([]string{asJSON, jsonType}, headers...)...), 401, "not_identified")
		requireProblem(t, s.ask("POST", lockPath+"/claim", `{"fence":1}`,
			append([]string{asJSON, jsonType}, headers...)...), 401, "not_identified")
		requireProblem(t, s.ask("POST", lockPath+"/reject", `{"fence":1,"message_id":"m"}`,
			append([]string{asJSON, jsonType}, headers...)...), 401, "not_identified")
		requireProblem(t, s.ask("POST", lockPath+"/push", bodies["push"],
			append([]string{asJSON, jsonType}, headers...)...), 401, "not_identified")
		require.Nil(t, s.ask("GET", lockPath+"/status", "", headers...).json["me"], "anybody may look")
	}
	require.Equal(t, "idle", next(t, open(t, r.URL(), "X-Session-ID", s.session))["status"])

	b := newReader(t, r.URL())
	page := b.ask("GET", "/", "")
	requireState(t, page, "idle")
	require.Contains(t, page.body, "판매자 포털에서 다시 들어와 주세요")
	require.NotContains(t, page.body, `id="join"`)
	page = b.submit(roomPage+"/join", "seller_id", "s-1")
	requireState(t, page, "idle")
	require.Contains(t, page.body, "누구인지 확인되지 않았어요")
	for _, form := range []string{"/leave", "/expect", "/reject"} {
		page = b.submit(roomPage+form, "confirm", "yes", "fence", "1", "message_id", "m", "lang", "en")
		require.Contains(t, page.body, "come in from the seller portal again", form)
	}
}

func TestProvenSellersWholeTurnWorksByFormsAlone(t *testing.T) {
	r := start(t, config(t, proving()...))
	a, b := comesFromThePortal(t, r.URL(), "s-1"), newReader(t, r.URL())
	requireState(t, b.ask("GET", "/?token="+token(t, portaltest.For("s-2")), ""), "idle")
	require.Equal(t, "/", b.ask("GET", "/?token="+token(t, portaltest.For("s-2")), "").Request.URL.RequestURI())
	requireState(t, a.submit(roomPage+"/join"), "locked")
	page := b.submit(roomPage+"/join", "seller_id", "s-1")
	requireState(t, page, "waiting")
	require.Contains(t, page.body, `<bdi translate="no">s-2</bdi> 판매자로`)
	requireState(t, a.submit(roomPage+"/expect", "fence", fenceField(t, a), "key", "k"), "locked")
	requireState(t, a.submit(roomPage+"/leave", "reason", "completed", "fence", fenceField(t, a), "confirm",
		"yes"), "ended")
	requireState(t, b.ask("GET", roomPage+"/?token="+token(t, portaltest.For("s-2")), ""), "locked")
}

func TestRefusedTokenSaysWhy(t *testing.T) {
	r := start(t, config(t, proving()...))
	s := newSeller(t, r.URL(), "")
	s.session = ""
	good := portaltest.For("s-1")
	for code, wrong := range map[string]struct {
		claims portaltest.Claims
		reason string
	}{
		"invalid_token":  {good.With("sub", 7), "sub is a number: want a text"},
		"token_expired":  {good.With("exp", time.Now().Unix()-1), "its exp was "},
		"token_early":    {good.With("iat", time.Now().Add(time.Minute).Unix()), "ahead of waitroom's clock"},
		"wrong_audience": {good.With("aud", "billing"), "want waitroom or the room's id"},
	} {
		text := token(t, wrong.claims)
		got := s.press("Authorization", "Bearer "+text, "Accept-Language", "en")
		requireProblem(t, got, 401, code)
		require.Equal(t, "Bearer", got.Header.Get("WWW-Authenticate"))
		require.NotContains(t, got.body, text[:20])
		require.Contains(t, got.text("reason"), wrong.reason)
		require.Equal(t, code == "token_expired", strings.Contains(got.text("detail"), "get a new one"),
			"nothing of a link's minute: %s", got.body)
		requireProblem(t, s.ask("GET", lockPath+"/status", "", "Authorization", "bearer "+text), 401, code)
		requireProblem(t, s.ask("GET", messagesPath, "", "Authorization", "bearer "+text), 401, code)
		_, resp, err := dial(t, r.URL(), "Authorization", "Bearer "+text)
		require.Error(t, err)
		require.Equal(t, 401, resp.StatusCode)

		page := s.ask("GET", roomPage+"?token="+text, "")
		require.Equal(t, 401, page.StatusCode)
		require.Contains(t, page.Header.Get("Content-Type"), "text/html")
		require.Contains(t, page.body, "포털에서 다시 들어와 주세요")
		require.Empty(t, page.Header.Values("Set-Cookie"))
		require.NotContains(t, page.body, text[:20])
		require.NotContains(t, page.body, wrong.reason, "a seller can do nothing about it")
	}
	require.Equal(t, 401, s.ask("GET", roomPage+"?token=", "").StatusCode)
	requireProblem(t, s.press("Authorization", "Bearer"), 401, "invalid_token")
}

// A portal's developer has a token in a file, and no seller yet.
func TestDoctorSaysHowATokenCounts(t *testing.T) {
	cfg := config(t, proving()...)
	report := func(cfg Config, text, id string) (fine bool, report string) {
		var out bytes.Buffer
		fine = doctor.WriteFindings(&out, DiagnoseToken(t.Context(), cfg, text+"\n", id))
		require.NotContains(t, out.String(), text[:20])
		return fine, out.String()
	}
	good := portaltest.For("s-1")
	fine, text := report(cfg, token(t, good), "")
	require.True(t, fine)
	require.Equal(t, 2, strings.Count(text, "it is taken, for the seller s-1."), text)
	fine, text = report(cfg, token(t, good.With("iat", nil)), "")
	require.True(t, fine, "a robot's needs none")
	require.Contains(t, text, "In an address it is refused: it has no iat")
	fine, text = report(cfg, token(t, good.With("sub", "kim 7")), "")
	require.False(t, fine)
	require.Contains(t, text, "As Bearer it is refused: sub has a space")
	fine, _ = report(cfg, token(t, good.With("room", "stock")), "stock")
	require.True(t, fine)
	fine, _ = report(cfg, token(t, good.With("room", "stock")), "")
	require.False(t, fine)
	fine, text = report(config(t), token(t, good), "")
	require.False(t, fine)
	require.Contains(t, text, "Set WAITROOM_SELLER_AUTH")
}

func TestTokenMayNameTheServerAsItIsCalledFromOutside(t *testing.T) {
	for public, status := range map[string]int{"http://wait.example": 200, "http://other.example": 401} {
		r := start(t, config(t, proving("--public-url", public)...))
		req, err := http.NewRequestWithContext(t.Context(), "GET", r.URL()+lockPath+"/status", nil)
		require.NoError(t, err)
		req.Host = strings.TrimPrefix(public, "http://")
		req.Header.Set("Authorization", "Bearer "+token(t,
			portaltest.For("s-1").With("aud", "http://wait.example")))
		got, err := newHTTP(t).Do(req)
		require.NoError(t, err)
		require.NoError(t, got.Body.Close())
		require.Equal(t, status, got.StatusCode, public)
	}
}

func TestProgramSendsItsTokenEachTime(t *testing.T) {
	store := redistest.Lent(t).URL()
	one, other := start(t, config(t, proving("--redis-url", store)...)),
		start(t, config(t, proving("--redis-url", store)...))
	bearer := []string{"Authorization", "Bearer " + token(t, portaltest.For("s-1"))}
	s := newSeller(t, one.URL(), "")
	locked := s.press(bearer...)
	require.Equal(t, http.StatusOK, locked.StatusCode, locked.body)
	require.Equal(t, s.session, locked.text("session_id"), "a session that it brings is kept")
	require.Equal(t, "s-1", locked.text("seller_id"))

	bare := newSeller(t, other.URL(), "")
	bare.session = ""
	same := bare.press(bearer...)
	require.Equal(t, locked.number("ticket"), same.number("ticket"))
	require.Equal(t, same.text("session_id"), bare.press(bearer...).text("session_id"),
		"a caller without one gets one that stays")
	require.Equal(t, "locked", next(t, open(t, other.URL(), bearer...))["status"])

	planted := "waitroom_session=" + room.NewSession()
	require.Equal(t, same.text("session_id"),
		bare.press(append(bearer, "Cookie", planted)...).text("session_id"), "a cookie beside it says nothing")
	require.Nil(t, bare.ask("GET", lockPath+"/status", "", "Cookie", planted).json["me"])

	alone := newSeller(t, other.URL(), "")
	for _, session := range []string{s.session, same.text("session_id")} {
		alone.session = session
		require.Equal(t, locked.number("ticket"), alone.status().me().number("ticket"),
			"from then on it stands for the seller by itself")
		require.Equal(t, session, alone.status().me().text("session_id"))
		require.Equal(t, "locked", next(t, open(t, other.URL(), "X-Session-ID", session))["status"])
	}
	requireProblem(t, s.press("Authorization", "Bearer "+token(t, portaltest.For("s-2"))), 400,
		"invalid_session")
	require.Equal(t, "completed", bare.ask("DELETE", lockPath+"?reason=completed", "",
		bearer...).text("outcome"))
	requireProblem(t, alone.leave(""), 404, "no_place")
}

func TestPortalChangesItsKeysWithoutARestart(t *testing.T) {
	old, fresh := portaltest.NewKey(t, "2026-11", jwt.SigningMethodES256),
		portaltest.NewKey(t, "2026-12", jwt.SigningMethodRS256)
	portal := portaltest.Start(t, old)
	r := start(t, config(t, "--seller-auth", "jwt", "--seller-jwks-url", portal.URL))
	s := newReader(t, r.URL())
	requireState(t, s.ask("GET", roomPage+"?token="+old.Token(t, portaltest.For("s-1")), ""), "idle")
	portal.Serve(fresh)
	requireState(t, newReader(t, r.URL()).ask("GET", roomPage+"?token="+fresh.Token(t, portaltest.For("s-2")),
		""), "idle")
	requireProblem(t, s.press("Authorization", "Bearer "+old.Token(t, portaltest.For("s-1"))), 401,
		"invalid_token")
	requireProblem(t, s.press("Authorization", "Bearer "+fresh.Token(t, portaltest.For("s-1").With("aud", nil))),
		401, "wrong_audience")
	require.Equal(t, "locked", s.press().text("status"), "who was let in stays in")

	away := start(t, config(t, "--seller-auth", "jwt", "--seller-jwks-url", "http://127.0.0.1:1/keys"))
	requireProblem(t, newSeller(t, away.URL(), "").press("Authorization",
		"Bearer "+fresh.Token(t, portaltest.For("s-1"))), 503, "keys_unavailable")
	testproc.Until(t, patience, func() error { // the rooms go on, as soon as it has begun to hear of them
		if status := newReader(t, away.URL()).ask("GET", "/readyz", "").StatusCode; status != 200 {
			return fmt.Errorf("readiness answers %d", status)
		}
		return nil
	})
}

func TestTokensAndSessionsAreNotLogged(t *testing.T) {
	var log testproc.Log
	made, err := New(t.Context(), config(t, proving()...),
		slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	require.NoError(t, err)
	r := run(t, made)
	good, bad := token(t, portaltest.For("s-1")), token(t, portaltest.For("s-2").With("aud", "billing"))
	s := newReader(t, r.URL())
	s.ask("GET", roomPage+"?token="+good, "")
	session := s.cookies()
	newReader(t, r.URL()).ask("GET", roomPage+"?token="+good, "") // another browser
	s.ask("GET", roomPage+"?token="+bad, "")
	s.press()
	s.press("Authorization", "Bearer "+bad)
	metrics := s.ask("GET", "/metrics", "").body
	require.Contains(t, log.String(), roomPage)
	require.Contains(t, log.String(), `way=link reason="its aud is another: want waitroom or the room's id"`)
	require.Contains(t, metrics, `waitroom_seller_tokens_total{result="used",way="link"} 1`)
	for _, hidden := range append(strings.Split(good, ".")[1:], bad[20:], session, portalSecret) {
		require.NotContains(t, log.String(), hidden)
		require.NotContains(t, metrics, hidden)
	}
}

func TestTokensCountForNothingWhereSellersNameThemselves(t *testing.T) {
	r := start(t, config(t))
	s := newSeller(t, r.URL(), "s-1")
	got := s.press("Authorization", "Bearer "+token(t, portaltest.For("s-9")))
	require.Equal(t, "somebody-else", got.text("seller_id"))
	requireState(t, newReader(t, r.URL()).ask("GET", roomPage+"?token="+token(t, portaltest.For("s-9")), ""),
		"idle")
}

// A portal whose seller signs out has the token, and neither the browser's cookie nor the session's id.
func TestAPortalEndsAPlaceByATokenAlone(t *testing.T) {
	r := start(t, config(t, proving()...))
	first, second := comesFromThePortal(t, r.URL(), "shop-a"), comesFromThePortal(t, r.URL(), "shop-b")
	require.Equal(t, http.StatusOK, first.press().StatusCode)
	require.Equal(t, http.StatusAccepted, second.press().StatusCode)
	portal := newReader(t, r.URL())
	leave := func(seller string) reply {
		claims := portaltest.For(seller)
		claims["exp"] = time.Now().Add(time.Minute).Unix()
		return portal.ask("DELETE", lockPath, "", "Authorization", "Bearer "+token(t, claims))
	}
	left := leave("shop-b")
	require.Equal(t, "left", left.text("status"), left.body)
	require.Equal(t, "ended", second.status().me().text("status"))
	require.Equal(t, "locked", first.status().me().text("status"), "the other shop's place stays")
	require.Equal(t, "no_place", leave("shop-b").text("code"))
}
