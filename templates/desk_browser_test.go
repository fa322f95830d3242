package templates_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/templates"
)

// serveQuietPages serves support's pages that are not live under /support/{lang}/{name},
// as the real server would.
func serveQuietPages(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("/support/{lang}/{name}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", templates.ContentSecurityPolicy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		page, ok := quietPages(r.PathValue("lang"))[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_ = page.Render(r.Context(), w)
	})
	mux.HandleFunc("/support/integration/history", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", templates.ContentSecurityPolicy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		v := historyView("ko")
		v.Seller, v.From, v.To = r.FormValue("seller"), r.FormValue("from"), r.FormValue("to")
		_ = templates.HistoryPage(v).Render(r.Context(), w)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// inZone changes the browser's time zone.
func inZone(name string) browsertest.Action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetTimezoneOverride,
			emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return err
	})
}

func read(t *testing.T, ctx context.Context, expression string) string {
	t.Helper()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	require.NoError(t, err, expression)
	return text
}

// until waits for an expression to become true, on this page or on the next one.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	require.Eventually(t, func() bool {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		return err == nil && is
	}, 60*time.Second, 20*time.Millisecond, expression)
}

// lookedAt are the pages that differ in more than missing parts, each with the theme and size to test.
// TestNothingKeepsPeopleOutOfAQuietPageInAnyLook tests every page in every theme and size.
var lookedAt = []struct {
	lang, name string
	dark       bool
}{
	{"ko", "find", false}, {"en", "find-near", true},
	{"ko", "sign-in", false}, {"en", "sign-in-failed", true}, {"en", "story", false}, {"ko", "story-away",
		true}, {"ko", "history", false},
	{"en", "history-refused", true}, {"en", "audit", true}, {"ko", "deliveries", false}, {"en", "docs", true},
	{"ko", "sign-ins", false},
}

func TestNothingKeepsPeopleOutOfAQuietPage(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	for _, look := range lookedAt {
		if look.name == "docs" { // it takes as long as all others
			continue
		}
		require.NoError(t, chromedp.Do(ctx, browsertest.Viewport(1440, 900, look.dark, true),
			chromedp.Navigate(site+"/support/"+look.lang+"/"+look.name)))
		found, err := browsertest.Axe(ctx)
		require.NoError(t, err)
		require.Empty(t, found, look)
	}
}

func TestNoQuietPageIsWiderThanAPhone(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	require.NoError(t, chromedp.Do(ctx, browsertest.Viewport(360, 740, false, true)))
	for _, lang := range []string{"ko", "en"} {
		for _, look := range lookedAt {
			require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site+"/support/"+lang+"/"+look.name)))
			wide := read(t, ctx, `[...document.querySelectorAll("body *")].filter((e) => !e.closest(".unseen, .skip, thead") &&
				(e.getBoundingClientRect().right > innerWidth + 1 || (e.localName !== "input" && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1))).map((e) => e.outerHTML.slice(0, 80)).join("\n")`)
			require.Empty(t, wide, "%s in %s", look.name, lang)
		}
	}
}

func TestTimesAreTheReadersOwnAndUTCWithoutAScript(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	line, heading := `document.querySelectorAll(".lines")[1].children[1].innerText.replace(/\s+/g, " ")`,
		`document.querySelector("#visit-2").innerText.replace(/\s+/g, " ")`
	require.NoError(t, chromedp.Do(ctx, inZone("Asia/Seoul"), chromedp.Navigate(site+"/support/ko/story")))
	until(t, ctx, `document.querySelector(".utc").hidden`)
	require.Equal(t, "23:03:12 자리를 비워 순서를 넘겼어요 · 다음 차례는 유지돼요 · 23:02:57에 연결이 끊겼어요", read(t, ctx, line))
	require.Equal(t, "대기 번호 3번 · integration · 2026-07-03 23:01–23:05 · 인증을 마쳤어요", read(t, ctx, heading))
	require.Equal(t, "시각은 내 시간대예요 (Asia/Seoul)", read(t, ctx, `document.querySelector(".zone").textContent`))

	require.NoError(t, chromedp.Do(ctx, browsertest.WithoutScript(),
		chromedp.Navigate(site+"/support/ko/story")))
	require.Equal(t, "14:03:12 자리를 비워 순서를 넘겼어요 · 다음 차례는 유지돼요 · 14:02:57에 연결이 끊겼어요", read(t, ctx, line))
	require.Equal(t, "대기 번호 3번 · integration · 2026-07-03 14:01–14:05 UTC · 인증을 마쳤어요", read(t, ctx, heading))
	require.Equal(t, "시각은 UTC예요", read(t, ctx, `document.querySelector(".zone").textContent`))
	require.Equal(t, "true", read(t, ctx, `String(document.querySelector("#copy-link").hidden)`))
}

// Of a page's files those for spreadsheets alone ask for the reader's zone.
func TestFileForSpreadsheetsHasTheReadersZone(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	zoneOf := func(id string) string {
		return read(t, ctx, fmt.Sprintf(`String(new URL(document.getElementById(%q).href).searchParams.get("zone"))`, id))
	}
	for name, links := range map[string][2]string{"history": {"export-bom", "export"}, "audit": {"export", "export-json"}} {
		require.NoError(t, chromedp.Do(ctx, inZone("Asia/Seoul"), chromedp.Navigate(site+"/support/ko/"+name)))
		until(t, ctx, `document.querySelector(".zone").textContent.includes("Asia/Seoul")`)
		require.Equal(t, []string{"Asia/Seoul", "null"}, []string{zoneOf(links[0]), zoneOf(links[1])}, name)
	}
}

func TestSellersOfTwoDirectionsLookDifferentAndMoveNoNeighbour(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site+"/support/en/find-mirrored")))
	digitFirst := read(t, ctx, `[...document.querySelectorAll("a")].filter((a) => a.textContent.includes("אבג")).map((a) => {
		const text = a.firstChild, left = (c) => {
			const r = document.createRange();
			r.setStart(text, text.data.indexOf(c));
			r.setEnd(text, text.data.indexOf(c) + 1);
			return r.getBoundingClientRect().left;
		};
		return left("1") < left("א");
	}).join()`)
	require.Equal(t, "false,true", digitFirst)

	story := storyView("en")
	story.Seller = mirroredIDs[1]
	require.Contains(t, render(t, templates.StoryPage(story)), "\u2068"+mirroredIDs[1]+"\u2069")
	for text, want := range map[string]string{"s-1": "s-1 left", "가": "가 left",
		mirroredIDs[0]: "\u2068" + mirroredIDs[0] + "\u2069 left", "\U0001E900": "\u2068\U0001E900\u2069 left"} {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(
			`import("/static/js/words.js").then((m) => m.fill("{seller} left", { seller: %q }))`, text),
			chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestPagesWriteTimesAsTheServerDoes(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	for _, name := range []string{"story", "history", "audit", "deliveries"} {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site+"/support/ko/"+name)))
		wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`(async () => {
			const { stamp } = await import("/static/js/desk/times.js");
			const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
			return [...page.querySelectorAll("time")].filter((time) => {
				const { at, after, format } = time.dataset;
				const ahead = new Date().getTimezoneOffset() * 60_000;
				return stamp(Number(at) + ahead, after ? Number(after) + ahead : 0, format) !== time.textContent;
			}).map((time) => time.outerHTML);
		})()`, chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		require.Empty(t, wrong, name)
	}
}

func TestADayInTheSearchIsTheReadersOwn(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	sent := func() string { return read(t, ctx, `location.search`) }
	value := func(id string) string { return read(t, ctx, fmt.Sprintf(`document.getElementById(%q).value`, id)) }
	require.NoError(t,
		chromedp.Do(ctx, inZone("Asia/Seoul"), chromedp.Navigate(site+"/support/integration/history?lang=ko")))
	// without a filter the page shows today
	until(t, ctx, `location.search.startsWith("?lang=ko&from=20") && !document.querySelector(".presets").hidden`)
	until(t, ctx,
		`document.getElementById("from").value === new Date(Date.now() + 9 * 3600000).toISOString().slice(0, 10)`)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site+"/support/integration/history?from=")))
	until(t, ctx, `!document.querySelector(".presets").hidden`)
	require.NoError(t, chromedp.Do(ctx, chromedp.SendKeys("#from", "2026-07-03"),
		chromedp.SendKeys("#to", "2026-07-03"), chromedp.Click("#filter .primary")))
	until(t, ctx, `location.search.includes("seller") && !document.querySelector(".presets").hidden`)
	require.Equal(t, "?seller=&from=2026-07-02T15%3A00%3A00.000Z&to=2026-07-03T15%3A00%3A00.000Z", sent())
	require.Equal(t, "2026-07-03 2026-07-03", value("from")+" "+value("to"), "and it is shown as it was typed")
	require.Contains(t, read(t, ctx, `document.getElementById("rows").innerText.replace(/\s+/g, " ")`),
		"시작 2026-07-03 끝 2026-07-03")

	read(t, ctx,
		`(document.getElementById("from").value = "2026-02-31") && (document.getElementById("to").value = "")`)
	require.NoError(t, chromedp.Do(ctx, chromedp.Click("#filter .primary")))
	until(t, ctx, `location.search.includes("02-31") && !document.querySelector(".presets").hidden`)
	require.Equal(t, "?seller=&from=2026-02-31&to=", sent(), "what is no day is the server's to refuse")

	require.NoError(t, chromedp.Do(ctx, chromedp.Click("[data-preset=yesterday]")))
	until(t, ctx, `/from=....-..-..T15/.test(location.search) && /to=....-..-..T15/.test(location.search)`)
}

func TestALinkIsCopied(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site+"/support/ko/story?room=integration")))
	until(t, ctx, `!document.querySelector("#copy-link").hidden`)
	read(t, ctx,
		`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (t) => { window.copied = t; } } }) && ""`)
	require.NoError(t, chromedp.Do(ctx, chromedp.Click("#copy-link")))
	until(t, ctx,
		`document.querySelector("#copy-said").textContent === "복사했어요" && window.copied === location.href`)
}

func TestSignInWorksWithAKeyboardAndWithoutAScript(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	focused := func() string { return read(t, ctx, `document.activeElement.id`) }
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site+"/support/ko/sign-in")))
	until(t, ctx, `document.activeElement.id === "username"`)
	require.NoError(t, chromedp.Do(ctx, browsertest.WithoutScript(),
		chromedp.Navigate(site+"/support/ko/sign-in-failed")))
	until(t, ctx, `document.activeElement.id === "error"`)
	require.Equal(t, "error", focused(), "the error is read out first")

	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(site+"/support/ko/bounce")))
	until(t, ctx, `location.pathname === "/support/integration"`)
	browsertest.AllowErrors(ctx, "/support/integration", "/favicon.ico") // there is no page, and so no icon
}
