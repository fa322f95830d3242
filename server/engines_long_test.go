//go:build long

package server

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/internal/testkit/webdriver"
)

// engines are the browser engines that sellers use.
var engines = []struct {
	name string
	open func(testing.TB, webdriver.Config) *webdriver.Browser
}{{"chromium", webdriver.Chromium}, {"webkit", webdriver.WebKit}, {"firefox", webdriver.Firefox}}

// journeys are ways in which a seller uses the room's page.
var journeys = []struct {
	name string
	walk func(*journey)
	room string            // what is set for its rooms
	not  map[string]string // why an engine does not make it
}{
	{name: "turn", walk: (*journey).wholeTurn},
	{name: "finish", walk: (*journey).finishesByHand},
	{name: "late", walk: (*journey).runsOutAndTheCodeIsLate, room: "lease: 4s"},
	{name: "unanswered", walk: (*journey).answersTooLate, room: "claim_within: 1s"},
	{name: "leave", walk: (*journey).leavesWithoutAConnection},
	{name: "cancel", walk: (*journey).cancelsWithoutAConnection},
	{name: "reload", walk: (*journey).reloads},
	{name: "polling", walk: (*journey).hasNoSocket},
	{name: "tabs", walk: (*journey).hasTwoTabs},
	{name: "language", walk: (*journey).changesTheLanguage},
	{name: "alerts", walk: (*journey).turnsOnSoundAndNotifications},
	{name: "back", walk: (*journey).goesBackAndForward,
		not: map[string]string{"webkit": "its driver hangs after Back on pages with COOP"}},
	{name: "restart", walk: (*journey).outlivesARestart},
	{name: "embed", walk: (*journey).takesATurnOnAnotherSite},
	{name: "return", walk: (*journey).returnsToThePortal, room: "return_url: MARKET/done"},
	{name: "cookies", walk: (*journey).keepsNoCookies,
		not: map[string]string{"oldchromium": "as in chromium", "chromium": "TestWhereCookiesAreBlockedThePageKeepsItsPlaceAlsoThroughAReload"}},
}

func TestEveryEngineMakesTheSellersJourneys(t *testing.T) {
	market := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>market</title><p id=from>%s</p>",
			html.EscapeString(r.Header.Get("Referer")))
	}))
	t.Cleanup(market.Close)
	address := strings.Replace(market.URL, "127.0.0.1", "localhost", 1) + "/wing" // another site
	var names, texts []string
	for _, j := range journeys {
		names = append(names, j.name+":*")
		texts = append(texts, fmt.Sprintf("%s:*: {name: 마켓, phone: 010-0000-0000, marketplace: {name: 마켓, url: "+
			"%q}, %s}", j.name, address, strings.Replace(j.room, "MARKET", strings.TrimSuffix(address, "/wing"), 1)))
	}
	other := newGuest(t)
	r := start(t, config(t, "--rooms", strings.Join(names, ","), "--rooms-file",
		roomsFile(t, strings.Join(texts, "\n")), "--sms-webhook-secret", smsSecret,
		"--allowed-origins", other.origin, "--return-secret", returnSecret))
	other.shows(t, 0, r.URL())
	other.page = strings.Replace(other.page, `room: "integration"`,
		`room: "embed:" + location.pathname.slice(1)`, 1)
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			line := newWire(t, strings.TrimPrefix(r.URL(), "http://"))
			b := engine.open(t, webdriver.Config{})
			b.Resize(360, 740)
			for _, j := range journeys {
				if j.not[engine.name] != "" {
					continue
				}
				t.Run(j.name, func(t *testing.T) {
					j.walk(&journey{Browser: b.In(t), t: t, server: r.URL(), base: "http://" + line.Addr().String(),
						room:   j.name + ":" + engine.name,
						market: address, portal: other.origin + "/" + engine.name, line: line, again: engine.open})
				})
			}
		})
	}
}

// The portal gave a way to reach each seller, who turns the message on, and off again.
func TestEveryEngineTakesTheChoiceOfThePortalsMessage(t *testing.T) {
	p := &portal{}
	hooks := httptest.NewServer(p)
	t.Cleanup(hooks.Close)
	r := start(t, config(t, proving("--webhook-url", hooks.URL, "--webhook-secret", smsSecret,
		"--webhook-near", "9")...))
	require.Equal(t, http.StatusOK, comesFromThePortal(t, r.URL(), "holder").press().StatusCode)
	for i, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			b := engine.open(t, webdriver.Config{})
			b.Resize(360, 740)
			b.Open(r.URL() + roomPage + "?lang=ko&token=" + token(t, portaltest.For(engine.name).With("reach",
				"카카오톡 010-****-5678")))
			b.Until(`document.body.dataset.state === "idle" && document.body.dataset.connection === "open"`)
			b.Click("#join")
			b.Until(`document.body.dataset.state === "waiting"`)
			b.Click("#reach")
			b.Until(`document.getElementById("reach-state").textContent === "켜짐"`)
			b.Pictures("reach")
			p.until(t, func() bool { return slices.Contains(p.near, fmt.Sprint(engine.name, " ", i+1)) })
			b.Click("#reach")
			b.Until(`document.getElementById("reach-state").textContent === "꺼짐"`)
		})
	}
}

// journey is one seller with a browser, alone in a room.
type journey struct {
	*webdriver.Browser
	t      *testing.T
	server string
	base   string // the server, behind line
	room   string
	market string
	portal string // a page with embed.js, on another site
	line   *wire
	again  func(testing.TB, webdriver.Config) *webdriver.Browser
}

func (j *journey) arrives(base string) {
	j.t.Helper()
	j.Open(base + "/rooms/" + j.room + "?lang=ko")
	j.Until(`document.body.dataset.state === "idle" && ["open", "polling"].includes(document.body.dataset.connection)`)
}

// joins opens the page and presses 준비 완료, to get the lock or a place in line.
func (j *journey) joins(base, state string) {
	j.t.Helper()
	j.arrives(base)
	j.Type("#seller-id", "seller-a")
	j.Click("#join")
	j.is(state)
}

// waits joins behind another seller, and returns that seller.
func (j *journey) waits(base string) *seller {
	j.t.Helper()
	holder := j.holds()
	j.joins(base, "waiting")
	j.Until(`document.getElementById("position").textContent === "1"`)
	return holder
}

// holds lets another seller hold the lock.
func (j *journey) holds() *seller {
	j.t.Helper()
	holder := newSeller(j.t, j.server, "holder")
	got := holder.ask(http.MethodPost, "/api/"+j.room+"/lock", `{"seller_id":"holder","asks":true}`,
		"Content-Type", "application/json")
	require.Equal(j.t, "locked", got.text("status"), got.body)
	return holder
}

func (j *journey) is(state string) {
	j.t.Helper()
	j.Until(fmt.Sprintf(`document.body.dataset.state === %q`, state))
}

func (j *journey) step(step string) {
	j.t.Helper()
	j.Until(fmt.Sprintf(`document.body.dataset.step === %q`, step))
}

func (j *journey) shows(id, text string) {
	j.t.Helper()
	j.Until(fmt.Sprintf(`(document.getElementById(%q)?.textContent ?? "").trim() === %q`, id, text))
}

func (j *journey) leaves(s *seller) {
	j.t.Helper()
	got := s.ask(http.MethodDelete, "/api/"+j.room+"/lock", "")
	require.Equal(j.t, http.StatusOK, got.StatusCode, got.body)
}

// comes delivers a message that was sent just now, and requires its result.
func (j *journey) comes(code, result string) {
	j.t.Helper()
	got := carrierTo(j.t, j.server, j.room, smsSecret, "1588-0000", "m-"+code, "인증번호는 ["+code+"] 입니다",
		time.Now())
	require.Equal(j.t, result, got.text("result"), got.body)
}

// looks requires what holds for a page in each state, and takes its pictures: one primary button on show, all
// of an open question in the window, and nothing over the code.
func (j *journey) looks(name string) {
	j.t.Helper()
	j.Resize(360, 740)
	require.Empty(j.t, webdriver.Eval[[]string](j.Browser, `(() => {
		const wrong = [];
		const question = document.querySelector("dialog[open]");
		const paint = (element) => {
			const own = getComputedStyle(element).backgroundColor;
			return own !== "rgba(0, 0, 0, 0)" || !element.parentElement ? own : paint(element.parentElement);
		};
		const primary = [...(question ?? document).querySelectorAll(".button.primary")].filter((button) =>
			button.getClientRects().length > 0 && paint(button) !== paint(button.parentElement));
		if (primary.length > 1) wrong.push("primary: " + primary.map((button) => button.textContent.trim()));
		const { top, bottom } = question?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
		if (top < 0 || bottom > innerHeight) wrong.push("question from " + top + " to " + bottom);
		if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the window");
		const code = document.getElementById("sms-code");
		if (!question && code.textContent.trim() && code.getClientRects().length > 0) {
			code.scrollIntoView({ block: "center", behavior: "instant" });
			const { left, top, width, height } = code.getBoundingClientRect();
			const over = document.elementFromPoint(left + width / 2, top + height / 2);
			if (!code.contains(over)) wrong.push("over the code: " + over.outerHTML);
		}
		scrollTo(0, 0);
		return wrong;
	})()`), name)
	j.Pictures(name)
}

// asks presses a button that asks for a code.
func (j *journey) asks(button string) {
	j.t.Helper()
	j.Click(button)
	j.step("asked")
}

// inLine returns the number of waiters, from the API.
func (j *journey) inLine() int64 {
	j.t.Helper()
	return newSeller(j.t, j.server, "looks").ask(http.MethodGet, "/api/"+j.room+"/lock/status",
		"").number("queue_length")
}

// wholeTurn takes a turn from the join to the end. WebKit opens a new tab only directly in a click, and the
// page waits for the ask's answer first.
func (j *journey) wholeTurn() {
	holder := j.waits(j.base)
	j.looks("waiting")
	j.Click("#leave")
	j.Until(`document.getElementById("leave-dialog").open`)
	j.looks("leave")
	j.Click("#leave-stay")
	j.leaves(holder)
	j.step("ask")
	j.looks("turn")
	j.Click("#cancel")
	j.Until(`document.getElementById("leave-dialog").open`)
	j.looks("cancel")
	j.Click("#leave-stay")
	j.asks("#ask")
	testproc.Until(j.t, patience, func() error {
		if tabs := j.Tabs(); !slices.Contains(tabs, j.market) {
			return fmt.Errorf("no tab is at %s: %q", j.market, tabs)
		}
		return nil
	})
	j.shows("market-note", "")
	j.FirstTab()
	j.comes("482913", "matched")
	j.is("ended")
	j.Until(`document.getElementById("sms-code").textContent.replace(/\s/g, "") === "482913"`)
	j.looks("ended-code")
	j.Click("#sms-copy")
	j.shows("sms-copy", "복사했어요")
}

// finishesByHand asks twice, so that the first code does not end the turn.
func (j *journey) finishesByHand() {
	j.joins(j.base, "locked")
	j.asks("#ask")
	j.FirstTab()
	j.Click("#ask-again")
	j.Until(`!document.getElementById("ask-again").hasAttribute("aria-busy")`)
	j.comes("482913", "matched")
	j.step("code")
	j.looks("code")
	j.Click("#sms-reject")
	j.Until(`document.getElementById("reject-dialog").open`)
	j.looks("reject")
	j.Click("#reject-stay")
	j.Click("#sms-copy")
	j.shows("sms-copy", "복사했어요")
	j.Click("#done")
	j.is("ended")
	j.shows("outcome", "인증을 마쳤어요")
	j.looks("ended")
}

func (j *journey) runsOutAndTheCodeIsLate() {
	j.joins(j.base, "locked")
	j.asks("#ask")
	j.FirstTab()
	j.is("ended")
	j.Until(`document.getElementById("outcome").dataset.outcome === "expired"`)
	j.looks("expired")
	j.Until(above("join", "seller"))
	j.Click("#seller summary")
	j.Until(above("seller-id", "join"))
	j.Click("#seller summary")
	j.Until(above("join", "seller"))
	j.comes("482913", "late")
	j.Until(`document.getElementById("sms-code").textContent.replace(/\s/g, "") === "482913"`)
}

// above returns an expression that is true if one element comes before another one on the page.
func above(first, second string) string {
	return fmt.Sprintf(`((first, second) => first.getBoundingClientRect().bottom <= second.getBoundingClientRect().top &&
		Boolean(first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING))(document.getElementById(%q), document.getElementById(%q))`, first, second)
}

func (j *journey) answersTooLate() {
	holder := j.waits(j.base)
	j.reload() // a seller seen a moment ago need not press
	j.leaves(holder)
	j.Until(`document.body.dataset.missed === "true"`)
	j.Click("#back")
	j.step("ask")
}

func (j *journey) leavesWithoutAConnection() {
	j.waits(j.base)
	j.givesUp("#leave")
	require.EqualValues(j.t, 0, j.inLine())
}

func (j *journey) cancelsWithoutAConnection() {
	j.joins(j.base, "locked")
	j.givesUp("#cancel")
}

// givesUp presses a button while the server cannot be reached: the page shows it at once, and sends it later.
func (j *journey) givesUp(button string) {
	j.t.Helper()
	j.line.cut(true)
	defer j.line.cut(false)
	j.Until(`!document.getElementById("lost").hidden`) // the notice moves the buttons when it comes
	j.Click(button)
	j.Click("#leave-confirm")
	j.Until(fmt.Sprintf(`document.querySelector(%q).getAttribute("aria-busy") === "true"`, button))
	j.Until(`[...document.querySelectorAll("[data-error]")].some((place) => place.getClientRects().length > 0 && place.textContent.includes("다시 연결"))`)
	j.line.cut(false)
	j.is("ended")
	j.Until(`document.getElementById("outcome").dataset.outcome === "cancelled"`)
}

func (j *journey) reloads() {
	j.waits(j.base)
	j.reload()
	j.is("waiting")
	j.shows("ticket", "대기 번호 2")
}

func (j *journey) reload() {
	j.t.Helper()
	webdriver.Eval[bool](j.Browser, `(window.wasHere = true, setTimeout(() => location.reload(), 0), true)`)
	j.Until(`!window.wasHere && document.readyState === "complete"`)
	j.Until(`["open", "polling"].includes(document.body.dataset.connection ?? document.getElementById("connection")?.textContent)`)
}

func (j *journey) hasNoSocket() {
	holder := j.waits(through(j.t, j.server, asShipped, nil))
	j.Until(`document.body.dataset.connection === "polling" && document.getElementById("lost").hidden`)
	j.leaves(holder)
	j.step("ask")
	j.Click("#cancel")
	j.Click("#leave-confirm")
	j.is("ended")
}

func (j *journey) hasTwoTabs() {
	j.waits(j.base)
	j.NewTab(j.base + "/rooms/" + j.room)
	j.is("waiting")
	j.shows("ticket", "대기 번호 2")
	j.Click("#leave")
	j.Click("#leave-confirm")
	j.is("ended")
	j.FirstTab()
	j.is("ended")
}

func (j *journey) changesTheLanguage() {
	j.arrives(j.base)
	j.Type("#seller-id", "seller-a")
	j.Click("#lang summary")
	j.Click(`#lang a[hreflang="en"]`)
	j.Until(`document.documentElement.lang === "en" && document.body.dataset.connection === "open"`)
	j.Until(`document.getElementById("seller-id").value === "seller-a" && !location.search`)
	j.Click("#join")
	j.is("locked")
	j.Click("#lang summary")
	j.Click(`#lang a[hreflang="ko"]`)
	j.Until(`document.documentElement.lang === "ko" && document.body.dataset.state === "locked"`)
}

// turnsOnSoundAndNotifications presses both buttons. A machine may have no sound, and a headless browser
// shows no prompt; the page then says so.
func (j *journey) turnsOnSoundAndNotifications() {
	j.waits(j.base)
	j.reload() // no page hears of a press before it
	j.shows("sound-state", "꺼짐")
	j.Click("#sound-test")
	j.Until(`["켜짐", "소리를 낼 수 없어요"].includes(document.getElementById("sound-state").textContent)`)
	if webdriver.Eval[bool](j.Browser, `document.getElementById("notify").getClientRects().length > 0`) {
		j.Click("#notify")
	}
	j.Until(`document.getElementById("notify-note").textContent !== ""`)
}

// goesBackAndForward leaves the page and comes back after its seller got the lock.
func (j *journey) goesBackAndForward() {
	holder := j.waits(j.base)
	j.Open(j.base + "/docs")
	j.leaves(holder)
	for range 2 {
		webdriver.Eval[bool](j.Browser, `(setTimeout(() => history.back(), 0), true)`)
		j.Until(`document.body.dataset.state === "locked" && document.body.dataset.connection === "open"`)
		webdriver.Eval[bool](j.Browser, `(setTimeout(() => history.forward(), 0), true)`)
		j.Until(`document.body && !document.body.dataset.connection`)
	}
}

// outlivesARestart stops the only replica and starts another one on its address and its Redis.
func (j *journey) outlivesARestart() {
	settings := []string{"--rooms", "restart:*", "--redis-url", redistest.Start(j.t).URL(), "--database-url",
		"sqlite:" + filepath.Join(j.t.TempDir(), "waitroom.db")}
	first := start(j.t, config(j.t, settings...))
	j.server = first.URL()
	holder := j.waits(j.server)
	webdriver.Eval[bool](j.Browser, `window.wasHere = true`)
	require.NoError(j.t, first.stop(j.t))
	j.Until(`document.body.dataset.connection !== "open" && document.body.dataset.state === "waiting"`)
	start(j.t, config(j.t, append(settings, "--addr", first.Addr())...))
	j.Until(`document.body.dataset.connection === "open" && document.body.dataset.state === "waiting" && window.wasHere`)
	j.shows("ticket", "대기 번호 2")
	j.leaves(holder)
	j.step("ask")
}

// takesATurnOnAnotherSite uses the page in docs/embed.md, which gets no cookies.
func (j *journey) takesATurnOnAnotherSite() {
	holder := j.holds()
	j.Open(j.portal)
	j.says("connection", "open")
	j.says("where", "0 waiting")
	j.Type("#seller", "seller-a")
	j.Click("#ready button")
	j.says("where", "You are number 1")
	j.reload()
	j.says("where", "You are number 1")
	j.leaves(holder)
	j.says("where", "Your turn")
	j.Click("#ask")
	sent := 0
	testproc.Until(j.t, patience, func() error { // the page does not show when its ask counts
		sent++
		got := carrierTo(j.t, j.server, j.room, smsSecret, "1588-0000", fmt.Sprint("m-", sent),
			"인증번호는 [482913] 입니다", time.Now())
		if got.text("result") != "matched" {
			return errors.New(got.body)
		}
		return nil
	})
	j.says("where", "Over: completed")
	j.shows("code", "482913")
}

// returnsToThePortal ends a turn, and follows the link to the portal, which learns how it ended and not from
// which page.
func (j *journey) returnsToThePortal() {
	j.joins(j.base, "locked")
	j.Click("#cancel")
	j.Click("#leave-confirm")
	j.is("ended")
	j.looks("return")
	j.Click("#return")
	j.Until(`document.title === "market" && location.pathname === "/done"`)
	j.Until(`document.referrer === "" && document.getElementById("from").textContent === ""`)
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(webdriver.Eval[string](j.Browser,
		`new URLSearchParams(location.search).get("waitroom")`), claims,
		func(*jwt.Token) (any, error) { return []byte(returnSecret), nil },
		jwt.WithAudience(strings.TrimSuffix(j.market, "/wing")), jwt.WithValidMethods([]string{"HS256"}))
	require.NoError(j.t, err)
	require.Equal(j.t, "seller-a", claims["sub"])
	require.Equal(j.t, "cancelled", claims["outcome"])
	require.Equal(j.t, j.room, claims["room"])
}

// says waits for a text within an element.
func (j *journey) says(id, text string) {
	j.t.Helper()
	j.Until(fmt.Sprintf(`document.getElementById(%q).textContent.includes(%q)`, id, text))
}

func (j *journey) keepsNoCookies() {
	j.Browser = j.again(j.t, webdriver.Config{NoCookies: true})
	j.joins(j.base, "locked")
	require.False(j.t, webdriver.Eval[bool](j.Browser, `document.cookie.includes("waitroom")`))
	j.reload()
	j.is("locked")
	j.Click("#cancel")
	j.Click("#leave-confirm")
	j.is("ended")
}
