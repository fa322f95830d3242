package templates_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

// beyond returns the elements that reach beyond the screen's left or right edge, themselves or with their
// words, at each size of the browser's text.
const beyond = `[16, 24, 32].flatMap((size) => {
	document.documentElement.style.fontSize = size + "px";
	const wide = [document.documentElement, ...document.querySelectorAll("body, body *")]
		.filter((e) => e.checkVisibility() && !e.closest(".unseen, .skip, svg") && (e.clientWidth > 2 || e.matches("span, strong, time")))
		.filter((e) => { const { left, right } = e.getBoundingClientRect(); return left < -1 || right > %[1]d + 1 || (e.clientWidth > 2 && e.scrollWidth > e.clientWidth + 1); });
	if (document.querySelector(".skip").getBoundingClientRect().bottom > 0) wide.push(document.querySelector(".skip"));
	document.documentElement.style.fontSize = "";
	return wide.map((e) => size + "px: " + e.tagName + "#" + e.id + "." + e.className);
}).join()`

// torn returns buttons and headings with a word that is broken over two lines.
const torn = `[16, 24, 32].flatMap((size) => {
	document.documentElement.style.fontSize = size + "px";
	const range = document.createRange();
	const words = [...document.querySelectorAll(".button, .steps span")].filter((e) => e.checkVisibility()).flatMap((e) => {
		const text = [...e.childNodes].find((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
		return text ? [...text.data.matchAll(/[A-Za-z\u00c0-\u1ef9]+/g)].filter((word) => {
			range.setStart(text, word.index);
			range.setEnd(text, word.index + word[0].length);
			return new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1;
		}).map((word) => size + "px: " + word[0]) : [];
	});
	document.documentElement.style.fontSize = "";
	return words;
}).join()`

func TestNothingIsWiderThanAPhoneHoweverLargeTheTextIs(t *testing.T) {
	fitsPhones(t, []string{"ko", "en"}, 320) // TestNothingIsWiderThanAPhoneInAnyLanguage has the others
}

func fitsPhones(t *testing.T, langs []string, widths ...int) {
	t.Helper()
	room, tab := startFakeRoom(t), openBrowser(t)
	states := pageStates(room)
	var wrong []string
	for _, lang := range langs {
		room.change(object{"status": "idle", "fence": nil, "codes": nil})
		tab.open(room, lang)
		tab.until(fmt.Sprintf(`document.documentElement.lang === %q`, lang))
		for _, s := range states {
			room.push(t, s.state)
			for _, frame := range s.frames {
				room.send(t, frame)
			}
			tab.until(s.shown)
			for _, width := range widths {
				tab.do(browsertest.Viewport(width, 740, false, true))
				if found := read(t, tab.ctx, fmt.Sprintf(beyond, width)+" + "+torn); found != "" {
					wrong = append(wrong, fmt.Sprintf("%s %s at %d: %s", lang, s.name, width, found))
				}
			}
			slices.Reverse(widths) // the next state is tested in this width first
		}
	}
	require.Empty(t, wrong)
}

// pageState is a state of the seller's page and the way to it.
type pageState struct {
	name   string
	state  object
	frames []object
	shown  string // is true once it is visible
}

// pageStates are the states of the seller's page in a room in which every part of the page is used.
func pageStates(room *fakeRoom) []pageState {
	room.view.Info = templates.RoomInfo{Name: "마켓 계정 연동", Phone: "010-2345-6789",
		Marketplace: templates.MarketplaceInfo{Name: "쿠팡 윙", URL: "https://market.example"},
		Support: templates.SupportInfo{Text: "판매자 지원 센터", URL: "https://help.example",
			Tel: "1588-0000"}, ReturnURL: "https://portal.example"}
	room.view.AwaySeconds, room.view.DropSeconds = 15, 300
	room.then(object{"code": "number_busy", "detail": "…",
		"ask_after": rfc(time.Now().Add(time.Hour).UnixMilli())})
	asked := turn(0)
	asked["codes"] = object{"asked": 1, "open": 1, "ask_after": nil}
	far := place(1234)
	far["queue_length"] = 4321
	return []pageState{
		{"idle", object{"status": "idle", "fence": nil, "codes": nil}, nil,
			`document.body.dataset.state === "idle"`},
		{"far", far, nil, `document.getElementById("position").textContent === "1234"`},
		{"next", place(1), nil, `document.body.dataset.next === "true"`},
		{"turn", turn(0), nil, `document.body.dataset.step === "ask"`},
		{"busy", turn(time.Hour), nil, `document.body.dataset.step === "busy"`},
		{"asked", asked, nil, `document.body.dataset.step === "asked"`},
		{"question", asked, []object{offer("m-1")}, fmt.Sprintf(onShow, "unclaimed")},
		{"code", asked, []object{message("a", "[쿠팡] 인증번호 [AB12CD34]", "AB12CD34", 0)},
			`document.body.dataset.step === "code"`},
		{"ended", ended("completed"), nil, `document.body.dataset.state === "ended"`},
	}
}
