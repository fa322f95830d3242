package templates_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

// verbatim is what these tests' pages have of codes, texts, ids and names: a browser's translation must leave
// all of it as it is.
const verbatim = `/\bs-\d|판매자-\d|판매자-가나다|אבג|(?<!The |no )integration|coupang:seoul|쿠팡 서울|carrier-2026|\bm-\d` +
	`|000111|0 0 0 1 1 1|\[마켓\]|방 이름|010-1234|shop-7/`

// translated returns the parts of a page that hold such a word and may be translated: each text, and each
// attribute that is read out.
const translated = `((root) => {
	const found = [];
	const mayBe = (element) => (element.closest("[translate]")?.getAttribute("translate") ?? "yes") !== "no";
	const look = (element, text) => {
		if (` + verbatim + `.test(text) && mayBe(element)) found.push(element.cloneNode(false).outerHTML + " " + text.trim());
	};
	const walk = (root) => {
		for (const element of root.querySelectorAll("*")) {
			if (element.localName === "script") continue;
			if (element.localName === "template") walk(element.content);
			for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) look(element, node.data);
			for (const name of ["aria-label", "title", "placeholder", "alt"]) look(element, element.getAttribute(name) ?? "");
		}
	};
	walk(root);
	return found.join("\n");
})`

// sellerPages returns the seller's page in every state with a code, a text and names, and the other pages
// that name a seller.
func sellerPages() map[string]templ.Component {
	pages := map[string]templ.Component{
		"link": templates.LinkPage(templates.LinkView{Lang: "ko", Room: "integration", SellerID: "shop-7", State: "waiting"}),
		"link-refused": templates.LinkPage(templates.LinkView{Lang: "en", Room: "integration", Name: "방 이름",
			SellerID: "shop-7", State: "waiting", Refused: "link_used"}),
		"link-new": templates.NewLinkPage(templates.NewLinkView{Lang: "ko", Room: "integration", Name: "방 이름"}),
		"arrival":  templates.ArrivalPage(templates.ArrivalView{Lang: "ko", Room: "integration", Other: "shop-7"}),
		"error":    templates.ErrorPage(templates.ErrorView{Lang: "ko", Code: "store_unavailable", Room: "integration"}),
	}
	for state, view := range everyState() {
		view.SellerID = "shop-7"
		for n, code := range []string{"", "000111", "000111"} {
			view.SMS = append(view.SMS, templates.SMSView{MessageID: fmt.Sprint("m-", n), Code: code,
				Text: "[마켓] " + code, ReceivedAt: view.ServerTime - 1000, Late: n == 1})
		}
		pages[state] = templates.RoomPage(view)
		view.SellerFixed = true
		view.Info = templates.RoomInfo{Name: "방 이름", Phone: "010-1234-5678"}
		pages[state+"-named"] = templates.RoomPage(view)
	}
	return pages
}

func TestNoTranslationChangesACodeOrAName(t *testing.T) {
	ctx := browsertest.Page(t)
	for _, lang := range []string{"ko", "en"} {
		pages := quietPages(lang)
		for name, page := range sellerPages() {
			pages["seller-"+name] = page
		}
		for name, page := range pages {
			if name == "docs" || name == "guide" { // they are about no room and no seller
				continue
			}
			require.Empty(t, read(t, ctx, fmt.Sprintf(`%s(new DOMParser().parseFromString(%q, "text/html"))`,
				translated, strings.ToValidUTF8(render(t, page), ""))), name)
		}
	}
}

func TestNoTranslationChangesWhatTheSellersScriptWrites(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	room.view.SellerID = "shop-7"
	untouched := func() {
		t.Helper()
		found, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](translated+`(document)`))
		require.NoError(t, err)
		require.Empty(t, found)
	}
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	room.send(t, late(message("m-0", "[마켓] 늦은 문자", nil, time.Second)))
	tab.hasText("past-list", "[마켓]")
	room.send(t, message("m-1", "[마켓] 광고", nil, time.Second))
	tab.hasText("say", "[마켓]")
	untouched()
	room.send(t, message("m-2", "[마켓] 000111", "000111", 0))
	tab.hasText("shout", "0 0 0 1 1 1")
	untouched()
	room.send(t, message("m-3", "[마켓] 000111 다시", "000111", 0))
	tab.until(`document.querySelector("#sms-earlier button")`)
	untouched()
	require.Equal(t, "", attributeOf(tab, "#sms-title", "translate"), "words may be translated")
	room.push(t, ended("completed"))
	tab.until(`document.body.dataset.state === "ended"`)
	untouched()
}

func attributeOf(tab *browser, selector, name string) string {
	tab.t.Helper()
	value, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](
		fmt.Sprintf(`document.querySelector(%q).closest("[translate]")?.getAttribute(%q) ?? ""`, selector, name)))
	require.NoError(tab.t, err)
	return value
}

func TestNoTranslationChangesWhatTheDesksScriptsWrite(t *testing.T) {
	d := troubledDesk(t)
	d.names = []templates.RoomName{{Room: "market-0000", Name: "방 이름", Phone: "010-1234-5678"}}
	d.holder = d.grant(1, "s-1")
	tab := openDesk(t, d)
	untouched := func(what string) {
		t.Helper()
		require.Empty(t, run[string](tab, translated+`(document)`), what)
	}
	tab.open(roomPage)
	tab.hasText("items", "판매자-42")
	tab.cellHas(3, "seller", "s-3")
	untouched("the room")
	tab.click("#extend")
	tab.asks("시간을 더 줄까요?")
	untouched("a question about the holder")
	tab.reason()
	tab.answered()
	tab.click(`[data-key="m:2"] .button`)
	tab.until(`document.getElementById("act").open`)
	untouched("a question about a text")
	tab.reason()
	tab.answered()
	untouched("the result of an assignment")
	tab.click("#release")
	tab.until(`document.getElementById("act").open`)
	tab.reason()
	tab.answered()
	tab.hasText("holder-note", "s-1")
	untouched("the result at the holder")
	tab.open("/support?lang=ko")
	tab.until(`document.querySelector("#rooms-rows").textContent.includes("방 이름")`)
	untouched("all rooms")
}
