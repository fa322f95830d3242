//go:build pictures

package templates_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/templates"
)

// pictureAt is the time that all screenshots show, in unix ms.
const pictureAt = int64(1_790_000_000_000)

// picture is one state of the seller's page.
type picture struct {
	name   string
	state  object
	view   func(*templates.RoomView)
	frames []object
	then   string // a script that brings the page to the state
	until  string // the condition before the picture is taken
}

func in(seconds int64) int64 { return pictureAt + seconds*1000 }

func inLine(position, length int) object {
	wait := 30 + (position-1)*55
	return object{"status": "waiting", "ticket": 9, "queue_position": position, "queue_length": length,
		"estimated_wait": wait, "maximum_wait": 87 + (position-1)*120, "lease_expires_at": in(87)}
}

func inTurn(left int64, codes object) object {
	return object{"status": "locked", "ticket": 9, "fence": 77, "queue_length": 2, "estimated_wait": nil,
		"maximum_wait":     nil,
		"lease_expires_at": in(left), "codes": codes}
}

func asks(asked, open int, after any) object {
	return object{"asked": asked, "open": open, "ask_after": after}
}

func pictureSMS(text string, code any) object {
	return object{"type": "sms", "message_id": "m-" + text, "text": text, "code": code, "received_at": in(-4),
		"late": false}
}

const longText = "[웹발신] (광고) 겨울맞이 특가 안내. 판매자님께만 드리는 혜택을 지금 확인해 보세요. 노출 상품을 늘리면 매출이 평균 두 배로 늘어요. " +
	"자세한 내용은 판매자 센터의 공지 사항에서 확인할 수 있고, 궁금한 점은 언제든 판매자 지원 센터로 물어봐 주세요. 무료 수신 거부는 판매자 센터의 알림 설정에서 할 수 있어요."

func pictures() []picture {
	code := pictureSMS("[마켓] 인증번호는 [000000]입니다. 타인에게 알려 주지 마세요.", "000000")
	over := func(outcome string) object { return also(object{"ticket": 9}, ended(outcome)) }
	return []picture{
		{name: "idle", state: object{"queue_length": 3, "lease_expires_at": in(87)}},
		{name: "idle-checked", then: `document.getElementById("check").click()`,
			until: `document.getElementById("check-result").textContent.trim() !== ""`},
		{name: "idle-empty", state: object{"queue_length": 0, "estimated_wait": 0, "maximum_wait": 0}},
		{name: "idle-error", then: `document.getElementById("join").click()`,
			until: `document.getElementById("error").textContent !== ""`},
		{name: "idle-paused", state: object{"paused": true, "estimated_wait": nil, "maximum_wait": nil}},
		{name: "idle-closed", state: object{"opens_at": in(14 * 60 * 60)}},
		{name: "waiting-announcement", state: also(inLine(4, 6), object{"notice": object{"level": "warning",
			"text": "쿠팡 문자가 늦어지고 있어요. 순서는 그대로예요.", "until": "2027-01-01T00:00:00.000Z"}})},
		{name: "waiting", state: inLine(4, 6), view: func(v *templates.RoomView) {
			v.JoinedPosition, v.SpreadSeconds = 6, 20
		}},
		{name: "waiting-reach", state: inLine(4, 6), view: func(v *templates.RoomView) {
			v.Reach, v.WantsReach = "카카오톡 010-****-5678", true
		}},
		{name: "next", state: inLine(1, 3)},
		{name: "waiting-missed", state: also(inLine(1, 3), object{"unclaimed": true})},
		{name: "waiting-stale", state: inLine(4, 6),
			frames: []object{{"type": "ping", "server_time": pictureAt,
				"as_of": in(-21)}}, until: `document.body.dataset.connection === "stale"`},
		{name: "leave", state: inLine(4, 6), then: `document.getElementById("leave").click()`,
			until: `document.getElementById("leave-dialog").open`},
		{name: "turn-claim", state: also(inTurn(118, asks(0, 0, nil)), object{"claim_by": in(18)})},
		{name: "turn-ask", state: inTurn(118, asks(0, 0, nil))},
		{name: "turn-busy", state: inTurn(118, asks(0, 0, in(23)))},
		{name: "turn-asked", state: inTurn(92, asks(1, 1, nil))},
		{name: "turn-question", state: inTurn(92, asks(0, 0, nil)),
			frames: []object{{"type": "sms_unclaimed", "message_id": "m-1", "received_at": in(-3)}}},
		{name: "turn-text", state: inTurn(74, asks(1, 1, nil)), frames: []object{pictureSMS(longText, nil)}},
		{name: "turn-code", state: inTurn(74, asks(1, 0, nil)), frames: []object{code}},
		{name: "turn-code-long", state: inTurn(74, asks(1, 0, nil)),
			frames: []object{pictureSMS(longText+" [000000]", "000000")},
			then:   `document.getElementById("sms-whole").open = true`,
			until:  `document.getElementById("sms-text").getClientRects().length > 0`},
		{name: "turn-hurry", state: inTurn(24, asks(1, 0, nil)), frames: []object{code}},
		{name: "turn-hurry-asked", state: inTurn(24, asks(1, 1, nil))},
		{name: "ended-code", state: over("completed"), frames: []object{code}},
		{name: "ended-entered", state: over("completed"), frames: []object{code},
			then:  `document.getElementById("entered").click()`,
			until: `document.body.dataset.entered === "true"`},
		{name: "ended-completed", state: over("completed")},
		{name: "ended-expired", state: over("expired")},
		{name: "ended-dropped", state: over("dropped")},
	}
}

// pictured returns today's Chromium, or with BROWSER=old the one of the long tests.
func pictured(t *testing.T) *browser {
	t.Helper()
	if os.Getenv("BROWSER") == "old" {
		ctx := browsertest.Old(t)
		browsertest.AllowErrors(ctx, "")
		return &browser{t: t, ctx: ctx}
	}
	return openBrowser(t)
}

// Pictures of the seller's page in every state, for people to look at: make screenshots. next and turn-code
// are the README's too.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("SCREENSHOTS")
	require.NotEmpty(t, folder, "SCREENSHOTS names the folder")
	for _, p := range pictures() {
		if only := os.Getenv("ONLY"); only != "" && !slices.Contains(strings.Fields(only), p.name) {
			continue
		}
		room, tab := startFakeRoom(t), pictured(t)
		if p.name == "turn-busy" {
			room.then(object{"code": "number_busy", "detail": "…", "ask_after": rfc(in(23))})
		}
		tab.prepare(room, p)
		tab.shoot(folder, p.name)
	}
	tab := pictured(t)
	room := startFakeRoom(t)
	room.server.Config.Handler.(*http.ServeMux).HandleFunc("/sorry",
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", templates.ContentSecurityPolicy)
			_ = templates.ErrorPage(templates.ErrorView{Lang: cmp.Or(os.Getenv("PAGE_LANG"), "ko"), AssetPrefix: static.Prefix(),
				Code: "store_unavailable", Room: "integration"}).Render(r.Context(), w)
		})
	tab.do(chromedp.Navigate(room.server.URL + "/sorry"))
	tab.shoot(folder, "error")
}

// prepare opens the page in the picture's state, with its clock stopped.
func (b *browser) prepare(room *fakeRoom, p picture) {
	b.t.Helper()
	room.at = pictureAt
	room.change(p.state)
	room.view.LeaseSeconds, room.view.ClaimSeconds, room.view.AwaySeconds, room.view.DropSeconds = 120, 20, 15,
		300
	room.view.SellerID = "shop-1"
	if status, _ := p.state["status"].(string); status == "" {
		room.view.SellerID = ""
	}
	room.view.Info = templates.RoomInfo{Name: "마켓 계정 연동", Phone: "010-0000-0000",
		Marketplace: templates.MarketplaceInfo{Name: "마켓", URL: "https://market.example/verify"},
		Support: templates.SupportInfo{Text: "판매자 지원 센터", URL: "https://help.example",
			Tel: "1500-0000"}, ReturnURL: "https://portal.example"}
	if p.view != nil {
		p.view(&room.view)
	}
	b.do(inZone("Asia/Seoul"), atMoment(pictureAt), browsertest.Viewport(360, 640, false, true))
	b.open(room, cmp.Or(os.Getenv("PAGE_LANG"), "ko"))
	for _, frame := range p.frames {
		room.send(b.t, frame)
	}
	if len(p.frames) > 0 && (p.until == "" || p.then != "") {
		b.until(
			`document.getElementById("sms").dataset.count !== "0" || !document.getElementById("unclaimed").hidden`)
	}
	if p.then != "" {
		b.do(chromedp.Evaluate[chromedp.Void](p.then + ";0"))
	}
	if p.until != "" {
		b.until(p.until)
	}
}

// shoot takes the page at the size of a phone and a desktop: light, dark, and in forced colours on dark and
// on light.
func (b *browser) shoot(folder, name string) {
	b.t.Helper()
	for _, width := range []int{360, 1280} {
		for _, look := range []string{"light", "dark", "forced", "forced-light"} {
			height := map[int]int{360: 740, 1280: 800}[width]
			b.do(chromedp.EmulateViewport(int64(width), int64(height)), appearance(look))
			require.NoError(b.t,
				browsertest.Screenshot(b.ctx, filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, look))))
		}
	}
}

func appearance(look string) browsertest.Action {
	scheme, forced := "light", "none"
	switch look {
	case "dark":
		scheme = "dark"
	case "forced":
		scheme, forced = "dark", "active"
	case "forced-light":
		forced = "active"
	}
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "forced-colors",
					Value: forced}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}})
		return err
	})
}

// atMoment stops the browser's clock at a time in the pages opened from now on.
func atMoment(ms int64) browsertest.Action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`
			const Real = Date;
			Date = class extends Real { constructor(...args) { super(...(args.length ? args : [%d])); } static now() { return %d; } };`, ms, ms)})
		return err
	})
}
