package templates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/chrometest"
)

// Pictures of support's live pages for people to look at: DESK_SHOTS=folder go test ./templates -run Pictures
func TestPicturesOfTheDesk(t *testing.T) {
	folder := os.Getenv("DESK_SHOTS")
	if folder == "" {
		t.Skip("DESK_SHOTS names no folder")
	}
	for state, d := range map[string]*fakeDesk{"idle": idleDesk(t), "busy": busyDesk(t), "trouble": troubledDesk(t), "stale": busyDesk(t)} {
		tab := openDesk(t, d)
		for _, width := range []int{1440, 768, 360} {
			for _, look := range []struct {
				lang string
				dark bool
			}{{"ko", false}, {"ko", true}, {"en", false}} {
				if state != "busy" && state != "trouble" && (look.dark != (look.lang == "en")) {
					continue
				}
				tab.size(width, map[int]int{1440: 900, 768: 1024, 360: 740}[width], look.dark)
				for _, page := range []string{"/support", "/support/integration"} {
					d.lag = 0
					tab.open(page + "?lang=" + look.lang)
					if state == "stale" {
						d.lag = 14 * time.Second
						tab.until(`document.body.dataset.age === "stale"`)
					}
					time.Sleep(400 * time.Millisecond) // pictures only: what fades has faded
					name := fmt.Sprintf("%s-%s-%d-%s-%v.png", filepath.Base(page), state, width, look.lang, look.dark)
					require.NoError(t, chrometest.Screenshot(tab.ctx, filepath.Join(folder, name)))
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

func idleDesk(t *testing.T) *fakeDesk {
	d := startFakeDesk(t, 0)
	d.holder = nil
	d.rooms = manyRooms(8)
	d.beside = []object{{"type": "items", "reset": true, "set": list{}}, {"type": "minutes", "reset": true, "set": list{}},
		{"type": "replicas", "list": list{replica("a", "ok", "ok"), replica("b", "ok", "ok")}}}
	return d
}

func busyDesk(t *testing.T) *fakeDesk {
	d := startFakeDesk(t, 3214)
	for i := 3; i < 3214; i += 9 {
		d.line[i].away = time.Now().Add(-time.Duration(20+i%200) * time.Second).UnixMilli()
	}
	d.rooms = manyRooms(400)
	d.beside = []object{{"type": "items", "reset": true, "set": list{lateMessage(1)}}, minutesFrame(),
		{"type": "replicas", "list": list{replica("a", "ok", "ok"), replica("b", "ok", "ok")}}}
	return d
}

func troubledDesk(t *testing.T) *fakeDesk {
	d := busyDesk(t)
	for i := range d.line {
		d.line[i].away = time.Now().Add(-time.Duration(20+i%200) * time.Second).UnixMilli()
	}
	d.holder = nil
	d.beside[0] = object{"type": "items", "reset": true, "set": list{unowned(2), lateMessage(1), incident(3), unowned(4)}}
	d.beside[2] = object{"type": "replicas", "list": list{replica("a", "ok", "behind"), replica("b", "stale", "ok")}}
	return d
}

func manyRooms(n int) list {
	rooms := make(list, 0, n)
	now := time.Now()
	for i := range n {
		room := object{"room": fmt.Sprintf("market-%04d", i), "paused": false, "holder": sellerName(i), "expires_at": now.Add(time.Duration(i%120) * time.Second).UnixMilli(),
			"waiting": i * 7 % 40, "away": i % 5, "oldest": now.Add(-time.Duration(i*37%4000) * time.Second).UnixMilli(), "handoffs": i % 4, "trouble": list{}}
		switch {
		case i%40 == 0 && n > 10:
			room["trouble"], room["holder"], room["expires_at"], room["waiting"] = list{"stuck", "nobodys"}, nil, nil, i%17+3
		case i%55 == 0 && n > 10:
			room["trouble"], room["paused"] = list{"paused"}, true
		case i%70 == 0 && n > 10:
			room["trouble"] = list{"expired"}
		case i%3 == 0:
			room["holder"], room["expires_at"], room["waiting"], room["oldest"] = nil, nil, 0, 0
		}
		rooms = append(rooms, room)
	}
	return rooms
}

func unowned(i int64) object {
	now := time.Now()
	at := func(seconds int) int64 { return now.Add(-time.Duration(seconds) * time.Second).UnixMilli() }
	return object{"key": fmt.Sprintf("m:%d", i), "kind": "message", "at": at(int(i) * 50), "message_id": fmt.Sprintf("id-%d", i), "result": "unmatched",
		"reason": "ambiguous", "text": "[쿠팡] 인증번호 ●●●●●● 을 입력해 주세요", "from": "●●●●1234", "sent_at": at(int(i)*50 + 2), "code": true, "ticket": 0, "fence": 0,
		"offered": false, "assignable": true, "could": list{
			object{"fence": 101, "ticket": 41, "seller_id": "s-41", "granted_at": at(300), "ended_at": at(200), "asked_at": at(250), "live": false},
			object{"fence": 102, "ticket": 42, "seller_id": "판매자-42", "granted_at": at(200), "ended_at": 0, "asked_at": at(150), "live": true},
		}}
}

func lateMessage(i int64) object {
	at := time.Now().Add(-4 * time.Minute).UnixMilli()
	return object{"key": fmt.Sprintf("m:late-%d", i), "kind": "message", "at": at, "message_id": "late", "result": "late", "reason": "", "text": "인증번호 ●●●●",
		"from": "●●●●8800", "sent_at": nil, "code": true, "ticket": 12, "fence": 99, "offered": false, "assignable": false, "could": list{}}
}

func incident(i int64) object {
	return object{"key": fmt.Sprintf("i:carrier_clock:%d", i), "kind": "incident", "at": time.Now().Add(-time.Minute).UnixMilli(), "incident": "carrier_clock",
		"ticket": 0, "fence": 0, "subject": "9", "detail": "83 s"}
}

func minutesFrame() object {
	last := time.Now().Truncate(time.Minute)
	set := list{}
	for i := range 60 {
		n := 59 - i
		set = append(set, object{"key": ticketWord(int64(i)), "at": last.Add(-time.Duration(n) * time.Minute).UnixMilli(), "depth": 2000 + i*20 + (i*i)%170, "granted": 20 + i%9,
			"wait_p50": 200_000 + i*4000, "wait_p95": 500_000 + i*9000 + (i%7)*20_000, "delay_p50": 2 + i%3, "delay_p95": 6 + (i*i)%23,
			"outcomes": object{"completed": 14 + i%6, "cancelled": i % 4, "expired": i % 3, "forced": i % 17 / 16, "dropped": i % 5 / 4}})
	}
	return object{"type": "minutes", "reset": true, "set": set}
}

// Pictures of what an agent does in a room.
func TestPicturesOfActions(t *testing.T) {
	folder := os.Getenv("DESK_SHOTS")
	if folder == "" {
		t.Skip("DESK_SHOTS names no folder")
	}
	d := busyDesk(t)
	d.beside[0] = object{"type": "items", "reset": true, "set": list{unowned(2), lateMessage(1)}}
	tab := openDesk(t, d)
	for name, size := range map[string][2]int{"wide": {1440, 900}, "phone": {360, 740}} {
		for _, dark := range []bool{false, true} {
			tab.size(size[0], size[1], dark)
			tab.open("/support/integration?lang=ko")
			shot := func(what string) {
				time.Sleep(300 * time.Millisecond) // pictures only: what moves has come to rest
				require.NoError(t, chrometest.Screenshot(tab.ctx, filepath.Join(folder, fmt.Sprintf("act-%s-%s-%v.png", what, name, dark))))
			}
			tab.click("#extend")
			tab.until(`document.getElementById("act").open`)
			shot("extend")
			tab.click("#act-no")
			tab.until(`!document.getElementById("act").open`)
			tab.click(`[data-key="m:2"] .button`)
			shot("assign")
			tab.click("#act-yes")
			tab.says("act-error", "사유를")
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
			tab.says("line-note", "2번째로 옮겼어요")
			tab.click("#chart-waits .chart-toggle")
			shot("moved")
		}
	}
}
