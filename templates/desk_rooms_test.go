package templates_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

const roomsPage = "/support?lang=ko"

func fewRooms() list {
	now := time.Now()
	made := func(name string, trouble list, waiting, oldest int, holder any) object {
		room := object{"room": name, "paused": false, "holder": holder, "expires_at": nil, "waiting": waiting,
			"away": 0, "oldest": 0, "handoffs": 0, "trouble": trouble}
		if oldest > 0 {
			room["oldest"] = now.Add(-time.Duration(oldest) * time.Second).UnixMilli()
		}
		if holder != nil {
			room["expires_at"] = now.Add(time.Minute).UnixMilli()
		}
		return room
	}
	return list{
		made("calm", list{}, 0, 0, nil), made("long", list{}, 3, 900, "s-1"), made("short", list{}, 9, 20, "판매자"),
		made("paused", list{"paused"}, 2, 60, nil), made("stuck", list{"stuck"}, 2, 30, nil), made("both",
			list{"paused", "nobodys"}, 1, 10, nil),
	}
}

// order returns the visible rooms, from above.
func (b *deskTab) order() string {
	b.t.Helper()
	return run[string](b,
		`[...document.querySelectorAll("#rooms-rows [role=row]")].map((row) => row.dataset.key).join(" ")`)
}

func (b *deskTab) ordered(want string) {
	b.t.Helper()
	b.until(
		`[...document.querySelectorAll("#rooms-rows [role=row]")].map((row) => row.dataset.key).join(" ") === %q`,
		want)
}

func openRooms(t *testing.T, rooms list) (*fakeDesk, *deskTab) {
	d := startFakeDesk(t, 0)
	d.rooms = rooms
	tab := openDesk(t, d)
	tab.open(roomsPage)
	return d, tab
}

func roomFrame(name string, with object) object {
	for _, room := range fewRooms() {
		if room := room.(object); room["room"] == name {
			for field, value := range with {
				room[field] = value
			}
			return object{"type": "rooms", "server_time": time.Now().UnixMilli(), "set": list{room}, "drop": list{}}
		}
	}
	panic(name)
}

func TestRoomsWithTroubleComeFirstThenTheLongestWait(t *testing.T) {
	d, tab := openRooms(t, fewRooms())
	tab.ordered("stuck both paused long short calm")
	require.Equal(t, "6", tab.text("total-rooms"))
	require.Equal(t, "17", tab.text("total-waiting"))
	require.Equal(t, "2", tab.text("total-held"))
	require.Equal(t, "3", tab.text("total-trouble"))
	require.Equal(t, "주인 없는 문자",
		run[string](tab, `document.querySelector('[data-key="both"] .chip.bad').textContent`))
	require.Equal(t, "줄 멈춤",
		run[string](tab,
			`document.querySelector('[data-key="both"] .chip.warn').textContent`), "not red: nobody has to come")

	d.send(roomFrame("short", object{"trouble": list{"lost"}}))
	tab.ordered("stuck both short paused long calm")
	d.send(object{"type": "rooms", "server_time": time.Now().UnixMilli(), "set": list{}, "drop": list{"stuck"}})
	tab.ordered("both short paused long calm")

	for _, step := range [][2]string{
		{"waiting", "short long paused both calm"}, {"waiting", "calm both paused long short"}, {"room",
			"both calm long paused short"}, {"trouble", "both short paused long calm"},
	} {
		tab.click("[data-column=" + step[0] + "] button")
		tab.ordered(step[1])
		require.NotEqual(t, "none", run[string](tab, `document.querySelector("[data-column=%s]").ariaSort`,
			step[0]))
	}
	tab.click("#only-trouble")
	tab.ordered("both short paused")
}

func TestRowsDoNotJumpFromUnderAPointerOrFocus(t *testing.T) {
	d, tab := openRooms(t, fewRooms())
	tab.ordered("stuck both paused long short calm")
	tab.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 500, 300))
	tab.until(`document.querySelector("#rooms-rows:hover")`)
	d.send(roomFrame("calm", object{"trouble": list{"stuck"}, "waiting": 4}))
	tab.until(
		`document.querySelector('[data-key="calm"] [data-cell=waiting]').textContent === "4" && document.querySelector('[data-key="calm"] .chip.bad')`)
	require.Equal(t, "stuck both paused long short calm", tab.order(), "values are new, the order is not")
	tab.until(`!document.getElementById("rooms-frozen").hidden`)
	tab.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 500, 20))
	tab.ordered("stuck calm both paused long short")

	tab.press("j")
	tab.until(`document.activeElement.dataset.key === "stuck"`)
	d.send(roomFrame("long", object{"trouble": list{"stuck", "lost"}}))
	tab.until(`document.querySelector('[data-key="long"] .chip.bad')`)
	require.Equal(t, "stuck calm both paused long short", tab.order())
	run[bool](tab, `(document.activeElement.blur(), true)`)
	tab.ordered("long stuck calm both paused short")
}

func TestRoomsAreFoundByTheirDisplayNames(t *testing.T) {
	d := startFakeDesk(t, 0)
	d.rooms = fewRooms()
	d.names = []templates.RoomName{{Room: "calm", Name: "쿠팡 서울", Phone: "010-1234-5678", Marketplace: "Wing"},
		{Room: "long", Phone: "02-555-0000"}}
	tab := openDesk(t, d)
	tab.open(roomsPage)
	tab.until(`document.querySelector('[data-key="calm"] [data-cell=room]')?.textContent === "쿠팡 서울"`)
	tab.until(
		`document.querySelector('[data-key="calm"] [data-cell=called]')?.textContent === "calm · 010-1234-5678 · Wing"`)
	tab.until(`document.querySelector('[data-key="long"] [data-cell=room]')?.textContent === "long"`)
	tab.until(`document.querySelector('[data-key="long"] [data-cell=called]')?.textContent === "02-555-0000"`)
	for text, want := range map[string]string{"쿠팡서울": "calm", "01012345678": "calm", "wing": "calm",
		"ｃａｌｍ": "calm", "0255": "long"} {
		tab.press("f")
		run[bool](tab, `(document.getElementById("search").value = "", true)`)
		tab.press(text)
		tab.ordered(want)
		tab.press(escape)
		tab.ordered("stuck both paused long short calm")
		run[bool](tab, `(document.activeElement.blur(), true)`)
	}
}

func TestEveryKeyOfAllRooms(t *testing.T) {
	_, tab := openRooms(t, fewRooms())
	tab.ordered("stuck both paused long short calm")
	tab.press("/")
	tab.until(`document.activeElement.id === "find"`)
	run[bool](tab, `(document.activeElement.blur(), true)`)
	tab.press("f")
	tab.press("판매")
	tab.ordered("short")
	tab.hasText("rooms-shown", "6개 중 1개")
	tab.press(escape)
	tab.ordered("stuck both paused long short calm")
	tab.press(escape)
	tab.until(`document.activeElement.dataset.key === "stuck"`)
	tab.press("jjk")
	tab.until(`document.activeElement.dataset.key === "both"`)
	tab.press("?")
	tab.until(`document.getElementById("help").open`)
	tab.press(escape)
	tab.until(`!document.getElementById("help").open`)
	tab.press("\r")
	tab.goes("/support/both")
}

func TestFiveThousandRoomsStaySmooth(t *testing.T) {
	d, tab := openRooms(t, manyRooms(5000))
	tab.until(`document.getElementById("total-rooms").textContent === "5,000"`)
	random := rand.New(rand.NewPCG(5, 6))
	const changes = 8
	each := tab.costs(changes+1, func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := range changes {
			set := list{}
			for range 5 {
				room := d.rooms[random.IntN(len(d.rooms))].(object)
				room["waiting"], room["oldest"] = n+1,
					time.Now().Add(-time.Duration(random.IntN(9000))*time.Second).UnixMilli()
				set = append(set, room)
			}
			d.send(object{"type": "rooms", "server_time": time.Now().UnixMilli(), "set": set, "drop": list{}})
			<-tick.C
		}
		last := d.rooms[4999].(object)
		last["trouble"], last["oldest"] = list{"stuck", "nobodys", "lost"}, random.IntN(99)+1
		d.send(object{"type": "rooms", "server_time": time.Now().UnixMilli(), "set": list{last}, "drop": list{}})
		tab.until(`document.querySelector("#rooms-rows [role=row]").dataset.key === %q`, last["room"])
	})
	t.Logf("5,000 rooms: five rows' changes took the page %v", each)
	require.Less(t, each, 250*time.Millisecond, "four of them are a second's")
	require.Less(t, run[int](tab, `document.querySelectorAll("#rooms-rows [role=row]").length`), 60,
		"only what is seen exists")
	run[bool](tab, `(document.getElementById("rooms-rows").scrollTop = 1e6, true)`)
	tab.until(
		`[...document.querySelectorAll("#rooms-rows [role=row]")].at(-1).getAttribute("aria-rowindex") === "5001"`)
}

// TestAllRoomsAreAccessibleInEveryLook tests the other looks.
func TestAllRoomsAreAccessible(t *testing.T) {
	d, tab := openRooms(t, fewRooms())
	for _, width := range []int{1440, 768, 360} {
		tab.size(width, 800, width == 360)
		tab.until(`document.documentElement.scrollWidth <= innerWidth && innerWidth === %d`, width)
	}
	tab.keepsNobodyOut("ko on a dark phone")
	tab.size(1440, 800, false)
	d.setLag(12 * time.Second)
	tab.until(`document.body.dataset.age === "stale"`)
	tab.keepsNobodyOut("old data")
}
