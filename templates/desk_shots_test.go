//go:build pictures

package templates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// reader has a person's settings for a page: language, theme and size.
type reader struct {
	lang string
	dark bool
}

var readers = []reader{{"ko", false}, {"ko", true}, {"en", false}, {"en", true}}

// heights are the heights of windows, by their widths.
var heights = map[int]int{1440: 900, 1280: 720, 768: 1024, 360: 740}

// Pictures of support's live pages for people to look at: DESK_SHOTS=folder go test -tags pictures
// ./templates -run Pictures
func TestPicturesOfTheDesk(t *testing.T) {
	folder := os.Getenv("DESK_SHOTS")
	require.NotEmpty(t, folder, "DESK_SHOTS names the folder")
	paused := pausedDesk(t, "통신사 장애 · 고객센터 공지 4711번, 복구되면 다시 시작", time.Now().Add(-7*time.Minute))
	desks := map[string]*fakeDesk{"idle": idleDesk(t), "busy": busyDesk(t), "trouble": troubledDesk(t),
		"stale": busyDesk(t), "paused": paused}
	for state, d := range desks {
		tab := openDesk(t, d)
		lifelike(d)
		for width, height := range heights {
			for _, look := range readers {
				if state != "busy" && state != "trouble" && state != "paused" && (look.dark != (look.lang == "en")) {
					continue
				}
				tab.size(width, height, look.dark)
				for _, page := range []string{"/support", "/support/integration"} {
					d.lag = 0
					tab.open(page + "?lang=" + look.lang)
					if state == "stale" {
						d.lag = 14 * time.Second
						tab.until(`document.body.dataset.age === "stale"`)
					}
					time.Sleep(400 * time.Millisecond) // pictures only: the fading has ended
					name := fmt.Sprintf("%s-%s-%d-%s-%v.png", filepath.Base(page), state, width, look.lang, look.dark)
					require.NoError(t, browsertest.Screenshot(tab.ctx, filepath.Join(folder, name)))
					if width < 1000 && page != "/support" && state == "trouble" {
						full, err := chromedp.Run(tab.ctx, chromedp.FullScreenshot(100))
						require.NoError(t, err)
						require.NoError(t, os.WriteFile(filepath.Join(folder, "full-"+name), full, 0o644))
					}
				}
			}
		}
	}
}

// lifelike gives the waiters of a line realistic names.
func lifelike(d *fakeDesk) {
	names := []string{"kim-daegu-0317", "mungji.store", "seller_20231107_a", "HAPPYPET", "chungmuro-books@shop",
		"s-41"}
	for i := range d.line {
		d.line[i].seller = fmt.Sprint(names[i%len(names)], "-", i)
	}
	if d.holder != nil {
		d.holder["seller_id"] = "kim-daegu-0317"
	}
}

func TestPicturesOfTheQuietPages(t *testing.T) {
	folder := os.Getenv("DESK_SHOTS")
	require.NotEmpty(t, folder, "DESK_SHOTS names the folder")
	url, ctx := serveQuietPages(t), browsertest.Page(t)
	for name := range quietPages("ko") {
		if name == "bounce" { // it leads on by itself
			continue
		}
		for width, height := range heights {
			for _, look := range readers {
				require.NoError(t, chromedp.Do(ctx, browsertest.Viewport(width, height, look.dark, false),
					chromedp.Navigate(url+"/support/"+look.lang+"/"+name)))
				file := fmt.Sprintf("quiet-%s-%d-%s-%v.png", name, width, look.lang, look.dark)
				require.NoError(t, browsertest.Screenshot(ctx, filepath.Join(folder, file)))
			}
		}
	}
}

func TestPicturesOfActions(t *testing.T) {
	folder := os.Getenv("DESK_SHOTS")
	require.NotEmpty(t, folder, "DESK_SHOTS names the folder")
	d := busyDesk(t)
	d.beside[0] = object{"type": "items", "reset": true, "set": list{unowned(2), lateMessage(1)}}
	tab := openDesk(t, d)
	for name, size := range map[string][2]int{"wide": {1440, 900}, "phone": {360, 740}} {
		for _, dark := range []bool{false, true} {
			tab.size(size[0], size[1], dark)
			tab.open("/support/integration?lang=ko")
			shot := func(what string) {
				time.Sleep(300 * time.Millisecond) // pictures only: the movement has ended
				require.NoError(t,
					browsertest.Screenshot(tab.ctx,
						filepath.Join(folder, fmt.Sprintf("act-%s-%s-%v.png", what, name, dark))))
			}
			tab.click("#extend")
			tab.until(`document.getElementById("act").open`)
			shot("extend")
			tab.click("#act-no")
			tab.until(`!document.getElementById("act").open`)
			tab.click(`[data-key="m:2"] .button`)
			shot("assign")
			tab.click("#act-yes")
			tab.hasText("act-error", "사유를")
			shot("refused")
			tab.click("#act-no")
			tab.until(`!document.getElementById("act").open`)
			tab.press("?")
			shot("help")
			tab.click("#help-close")
			tab.until(`!document.getElementById("help").open`)
			tab.press("jjjj\r")
			tab.until(`document.querySelector("#row-menu:popover-open")`)
			shot("menu")
			tab.click(`#row-menu [data-verb=move]`)
			tab.do(chromedp.SendKeys(chromedp.CSS("#act-position"), "2"))
			shot("move")
			tab.click(`#act-picks input`)
			tab.click("#act-yes")
			tab.hasText("line-note", "2번째로 옮겼어요")
			tab.click("#chart-waits .chart-toggle")
			shot("moved")
		}
	}
}

func idleDesk(t *testing.T) *fakeDesk {
	d := startFakeDesk(t, 0)
	d.holder = nil
	d.rooms = manyRooms(8)
	d.beside = []object{{"type": "items", "reset": true, "set": list{}},
		{"type": "minutes", "reset": true, "set": list{}},
		{"type": "replicas", "list": list{replica("a", "ok", "ok"), replica("b", "ok", "ok")}}}
	return d
}
