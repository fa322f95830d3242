package templates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

func TestPageNamesItsLanguageAndLinksToAllOthersWithoutAScript(t *testing.T) {
	for _, lang := range templates.Languages() {
		view := everyState()["idle"]
		view.Lang = lang
		page := render(t, templates.RoomPage(view))
		require.Contains(t, page, `<html lang="`+lang+`">`)
		menu := between(t, page, `<details class="langs"`, "</details>")
		for _, other := range templates.Languages() {
			require.Contains(t, menu, fmt.Sprintf(`<a href="?lang=%[1]s" hreflang="%[1]s" lang="%[1]s"`, other), lang)
		}
		require.Equal(t, 1, strings.Count(menu, "aria-current"), lang)
		require.Contains(t, menu, fmt.Sprintf(`lang="%s" aria-current="true"`, lang))
	}
}

// The page gives its script the texts of one language only: each language has some 12 KiB.
func TestPageCarriesNoOtherLanguagesWords(t *testing.T) {
	for _, lang := range templates.Languages() {
		view := everyState()["waiting"]
		view.Lang = lang
		page := render(t, templates.RoomPage(view))
		for _, other := range templates.Languages() {
			shown := templates.TextIn(other).Live.SayUnclaimed
			require.Equal(t, other == lang, strings.Contains(page, shown), "%s in %s", other, lang)
		}
	}
}

func TestErrorPageOffersItsLanguages(t *testing.T) {
	page := render(t, templates.ErrorPage(templates.ErrorView{Lang: "en", Languages: templates.DeskLanguages(),
		Code: "not_found"}))
	require.Equal(t, len(templates.DeskLanguages()), strings.Count(page, "hreflang="))
	page = render(t, templates.ErrorPage(templates.ErrorView{Lang: "vi", Code: "not_found"}))
	require.Equal(t, len(templates.Languages()), strings.Count(page, "hreflang="))
}

// TestNothingKeepsPeopleOutInAnyLanguage checks the rest of the pages.
func TestNothingIsCutOffOnAPhoneInAnyLanguage(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{URL: "https://market.example"}}
	tab.do(browsertest.Viewport(360, 740, false, true))
	for _, lang := range templates.Languages()[1:] {
		room.change(object{"status": "idle", "fence": nil})
		tab.open(room, lang)
		tab.until(fmt.Sprintf(`document.documentElement.lang === %q`, lang))
		tab.do(chromedp.Click("#lang summary"))
		tab.until(`document.getElementById("lang").open`)
		tab.until(
			`[...document.querySelectorAll("#lang a, #lang summary")].every((e) => e.getBoundingClientRect().height >= 44)`)
		tab.do(chromedp.KeyEvent(kb.Escape))
		tab.until(`!document.getElementById("lang").open && document.activeElement.matches("#lang summary")`)
		for _, state := range []object{{"status": "idle", "fence": nil}, place(3), turn(0), ended("dropped")} {
			room.push(t, state)
			tab.until(fmt.Sprintf(`document.body.dataset.state === %q`, room.state["status"]))
			require.Empty(t, read(t, tab.ctx, wider), "%s %v", lang, state["status"])
		}
	}
	tab.requireQuiet()
}

// wider returns the elements that reach beyond a phone's edge, or whose text is wider than they are.
const wider = `[...document.querySelectorAll("body, body *")].filter((e) => e.checkVisibility() && !e.closest(".unseen, .skip, svg") && e.clientWidth > 2)
	.filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > 361)
	.map((e) => e.tagName + "#" + e.id + "." + e.className).join()`
