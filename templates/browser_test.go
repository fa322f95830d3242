package templates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// browser is one Chromium tab that records every error of its console.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	ctx := browsertest.Page(t)
	browsertest.AllowErrors(ctx, "") // each test checks its errors itself
	b := &browser{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.hear))
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdplog.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, string(e.Type))
	}
}

func (b *browser) requireQuiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.complaints)
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

// wentOn matches Chromium's error for a page that was left during an evaluation.
var wentOn = regexp.MustCompile("Cannot find context|Cannot find default execution context|Execution " +
	"context was destroyed|Inspected target navigated")

// until waits until an expression is true. The page's own policy forbids eval, so the browser's DevTools
// evaluate it.
func (b *browser) until(expression string) {
	b.t.Helper()
	look := fmt.Sprintf(`new Promise((done) => {
		const end = Date.now() + 60000;
		const look = () => (%s) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 10);
		look();
	})`, expression)
	seen, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise))
	for err != nil && wentOn.MatchString(err.Error()) { // another page meanwhile, which is asked then
		seen, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise))
	}
	require.NoError(b.t, err, expression)
	require.True(b.t, seen, "never: %s", expression)
}

func (b *browser) text(id string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx,
		chromedp.Evaluate[string](fmt.Sprintf(`document.getElementById(%q).innerText`, id)))
	require.NoError(b.t, err)
	return text
}

func (b *browser) open(room *fakeRoom, lang string) {
	b.t.Helper()
	b.do(chromedp.Navigate(room.server.URL + "/rooms/integration?lang=" + lang))
	b.until(`document.body?.dataset.connection === "open"`)
}

func TestSellerGoesFromReadyToVerifiedInTheBrowser(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	soon := time.Now().Add(90 * time.Second)
	tab.open(room, "ko")
	require.Equal(t, "3명이 기다려요", tab.text("queue-length"))

	room.then(object{"code": "seller_has_place", "detail": "이미 줄을 서 있어요"})
	tab.do(chromedp.SendKeys("#seller-id", "s-1"), chromedp.Click("#join"))
	tab.until(`document.getElementById("error").textContent === "이미 줄을 서 있어요"`)
	require.Equal(t, "POST /api/integration/lock s-1", room.lastCall())

	room.then(object{
		"status": "waiting", "ticket": 9, "queue_position": 4, "queue_length": 4,
		"estimated_wait": 200, "maximum_wait": 479, "lease_expires_at": soon.UnixMilli(),
	})
	tab.do(chromedp.Click("#join"))
	tab.until(`document.body.dataset.state === "waiting"`)
	require.Equal(t, "4", tab.text("position"))
	require.Equal(t, "내 앞에 3명이 기다려요", tab.text("ahead"))
	require.Equal(t, "약 3분 뒤 차례예요", tab.text("estimate"))
	require.Equal(t, "늦어도 8분", tab.text("latest"))
	require.Regexp(t, `^오[전후] \d+:\d\d쯤$`, tab.text("when"))
	tab.until(`document.activeElement === document.querySelector("[data-panel=waiting] h1")`)
	tab.until(`document.getElementById("say").textContent.includes("지금 4번째예요")`)

	old := room.change(object{"queue_position": 3})
	room.push(t, object{"queue_position": 1})
	room.write(t, old)
	tab.until(`document.body.dataset.next === "true"`)
	require.Equal(t, "1", tab.text("position"))
	require.Equal(t, "줄 선 뒤 3명 줄었어요", tab.text("passed"))

	tab.do(chromedp.Click("#leave"))
	tab.until(`document.getElementById("leave-dialog").open`)
	room.push(t, object{
		"status": "locked", "queue_position": nil, "fence": 77, "estimated_wait": nil,
		"maximum_wait": nil, "lease_expires_at": time.Now().Add(turnLength).UnixMilli(),
	})
	tab.until(`document.body.dataset.state === "locked" && !document.getElementById("leave-dialog").open`)
	tab.until(`document.getElementById("shout").textContent.endsWith("안에 인증해 주세요.")`)
	tab.until(
		`document.title.endsWith("지금 차례예요") && /^(30|29):\d\d$/.test(document.getElementById("countdown").textContent)`)

	sms := object{"type": "sms", "text": "인증번호 482103", "code": "482103", "received_at": time.Now().UnixMilli()}
	frame, err := json.Marshal(sms)
	require.NoError(t, err)
	room.write(t, frame)
	room.write(t, frame)
	tab.until(`document.getElementById("sms-code").textContent === "482103"`)
	require.Empty(t, tab.text("sms-earlier"), "a repeated message is shown once")

	letIn := room.shutOut()
	room.closeAll(4001)
	tab.until(`document.body.dataset.connection === "lost"`)
	require.Equal(t, "482103", tab.text("sms-code"))
	require.Equal(t, "인증번호가 도착했어요", tab.text("turn-title"))
	letIn()
	tab.until(`document.body?.dataset.connection === "open"`)

	room.then(object{"status": "ended", "outcome": "completed", "fence": nil, "lease_expires_at": nil})
	tab.do(chromedp.Click("#done"))
	tab.until(`document.body.dataset.state === "ended"`)
	require.Equal(t, "DELETE /api/integration/lock?reason=completed&fence=77 ", room.lastCall())
	require.Equal(t, "인증을 마쳤어요", tab.text("outcome"), "the seller pressed with the code on show")
	require.Equal(t, "482103", tab.text("sms-code"))

	room.closeAll(4502)
	tab.until(`document.body.dataset.connection === "closed"`)

	tab.mu.Lock()
	defer tab.mu.Unlock()
	require.Len(t, tab.complaints, 1, "only the refused join is in the console: %v", tab.complaints)
}

func TestBrowserShowsNoCodeOfAnEarlierTurn(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	turn := func(ticket int) object {
		return object{
			"status": "locked", "outcome": nil, "ticket": ticket, "fence": ticket, "estimated_wait": nil,
			"maximum_wait": nil, "lease_expires_at": time.Now().Add(2 * time.Minute).UnixMilli(),
		}
	}
	code, err := json.Marshal(object{"type": "sms", "text": "482103", "code": "482103",
		"received_at": time.Now().UnixMilli()})
	require.NoError(t, err)
	gone := object{"status": "ended", "outcome": "completed", "fence": nil, "lease_expires_at": nil}

	room.push(t, turn(9))
	room.write(t, code)
	room.push(t, gone)
	tab.until(`document.getElementById("outcome").textContent === "인증번호가 도착했어요"`)

	room.push(t, turn(10))
	room.write(t, code)
	room.push(t, object{"lease_expires_at": time.Now().Add(10 * time.Minute).UnixMilli()})
	// an ended turn leaves 0:00, so wait for a new countdown
	tab.until(`/^(10|9):\d\d$/.test(document.getElementById("countdown").textContent)`)
	require.Equal(t, "지금 차례예요", tab.text("turn-title"))
	require.Equal(t, "문자를 기다리고 있어요", tab.text("sms-code"))

	room.push(t, object{"status": "ended", "outcome": "cancelled", "fence": nil, "lease_expires_at": nil})
	tab.until(`document.getElementById("outcome").textContent === "차례를 취소했어요"`)
	tab.requireQuiet()
}

func TestBrowserWritesWaitsAsTheTableHasThem(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	table, err := os.ReadFile("testdata/words.json")
	require.NoError(t, err)
	tab.do(inZone("UTC")) // without a script, pages of support write instants in this zone
	for _, lang := range templates.Languages() {
		tab.open(room, lang)
		wrong, err := chromedp.Run(tab.ctx, chromedp.Evaluate[[]string](fmt.Sprintf(`(async (table, lang) => {
			const { ahead, estimate, expected, opensWords, placeWords, span, waitSentence, waitsNow, whenWords, clock } = await import("/static/js/words.js");
			const { stamp } = await import("/static/js/desk/times.js");
			const t = JSON.parse(document.getElementById("page-data").textContent).words;
			const wrong = [];
			const same = (want, got) => want === got || wrong.push(want + " | " + got);
			for (const row of table.estimate) same(row[lang], estimate(t, row.seconds));
			for (const row of table.span) same(row[lang], span(t, row.seconds));
			for (const row of table.sentence) same(row[lang], waitSentence(t, row.estimated, row.maximum, { position: row.position, spread: row.spread, left: row.left ?? 0 }));
			for (const row of table.ahead) same(row[lang], ahead(t, row.position));
			for (const row of table.place) same(row[lang], placeWords(t, row.position));
			for (const row of table.when) same(row[lang], whenWords(t, row.hour, row.minute));
			for (const row of table.opens) same(row[lang], opensWords(t, new Date(row.at), new Date(row.now)));
			for (const row of table.stamp) same(row.text, stamp(row.at, row.after, row.format));
			for (const row of table.clock) same(row.text, clock(row.milliseconds));
			for (const row of table.expected) same(row.expected, expected(row.estimated, row.maximum, { ...row, lease: 120 }));
			const began = 1_800_000_000_000;
			for (const row of table.waits) {
				const until = row.left == null ? null : began + row.left * 1000;
				const state = { estimated_wait: row.estimated, maximum_wait: row.maximum, lease_expires_at: until, server_time: began };
				const { estimated, maximum } = waitsNow(state, began + row.gone * 1000, {});
				same(row.then_estimated, estimated);
				same(row.then_maximum, maximum);
			}
			return wrong;
		})(%s, %q)`, table, lang), chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		require.Empty(t, wrong)
	}

	delays, err := chromedp.Run(tab.ctx, chromedp.Evaluate[[]float64](`(async () => {
		const { backoff } = await import("/static/js/backoff.js");
		const most = () => 1;
		return [backoff(0, () => 0), backoff(0, most), backoff(3, most), backoff(9, most), backoff(9000, most)];
	})()`, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	require.Equal(t, []float64{0, 1000, 8000, 20000, 20000}, delays, "the first try within a second, then "+
		"doubled, capped")
	tab.requireQuiet()
}
