package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// bearerOf returns a token that a page can send for ten minutes.
func bearerOf(t *testing.T, seller string) string {
	t.Helper()
	claims := portaltest.For(seller)
	claims["exp"] = time.Now().Add(10 * time.Minute).Unix()
	return token(t, claims)
}

// overheard begins a script: it opens the room and collects all that the module receives and knows of it.
const overheard = `
	const heard = [];
	window.signedIn ??= "";
	const room = m.WaitingRoom.connect({ room: "integration", token: async () => window.signedIn });
	room.on("frame", (frame) => heard.push(frame));
	room.on("state", (state) => heard.push(state));
	const first = (type) => new Promise((done) => room.on(type, done));
`

func TestOnePageOfTwoSellersShowsEachItsOwnPlaceAndNothingOfTheOthers(t *testing.T) {
	g := newGuest(t)
	r := start(t, config(t, proving("--redis-url", redistest.Start(t).URL(), "--allowed-origins", g.origin,
		"--sms-webhook-secret", smsSecret)...))
	p := page{t: t, ctx: browsertest.New(t)}
	browsertest.AllowErrors(p.ctx, "400", "404") // of calls that are refused, see below
	open := func(seller, script string) string {
		return moduleOf[string](p, r.URL(), `window.signedIn = "`+bearerOf(t, seller)+`";`+overheard+script)
	}
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(g.origin)))
	require.Equal(t, "locked 1", open("s-1", `await first("state"); await room.join(); await room.expect();
		window.room = room; return room.state.status + " " + room.state.ticket`))
	matched := carrier(t, r.URL(), "m-1", "인증번호는 [482913] 입니다", time.Now())
	require.Equal(t, "matched", matched.text("result"), matched.body)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Reload()))
	require.Contains(t, open("s-1", `await first("message"); room.close(); return JSON.stringify(heard)`),
		"482913", "who comes back sees it again")

	t.Run("the next seller at that browser", func(t *testing.T) {
		require.NoError(t, chromedp.Do(p.ctx, chromedp.Reload()))
		heard := open("s-2", `await first("state"); await room.refresh();
			for (const act of ["leave", "claim"]) heard.push(await room[act]().then(() => "done", (refused) => refused.code));
			room.close(); return JSON.stringify(heard)`)
		require.Contains(t, heard, `"idle"`)
		require.Contains(t, heard, `"no_place","no_place"`)
		for _, others := range []string{"482913", `"ticket":1`, "ended", "locked"} {
			require.NotContains(t, heard, others)
		}
		require.Empty(t, evaluate[string](t, p.ctx, `JSON.stringify({...localStorage}).replace("{}", "")`),
			"a session that is a proven seller's stays with its page")
	})
	t.Run("the next seller on that page", func(t *testing.T) {
		require.NoError(t, chromedp.Do(p.ctx, chromedp.Reload()))
		heard := open("s-1", `await room.join(); await first("frame");
			window.signedIn = "`+bearerOf(t, "s-2")+`";
			heard.length = 0;
			await room.refresh();
			await first("frame");
			const joined = await room.join();
			heard.push(joined.ticket);
			window.room = room;
			const begun = heard.findIndex((what) => what?.status === "idle"); // what was on its way before is the first seller's still
			return JSON.stringify(heard.slice(begun))`)
		require.Contains(t, heard, `"idle"`)
		require.NotContains(t, heard, `"ticket":2`)
		require.NotContains(t, heard, "locked")
		require.Equal(t, "waiting", comesBack(t, r.URL(), "s-2").status().me().text("status"))
		require.Equal(t, "locked", comesBack(t, r.URL(), "s-1").status().me().text("status"),
			"nobody left its place for it")
	})
	t.Run("the next seller, when its socket opens anew", func(t *testing.T) {
		heard := moduleOf[string](p, r.URL(), `const heard = [];
			window.signedIn = "`+bearerOf(t, "s-1")+`";
			const held = new Promise((done) => window.room.on("state", (state) => (heard.push(state), state.status === "locked" && done())));
			dispatchEvent(new Event("online"));
			await held;
			return JSON.stringify(heard)`)
		require.NotContains(t, heard, "waiting")
	})
}

func TestSessionOfAnotherSellerIsRefusedBesideATokenOnEveryWayIn(t *testing.T) {
	r := start(t, config(t, proving("--redis-url", redistest.Start(t).URL(), "--sms-webhook-secret",
		smsSecret)...))
	first := comesFromThePortal(t, r.URL(), "s-1")
	fence := first.press().number("fence")
	before := first.status().me().body
	second := newReader(t, r.URL())
	second.session = first.cookies()
	bearer := []string{"Authorization", "Bearer " + bearerOf(t, "s-2")}
	for _, call := range [][2]string{{"POST", lockPath}, {"DELETE", lockPath}, {"POST", lockPath + "/expect"},
		{"POST", lockPath + "/claim"}, {"POST", lockPath + "/reject"},
		{"POST", lockPath + "/push"}, {"POST", linkAPI}, {"GET", lockPath + "/status"}, {"GET", messagesPath}} {
		body := fmt.Sprintf(`{"seller_id":"s-2","fence":%d,"message_id":"m","endpoint":"https://push.example/x","keys":{}}`, fence)
		got := second.ask(call[0], call[1], body, append(bearer, asJSON, jsonType)...)
		requireProblem(t, got, 400, "invalid_session")
		require.NotContains(t, got.body, "s-1")
	}
	_, resp, err := dial(t, r.URL(), append(bearer, "X-Session-ID", first.cookies())...)
	require.Error(t, err)
	require.Equal(t, 400, resp.StatusCode)
	byPage := func(words ...string) *websocket.Conn {
		conn, _, err := websocket.Dial(t.Context(), r.URL()+"/api/integration/ws",
			&websocket.DialOptions{HTTPClient: newHTTP(t), Subprotocols: append([]string{"waitroom"}, words...)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.CloseNow() })
		return conn
	}
	require.EqualValues(t, 4502, closing(t,
		byPage("waitroom.session."+first.cookies(), "waitroom.token."+bearerOf(t, "s-2"))), "a page must not retry")
	require.Equal(t, "locked", next(t, byPage("waitroom.token."+bearerOf(t, "s-1")))["status"])
	require.Equal(t, "idle", next(t, byPage("waitroom.token."+bearerOf(t, "s-2")))["status"])
	require.Equal(t, before, first.status().me().body)
}
