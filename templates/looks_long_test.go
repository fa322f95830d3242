//go:build long

package templates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

func TestNothingKeepsPeopleOutOfAQuietPageInAnyLook(t *testing.T) {
	site, ctx := serveQuietPages(t), browsertest.Page(t)
	for _, lang := range []string{"ko", "en"} {
		for name := range quietPages(lang) {
			if name == "bounce" { // it leads on
				continue
			}
			require.NoError(t, chromedp.Do(ctx, browsertest.Viewport(1440, 900, false, true),
				chromedp.Navigate(site+"/support/"+lang+"/"+name)))
			for _, look := range []struct {
				width int
				dark  bool
				rules []string
			}{{1440, false, nil}, {1440, true, []string{"color-contrast"}}, {360, false, nil}} {
				require.NoError(t, chromedp.Do(ctx, browsertest.Viewport(look.width, 900, look.dark, true)))
				found, err := browsertest.Axe(ctx, look.rules...)
				require.NoError(t, err)
				require.Empty(t, found, "%s in %s, %+v", name, lang, look)
			}
		}
	}
}

func TestDeskIsAccessibleInEveryLook(t *testing.T) {
	d := troubledDesk(t)
	tab := openDesk(t, d)
	for _, width := range []int{1440, 360} {
		for _, lang := range []string{"ko", "en"} {
			tab.size(width, 900, lang == "en")
			tab.open("/support/integration?lang=" + lang)
			tab.hasText("items", "판매자-42")
			tab.keepsNobodyOut("%s at %d", lang, width)
		}
	}
	tab.press("?")
	tab.until(`document.getElementById("help").open`)
	tab.keepsNobodyOut("the help")
	tab.click("#help-close")
	tab.click("#chart-waits .chart-toggle")
	tab.until(`document.querySelector("#chart-waits .chart-plot").hidden`)
	tab.keepsNobodyOut("a table")
}

func TestAllRoomsAreAccessibleInEveryLook(t *testing.T) {
	d, tab := openRooms(t, fewRooms())
	for _, width := range []int{1440, 768, 360} {
		for _, lang := range []string{"ko", "en"} {
			tab.size(width, 800, lang == "en")
			tab.open("/support?lang=" + lang)
			tab.ordered("stuck both paused long short calm")
			tab.keepsNobodyOut("%s at %d", lang, width)
			require.True(t, run[bool](tab, `document.documentElement.scrollWidth <= innerWidth`),
				"%s at %d is too wide", lang, width)
		}
	}
	d.setLag(12 * time.Second)
	tab.until(`document.body.dataset.age === "stale"`)
	tab.keepsNobodyOut("old data on a phone")
}

// TestNothingKeepsPeopleOutOfTheSellersPage tests every state in Korean.
func TestNothingKeepsPeopleOutInAnyLanguage(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{URL: "https://market.example"}}
	tab.do(browsertest.Viewport(360, 740, false, true))
	for _, lang := range templates.Languages()[1:] {
		tab.open(room, lang)
		tab.until(fmt.Sprintf(`document.documentElement.lang === %q`, lang))
		tab.do(chromedp.Click("#lang summary"))
		tab.until(`document.getElementById("lang").open`)
		found, err := browsertest.Axe(tab.ctx)
		require.NoError(t, err)
		require.Empty(t, found, lang)
	}
}

func TestNothingIsWiderThanAPhoneInAnyLanguage(t *testing.T) {
	fitsPhones(t, templates.Languages(), 360, 320)
}
