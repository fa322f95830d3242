package server

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/web/describe"
)

// guest is a page of another site than waitroom's: for a browser, localhost and 127.0.0.1 are different
// sites.
type guest struct {
	origin string
	page   string // what it serves; to be set before it is opened
}

func newGuest(t *testing.T) *guest {
	t.Helper()
	g := &guest{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<link rel="icon" href="data:,">` + g.page))
	}))
	t.Cleanup(site.Close)
	g.origin = "http://localhost:" + site.URL[len("http://127.0.0.1:"):]
	return g
}

// shows makes the guest serve the n-th page in docs/embed.md, with waitroom's address as base.
func (g *guest) shows(t *testing.T, n int, base string) {
	t.Helper()
	text, err := os.ReadFile("../docs/embed.md")
	require.NoError(t, err)
	pages := regexp.MustCompile("(?s)```html\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(pages), n)
	g.page = strings.ReplaceAll(pages[n][1], "https://wait.example", base)
}

func TestAPageOfAnotherSiteRunsAWholeTurnByTheModule(t *testing.T) {
	g := newGuest(t)
	r := start(t, config(t, "--allowed-origins", g.origin, "--sms-quarantine", "0s"))
	g.shows(t, 0, r.URL())
	holder := newSeller(t, r.URL(), "holder")
	require.Equal(t, "locked", holder.join().json["status"])

	p := page{t: t, ctx: browsertest.New(t)}
	browsertest.AllowErrors(p.ctx, "409") // for a seller with a place
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(g.origin)))
	says := func(id, text string) string {
		return `document.querySelector("` + id + `").textContent.includes("` + text + `")`
	}
	p.is(says("#connection", "open") + " && " + says("#where", "0 waiting"))

	require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#seller"), "holder")))
	p.press("#ready button")
	// the page shows the server's own text
	p.is(says("#problem", "seller") + ` && document.querySelector("#problem").textContent.length > 10`)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.SetValue(chromedp.CSS("#seller"), "guest")))
	p.press("#ready button")
	p.is(says("#where", "You are number 1"))
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Reload()))
	p.is(says("#where", "You are number 1"))

	holder.leave("?reason=completed")
	p.is(says("#where", "Your turn"))
	p.press("#ask")
	p.is(says("#where", "Your turn") + ` && document.querySelector("#problem").textContent === ""`)
	asked := newSeller(t, r.URL(), "")
	asked.session = evaluate[string](t, p.ctx,
		`Object.entries(localStorage).find(([key]) => key.startsWith("waitroom:"))[1]`)
	require.Equal(t, uuid.Version(4), uuid.MustParse(asked.session).Version())
	require.Equal(t, "guest", asked.status().json["me"].(map[string]any)["seller_id"])
	require.Empty(t, evaluate[string](t, p.ctx, `document.cookie`))

	p.press("#leave")
	p.is(says("#where", "Over: cancelled"))
}

func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return value
}

func TestASocketMayNameItsSessionByAProtocol(t *testing.T) {
	r := start(t, config(t, "--allowed-origins", "https://portal.example"))
	joined := newSeller(t, r.URL(), "a").join()
	session := joined.json["session_id"].(string)
	dialed := func(origin string, protocols ...string) (*websocket.Conn, *http.Response, error) {
		return websocket.Dial(t.Context(), r.URL()+"/api/integration/ws",
			&websocket.DialOptions{HTTPClient: newHTTP(t),
				HTTPHeader: http.Header{"Origin": {origin}}, Subprotocols: protocols})
	}
	conn, resp, err := dialed("https://portal.example", "waitroom", "waitroom.session."+session)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	require.Equal(t, "waitroom", conn.Subprotocol())
	require.NotContains(t, resp.Header, session)
	require.Equal(t, "locked", next(t, conn)["status"])

	_, resp, err = dialed("https://portal.example", "waitroom", "waitroom.session.nobody")
	require.Error(t, err)
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	_, resp, err = dialed("https://evil.example", "waitroom", "waitroom.session."+session)
	require.Error(t, err)
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
}

func TestOnlyNamedOriginsMayImportTheModule(t *testing.T) {
	r := start(t, config(t, "--allowed-origins", "https://portal.example"))
	s := newReader(t, r.URL())
	for origin, allowed := range map[string]string{"https://portal.example": "https://portal.example",
		"https://evil.example": "", "": ""} {
		got := s.ask("GET", "/static/embed.js", "", "Origin", origin)
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, allowed, got.Header.Get("Access-Control-Allow-Origin"), origin)
		require.Contains(t, got.Header.Values("Vary"), "Origin", origin)
		require.Equal(t, "public, max-age=300", got.Header.Get("Cache-Control"))
		require.NotEmpty(t, got.Header.Get("ETag"))
	}
	require.Contains(t, s.ask("GET", "/static/embed.d.ts", "").body, "export class WaitingRoom")
}

// moduleOf runs a script on another site's page, in which m is waitroom's module and base its address.
func moduleOf[T any](p page, base, script string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](`(async (base) => {
		const m = await import(base + "/static/embed.js");
		`+script+`
	})("`+base+`")`, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	return value
}

func TestTheModuleDoesWhatItsTypesSay(t *testing.T) {
	g := newGuest(t)
	r := start(t, config(t, "--allowed-origins", g.origin))
	p := page{t: t, ctx: browsertest.New(t)}
	browsertest.AllowErrors(p.ctx, "404") // of a room that there is not
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(g.origin)))
	types := newReader(t, r.URL()).ask("GET", "/static/embed.d.ts", "").body
	_, class, found := strings.Cut(types, "export class WaitingRoom {")
	require.True(t, found)
	class, _, _ = strings.Cut(class, "\n}")
	for _, method := range regexp.MustCompile(
		`(?m)^  (?:static )?(\w+)(?:<[^>]+>)?\(`).FindAllStringSubmatch(class, -1) {
		is := moduleOf[string](p, r.URL(), `return typeof (m.WaitingRoom.prototype.`+method[1]+` ?? m.WaitingRoom.`+
			method[1]+`)`)
		require.Equal(t, "function", is, method[1])
	}
	require.Empty(t, moduleOf[[]string](p, r.URL(), `return Object.getOwnPropertyNames(m.WaitingRoom.prototype)
		.filter((name) => name !== "constructor" && !`+jsText(class)+`.includes(name))`), "each has a type")
	states := moduleOf[string](p, r.URL(), `const room = m.WaitingRoom.connect({ room: "integration" });
		const all = [];
		const first = new Promise((done) => room.on("state", (state) => all.push(state) && done()));
		await first;
		all.push(await room.join("a"), await room.refresh(), await room.leave(), await room.refresh());
		room.close();
		return JSON.stringify(all)`)
	var all []map[string]any
	require.NoError(t, json.Unmarshal([]byte(states), &all))
	require.GreaterOrEqual(t, len(all), 5)
	for _, state := range all {
		for field := range state { // an answer also has the session, a secret
			require.True(t, field == "type" || field == "room" || strings.Contains(types, "readonly "+field),
				"%s has no type", field)
		}
		if state["status"] != "locked" {
			require.Nil(t, state["fence"])
		}
		at := state["server_time"].(float64)
		require.Equal(t, math.Trunc(at), at)
	}
	for kind, schema := range map[string]string{"Message": "SMS", "Unclaimed": "SMSUnclaimed", "State": "Codes"} {
		_, fields, found := strings.Cut(types, "export interface "+kind+" {")
		require.True(t, found, kind)
		fields, _, _ = strings.Cut(fields, "\n}")
		for _, field := range propertiesOf(t, schema) {
			require.True(t, field == "type" || regexp.MustCompile(`readonly `+field+`\??:`).MatchString(fields),
				"%s has no %s", kind, field)
		}
	}
	require.Equal(t, "unknown_room", moduleOf[string](p, r.URL(),
		`const room = m.WaitingRoom.connect({ room: "nowhere" });
		return room.join("a").catch((refused) => { room.close(); return refused.code; })`))
}

// propertiesOf returns the names of the fields of a described frame.
func propertiesOf(t *testing.T, schema string) []string {
	t.Helper()
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, yaml.Unmarshal(describe.AsyncAPI(), &document))
	properties := document.Components.Schemas[schema].Properties
	require.NotEmpty(t, properties, schema)
	return slices.Collect(maps.Keys(properties))
}

func jsText(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

func TestTheModuleProvesASellerByTheTokenOfItsPage(t *testing.T) {
	g := newGuest(t)
	r := start(t, config(t, proving("--redis-url", redistest.Lent(t).URL(), "--allowed-origins", g.origin)...))
	holder := comesFromThePortal(t, r.URL(), "holder")
	holder.press()
	p := page{t: t, ctx: browsertest.New(t)}
	browsertest.AllowErrors(p.ctx, "400") // see below
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(g.origin)))
	join := func(seller string) string {
		claims := portaltest.For(seller)
		claims["exp"] = time.Now().Add(time.Minute).Unix()
		return moduleOf[string](p, r.URL(), `window.room = m.WaitingRoom.connect({ room: "integration", token: async () => "`+token(t, claims)+`" });
			const state = await room.join();
			return state.status + " " + state.ticket`)
	}
	require.Equal(t, "waiting 2", join("s-2"))
	require.Equal(t, "waiting 3", join("s-3"), "the browser was another seller's before")
	holder.leave("?reason=completed")
	p.is(`window.room.state.queue_position === 1`) // by the socket
}
