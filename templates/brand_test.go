package templates_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/templates/brand"
)

// acme returns a brand with all that one may have.
func acme(t *testing.T) templates.Brand {
	t.Helper()
	logo, err := brand.ReadLogo([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 56">` +
		`<circle cx="28" cy="28" r="24" fill="#e4002b"/><text x="64" y="42" font-size="40" ` +
		`font-family="sans-serif" font-weight="700" fill="#191f28">ACME</text></svg>`))
	require.NoError(t, err)
	colour, err := brand.Parse("#e4002b")
	require.NoError(t, err)
	return templates.Brand{Name: "Acme & Co", Logo: logo, Style: brand.Style(colour)}
}

func TestEveryPageOfASellerHasTheBrand(t *testing.T) {
	b := acme(t)
	pages := map[string]templ.Component{
		"link": templates.LinkPage(templates.LinkView{Lang: "ko", Room: "a:b", Brand: b, State: "waiting"}),
		"new":  templates.NewLinkPage(templates.NewLinkView{Lang: "ko", Room: "a:b", Brand: b}),
		"arrival": templates.ArrivalPage(templates.ArrivalView{Lang: "ko", Room: "a:b", Brand: b,
			Other: "s"}),
		"error": templates.ErrorPage(templates.ErrorView{Lang: "ko", Code: "internal", Room: "a:b", Brand: b}),
	}
	for state, view := range everyState() {
		view.Room, view.Info.Brand = "a:b", b
		pages[state] = templates.RoomPage(view)
	}
	product := templates.TextIn("ko").Live.Brand
	for name, component := range pages {
		page := render(t, component)
		require.Contains(t, page, `/bundle/seller.css"><link rel="stylesheet" href="/rooms/a:b/brand/`+
			b.Style.Digest+`/style">`, "%s: its own colours are the last", name)
		require.Contains(t, page, `<img class="logo" src="/rooms/a:b/brand/`+b.Logo.Digest+
			`/logo" width="120" height="28" alt="Acme &amp; Co" translate="no">`, name)
		require.NotContains(t, page, `class="mark"`, name)
		require.NotContains(t, between(t, page, "<title>", "</title>"), product, name)
		require.NotContains(t, page, `"brand":"`+product, "%s: the script's titles too", name)
	}
}

// head returns the text and the images of a page's head.
func head(t *testing.T, v templates.RoomView) string {
	t.Helper()
	text := between(t, render(t, templates.RoomPage(v)), `<span class="brand`, "<details")
	text = strings.ReplaceAll(text, "<img", "[logo]<img")
	text = strings.ReplaceAll(text, `<svg class="mark"`, "[mark]<svg")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " ")), " ")
}

func TestTheHeadNamesTheBrandAndTheRoom(t *testing.T) {
	view, b := everyState()["idle"], acme(t)
	product := templates.TextIn(view.Lang).Live.Brand
	for _, c := range []struct {
		room  string
		brand templates.Brand
		want  string
	}{
		{"", templates.Brand{}, "[mark] " + product},
		{"가게", templates.Brand{}, "[mark] 가게"},
		{"", templates.Brand{Style: b.Style}, "[mark] " + product},
		{"", templates.Brand{Name: "Acme"}, "[mark] Acme"},
		{"가게", templates.Brand{Name: "Acme"}, "[mark] Acme 가게"},
		{"", b, "[logo]"},
		{"가게", b, "[logo] 가게"},
	} {
		view.Info = templates.RoomInfo{Name: c.room, Brand: c.brand}
		require.Equal(t, c.want, head(t, view))
	}
}

func TestABrandIsReadableInBothThemes(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	for colour, button := range map[string]string{"#e4002b": "rgb(228, 0, 43)", "#857700": "rgb(133, 119, 0)"} {
		parsed, err := brand.Parse(colour)
		require.NoError(t, err)
		room.view.Info = templates.RoomInfo{Name: "가게", Phone: "010-0000-0000", Brand: acme(t)}
		room.view.Info.Brand.Style = brand.Style(parsed)
		room.change(object{"status": "idle"})
		tab.open(room, "ko")
		tab.do(browsertest.Viewport(360, 740, false, true))
		tab.until(`document.querySelector(".logo").naturalWidth > 0`)
		tab.until(`getComputedStyle(document.getElementById("join")).backgroundColor === "` + button + `"`)
		for _, state := range []object{{"status": "idle"}, place(3), place(1), turn(0), ended("expired")} {
			room.push(t, state)
			tab.until(fmt.Sprintf(`document.body.dataset.state === %q`, room.state["status"]))
			for _, dark := range []bool{false, true} {
				tab.do(browsertest.Viewport(360, 740, dark, true))
				found, err := browsertest.Axe(tab.ctx, "color-contrast")
				require.NoError(t, err)
				require.Empty(t, found, "%s, %v, dark: %v", colour, state, dark)
			}
		}
	}
}

func TestABrandIsNoWiderThanAPhone(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.Info.Brand = acme(t)
	for _, name := range []string{"", "Marketplace sign-in of the second floor", strings.Repeat("w", 64)} {
		for _, logo := range []*brand.Logo{acme(t).Logo, nil} {
			room.view.Info.Name, room.view.Info.Brand.Name, room.view.Info.Brand.Logo = name, name+"!", logo
			tab.open(room, "vi") // whose word for the language is the longest
			tab.do(browsertest.Viewport(320, 740, false, true))
			require.Empty(t, read(t, tab.ctx, fmt.Sprintf(beyond, 320)), "%q, logo: %v", name, logo != nil)
		}
	}
}
