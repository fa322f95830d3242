package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// agentPage is the browser tab of a signed-in agent of support, on the room's desk page.
func agentPage(t *testing.T, p page, base string) page {
	t.Helper()
	require.NoError(t, chromedp.Do(p.ctx, browsertest.Viewport(1440, 900, false, false),
		browsertest.Language("ko-KR"),
		chromedp.Navigate(base+"/support/integration")))
	p.leads("/support/sign-in")
	require.NoError(t, chromedp.Do(p.ctx, chromedp.SendKeys(chromedp.CSS("#username"), "kim"),
		chromedp.SendKeys(chromedp.CSS("#password"), "kim's password"),
		chromedp.Click(chromedp.CSS("#sign-in button"))))
	p.leads("/support/integration")
	p.is(`document.body.dataset.connection === "open"`)
	p.is(`window.wasHere = true`)
	return p
}

// leads waits until the page has navigated to another path.
func (p page) leads(path string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		there, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`location.pathname === "`+path+`"`))
		return err == nil && there
	}, patience, 20*time.Millisecond, path)
}

// does presses an element, picks the first of the ready-made reasons, and confirms.
func (p page) does(press, more string) {
	p.t.Helper()
	p.is(`(document.querySelector('` + press + `').click(), document.getElementById("act").open)`)
	p.is(more)
	p.is(`(document.querySelector("#act-picks input").click(), true)`)
	p.is(`!document.getElementById("act-yes").disabled && (document.getElementById("act-yes").click(), true)`)
	p.is(`!document.getElementById("act").open`)
}

// row runs an action on the waiting seller with a ticket.
func (p page) row(ticket int, verb, more string) {
	p.t.Helper()
	p.is(fmt.Sprintf(`document.querySelector('[data-key="%d"] .more')`, ticket))
	p.is(fmt.Sprintf(`(document.querySelector('[data-key="%d"] .more').click(), true)`, ticket))
	p.does(`#row-menu [data-verb=`+verb+`]`, more)
}

func (p page) noticed() {
	p.t.Helper()
	p.is(`document.getElementById("notice").textContent.trim() !== ""`)
}

// An agent's actions at one replica show on sellers' pages of another and on the desk. No page is reloaded.
func TestWhatAnAgentDoesIsSeenOnTheSellersPagesAtOnce(t *testing.T) {
	o := openOffice(t)
	browser := browsertest.New(t)
	open := func() page { return page{t, browsertest.Isolated(t, browser)} }
	agent := agentPage(t, open(), o.a.URL())
	holder, second, third := newSeller(t, o.b.URL(), "s-1"), newSeller(t, o.b.URL(), "s-2"),
		newSeller(t, o.b.URL(), "s-3")
	for _, s := range []*seller{holder, second, third} {
		s.joinAsking()
	}
	last := openPage(t, open().ctx, o.b.URL())
	last.join("s-4")
	last.state("waiting")
	agent.is(`document.getElementById("holder-seller").textContent === "s-1" && document.querySelector('[data-key="4"]')`)

	agent.does("#extend", `true`)
	// check this first, since it is shown for ten seconds only
	agent.is(`document.getElementById("holder-note").textContent.trim() !== ""`)

	agent.row(4, "move", `(document.getElementById("act-position").value = "1", document.getElementById("act-form").dispatchEvent(new Event("input")), true)`)
	last.is(`document.querySelector("#position").textContent.trim() === "1"`)
	last.noticed()
	agent.is(`document.querySelector('[data-key="4"] [data-cell=position]').textContent === "1"`)
	agent.is(`document.querySelector("#line-note button") && (document.querySelector("#line-note button").click(), true)`)
	last.is(`document.querySelector("#position").textContent.trim() === "3"`)

	agent.row(3, "remove", `true`)
	agent.is(`!document.querySelector('[data-key="3"]')`)
	require.Equal(t, "removed", third.status().me().text("outcome"))
	agent.row(2, "remove", `true`)
	agent.is(`!document.querySelector('[data-key="2"]')`)
	require.Equal(t, "removed", second.status().me().text("outcome"))

	agent.does("#pause", `true`)
	last.is(`document.body.dataset.paused === "true"`)
	agent.does("#release", `true`)
	agent.is(`document.getElementById("holder").dataset.held === "false"`)
	require.Equal(t, "forced", holder.status().me().text("outcome"))
	last.state("waiting")
	agent.does("#pause", `true`)
	last.state("locked")
	agent.is(`document.getElementById("holder-seller").textContent === "s-4" && window.wasHere`)
	agent.does("#release", `true`)
	last.state("ended")
	last.is(`document.querySelector("#outcome").dataset.outcome === "forced"`)

	kim := newAgent(t, o.b.URL(), "kim")
	kim.history("", func(r reply) bool { return len(r.list("actions")) == 9 })
	audit := kim.ask(http.MethodGet, "/support/-/audit?lang=en", "").body
	for _, word := range []string{"kim", "s-1"[:1]} {
		require.Contains(t, audit, word)
	}

	// Signing out elsewhere ends this page too.
	agent.is(`(fetch("/support/sign-out", {method: "POST"}), true)`)
	agent.leads("/support/sign-in")
}

// The room has no hours: it is closed for an hour, and opened again before.
func TestWhatAnAgentAnnouncesAndClosesIsSeenOnTheSellersPagesAtOnce(t *testing.T) {
	o := openOffice(t)
	browser := browsertest.New(t)
	open := func() page { return page{t, browsertest.Isolated(t, browser)} }
	agent := agentPage(t, open(), o.a.URL())
	seller := openPage(t, open().ctx, o.b.URL())
	agent.is(`!document.getElementById("hours").disabled`)

	agent.does("#announce", `(document.querySelector('#act-wording [value="late"]').click(), true)`)
	seller.is(`document.getElementById("announcement").textContent.length > 20`)
	agent.is(`document.getElementById("announced-text").textContent.includes("인증번호 문자가 늦게")`)
	agent.does("#announced-back", `true`)
	seller.is(`document.getElementById("announcement").textContent === ""`)
	agent.is(`document.getElementById("announced").hidden`)

	agent.does("#hours", `document.querySelector('#act-choices [value="60"]').checked`)
	seller.is(`!document.getElementById("closed").hidden`)
	agent.is(`document.getElementById("open-state").textContent.startsWith("상담원이 닫았어요.")`)
	agent.does("#hours", `document.getElementById("act-choices").hidden`)
	seller.is(`document.getElementById("closed").hidden`)
	agent.is(`document.getElementById("open-state").hidden && window.wasHere`)
	require.Empty(t, browsertest.Errors(agent.ctx))
}

// The seller closed its tab, was passed over, came back, held the lock, and let the lease expire: the
// timeline has it in order.
func TestTimelineShowsWhyATurnWasLost(t *testing.T) {
	l := startLibrary(t, "integration: {lease: 10m}\n",
		append(supportArgs(t), "--away-after", "300ms", "--sms-quarantine", "0s")...)
	kim := newAgent(t, l.URL(), "kim")
	first, seller := newSeller(t, l.URL(), "first"), newSeller(t, l.URL(), "s-lost")
	fence := first.join().json["fence"]
	seller.join()
	tab := open(t, l.URL(), "X-Session-ID", seller.session)
	next(t, tab)
	const again = "away, back, away" // as one absence: a slow seller is away as well, for a moment
	kinds := func() string {
		got := kim.ask(http.MethodGet, "/api/support/integration/timeline?seller=s-lost", "")
		var all []string
		for _, e := range got.list("events") {
			e, _ := e.(map[string]any)
			kind := fmt.Sprint(e["kind"])
			if e["outcome"] != nil {
				kind += " " + fmt.Sprint(e["outcome"])
			}
			all = append(all, kind)
		}
		joined := strings.Join(all, ", ")
		for strings.Contains(joined, again) {
			joined = strings.ReplaceAll(joined, again, "away")
		}
		return joined
	}
	shows := func(want string) {
		t.Helper()
		testproc.Until(t, patience, func() error {
			if got := kinds(); got != want {
				return errors.New(got)
			}
			return nil
		})
	}
	require.NoError(t, tab.CloseNow())
	shows("joined, away")
	l.reads("integration: {lease: 2s}\n")
	kim.mustAct("release", fmt.Sprintf(`{"fence":%s,"reason":"now it is the other's turn"}`, fence))
	until(t, open(t, l.URL(), "X-Session-ID", seller.session), "ended")
	shows("joined, away, back, granted, ended expired")

	for lang, words := range map[string][]string{
		"ko": {"줄을 섰어요", "자리를 비워 순서를 넘겼어요", "돌아왔어요", "차례", "넘어갔어요"},
		"en": {"joined the line", "was away", "came back", "got the turn", "time ran out"},
	} {
		page := kim.ask(http.MethodGet, "/support/-/sellers/s-lost?lang="+lang, "").body
		at := 0
		for _, word := range words {
			next := strings.Index(strings.ToLower(page[at:]), word)
			require.GreaterOrEqual(t, next, 0, "%s in %s, in order: %s", word, lang, page)
			at += next
		}
	}
}
