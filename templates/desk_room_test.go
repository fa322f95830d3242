package templates_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

const (
	roomPage = "/support/integration?lang=ko"
	escape   = "\u001b"
)

// asks waits for the confirmation of an action.
func (b *deskTab) asks(title string) {
	b.t.Helper()
	b.until(`document.getElementById("act").open && document.getElementById("act-title").textContent === %q`,
		title)
}

func (b *deskTab) answered() {
	b.t.Helper()
	b.until(`!document.getElementById("act").open`)
}

// reason picks a ready-made reason and confirms.
func (b *deskTab) reason() {
	b.t.Helper()
	b.click("#act-picks input")
	b.click("#act-yes")
}

func TestDeskShowsTheRoomOfTheFrames(t *testing.T) {
	d := busyDesk(t)
	tab := openDesk(t, d)
	tab.open(roomPage)
	tab.hasText("line-count", "3,214명")
	tab.hasText("line-away", "자리 비움 357")
	tab.hasText("holder-seller", "s-1")
	tab.hasText("holder-next", "s-2")
	tab.hasText("holder-fence", "1790000000000001")
	tab.until(`/^[12]:\d\d$/.test(document.getElementById("holder-countdown").textContent)`)
	tab.cellHas(2, "seller", "s-2")
	tab.cellHas(5, "state", "자리 비움")
	tab.hasText("replicas", "waitroom-b")
	tab.hasText("sources", "시계가 최대 3.2초 느려요")
	tab.hasText("sources", "받은 적 없음")

	d.change(t, func() object { return d.next("completed") })
	tab.hasText("holder-seller", "s-2")
	tab.hasText("line-count", "3,213명")
	d.change(t, func() object { return d.away(3, time.Now().Add(-90*time.Second).UnixMilli()) })
	tab.until(`document.querySelector('[data-key="3"] [data-cell=state]').textContent.startsWith("자리 비움 1:3")`)
	d.change(t, func() object { return d.join(9000, "판매자") })
	tab.hasText("line-count", "3,214명")
}

func TestDeskShowsTheAgentWhoPausedTheRoom(t *testing.T) {
	d := pausedDesk(t, "통신사 <b>장애</b>", time.Date(2026, 7, 3, 14, 3, 0, 0, time.Local))
	tab := openDesk(t, d)
	tab.open(roomPage)
	tab.hasText("paused-by", "kim · 2026-07-03 14:03부터 · 통신사 <b>장애</b>")
	require.True(t, run[bool](tab, `document.documentElement.scrollWidth <= innerWidth`))
	d.change(t, func() object { d.paused = false; return object{} })
	tab.until(`document.getElementById("paused-by").hidden`)
	d.change(t, func() object { d.paused = true; return object{} })
	tab.hasText("paused-by", "kim")
	d.send(object{"type": "pause", "set": list{}, "drop": list{"1"}})
	tab.until(`document.getElementById("paused-by").hidden && document.body.dataset.paused === "true"`)
}

func TestTroubleIsShownWithoutScrolling(t *testing.T) {
	tab := openDesk(t, troubledDesk(t))
	tab.open(roomPage)
	for _, words := range []string{"줄이 막힘", "주인 없는 문자 2건", "확인할 일 1건", "waitroom-b 저장소 연결 안 됨", "기록이 밀림"} {
		tab.hasText("trouble", words)
	}
	require.True(t,
		run[bool](tab,
			`document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth`))
	require.Equal(t, 3, run[int](tab, `document.querySelectorAll("#items [data-urgent=true]").length`))
	require.Equal(t, "false",
		run[string](tab,
			`document.querySelector("#items > li:last-child").dataset.urgent`), "what needs nobody comes last")
	tab.hasText("items", "두 분 이상의 것일 수 있어서")
	tab.hasText("items", "판매자-42")
}

func TestHolderHasMoreSpaceThanTheLastHour(t *testing.T) {
	d := busyDesk(t)
	d.holder["seller_id"] = strings.Repeat("seller-0", 8)
	tab := openDesk(t, d)
	for width, height := range map[int]int{1440: 900, 1280: 720} {
		for _, lang := range []string{"ko", "en"} {
			tab.size(width, height, false)
			tab.open("/support/integration?lang=" + lang)
			tab.until(`document.querySelectorAll("#chart-waits .chart-value").length === 2`)
			require.True(t,
				run[bool](tab,
					`document.querySelector(".holder").offsetWidth > document.querySelector(".charts").offsetWidth`),
				"%s at %d px", lang, width)
			require.Empty(t, run[string](
				tab, `[...document.querySelectorAll(".chart-title, #chart-waits .chart-now, #chart-delays .chart-now")].
				filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1).map((e) => e.textContent).join()`),
				"cut off in %s at %d px", lang, width)
			require.True(t, run[bool](tab, `document.getElementById("holder-ticket").getBoundingClientRect().right <=
				document.getElementById("holder-countdown").getBoundingClientRect().left`), "the longest ID leaves the ticket its room")
		}
	}
}

func TestLineOfTenThousandStaysSmoothAtTwentyChangesASecond(t *testing.T) {
	d := startFakeDesk(t, 10_000)
	tab := openDesk(t, d)
	tab.open(roomPage)
	tab.hasText("line-count", "10,000명")
	each := tab.costs(20, func() {
		d.rush(t, 20)
		tab.until(`document.getElementById("line-count").textContent === %q`,
			fmt.Sprintf("%s명", thousands(len(d.line))))
	})
	t.Logf("10,000 waiters: each change took the page %v", each)
	require.Less(t, each, 50*time.Millisecond, "twenty of them are a second's; a line of ten thousand drawn "+
		"anew at each change takes seconds")
	require.Equal(t, 1, d.everOpened(), "every change fitted")

	const screens = 20
	each = tab.costs(screens, func() {
		run[bool](tab, `new Promise((done) => {
			const rows = document.getElementById("line-rows");
			let left = %d;
			const step = () => { rows.scrollTop += 17000; --left > 0 ? requestAnimationFrame(step) : done(true); };
			step();
		})`, screens)
	})
	t.Logf("10,000 waiters: each screen that is scrolled to took the page %v", each)
	require.Less(t, each, 50*time.Millisecond)
	require.Less(t, run[int](tab, `document.querySelectorAll("#line-rows [role=row]").length`), 60,
		"only what is seen exists")
	tab.until(`[...document.querySelectorAll("#line-rows [role=row]:not(.aside)")].every((row, i, all) =>
		i === 0 || Number(row.getAttribute("aria-rowindex")) === Number(all[i - 1].getAttribute("aria-rowindex")) + 1)`)
}

// costs runs a function a number of times and returns the processor time of each run, on the page's own
// thread.
func (b *deskTab) costs(number int, do func()) time.Duration {
	b.t.Helper()
	before := b.worked()
	do()
	run[bool](b, `new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))`)
	return (b.worked() - before) / time.Duration(number)
}

// worked returns the processor time that the page's thread has used for tasks.
func (b *deskTab) worked() (sum time.Duration) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, performance.Enable,
			performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
			return err
		}
		answer, err := cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
		for _, metric := range answer.Metrics {
			if metric.Name == "TaskDuration" {
				sum = time.Duration(metric.Value * float64(time.Second))
			}
		}
		return err
	}))
	return sum
}

// rush makes a number of changes, twenty a second.
func (d *fakeDesk) rush(t *testing.T, changes int) {
	random := rand.New(rand.NewPCG(3, 4))
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range changes {
		<-tick.C
		d.change(t, func() object {
			one := d.line[random.IntN(len(d.line))].ticket
			switch random.IntN(5) {
			case 0:
				return d.next("completed")
			case 1:
				return d.remove(one, "cancelled")
			case 2:
				return d.move(one, 1+random.IntN(40))
			case 3:
				return d.away(one, time.Now().UnixMilli())
			default:
				return d.join(d.fresh(), "s-new")
			}
		})
	}
}

// fresh returns a new ticket.
func (d *fakeDesk) fresh() int64 {
	d.tickets++
	return 1_000_000 + d.tickets
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

func TestEveryKeyOfTheRoom(t *testing.T) {
	d := startFakeDesk(t, 200)
	tab := openDesk(t, d)
	tab.open(roomPage)
	tab.hasText("line-count", "200명")

	tab.press("j")
	tab.until(`document.activeElement.dataset.key === "2"`)
	tab.press("jjj")
	tab.until(`document.activeElement.dataset.key === "5"`)
	tab.press("k")
	tab.until(`document.activeElement.dataset.key === "4"`)
	d.change(t, func() object { return d.next("completed") })
	tab.until(
		`document.activeElement.dataset.key === "4" && document.activeElement.getAttribute("aria-rowindex") === "3"`)
	d.change(t, func() object { return d.remove(4, "cancelled") })
	tab.until(`document.activeElement.dataset.key === "5"`)

	tab.press("\r")
	tab.until(
		`document.querySelector("#row-menu:popover-open") && document.activeElement.dataset.verb === "move"`)
	tab.press(escape)
	tab.until(`!document.querySelector("#row-menu:popover-open") && document.activeElement.dataset.key === "5"`)

	tab.press("?")
	tab.until(`document.getElementById("help").open`)
	tab.press("j")
	require.Equal(t, 5, tab.picked(), "keys rest while a dialog is open")
	tab.press(escape)
	tab.until(`!document.getElementById("help").open`)

	tab.press("/")
	tab.until(`document.activeElement.id === "find"`)
	run[bool](tab, `(document.activeElement.blur(), true)`)
	tab.press("f")
	tab.until(`document.activeElement.id === "search"`)
	tab.press("S-19")
	tab.until(`document.getElementById("line").getAttribute("aria-rowcount") === "12"`)
	tab.hasText("line-shown", "198명 중 11명")
	tab.cellHas(19, "position", "16") // its place in the line, not among those found
	tab.press("\r")
	tab.until(`document.activeElement.dataset.key === "19"`)
	tab.press("f")
	tab.press(escape)
	tab.until(
		`document.getElementById("line").getAttribute("aria-rowcount") === "199" && document.getElementById("search").value === ""`)

	tab.press(escape)
	tab.until(`document.activeElement.role === "row"`)

	tab.press("?")
	tab.until(`document.getElementById("help").open`)
	tab.click("#keys-on")
	tab.click("#help-close")
	tab.press("f")
	require.NotEqual(t, "search", run[string](tab, `document.activeElement.id`),
		"switched off, for who speaks to a computer")
	tab.open(roomPage)
	tab.press("f")
	require.NotEqual(t, "search", run[string](tab, `document.activeElement.id`), "and it stays so")
}

func TestLatinKeysWorkWhileKoreanIsTyped(t *testing.T) {
	tab := openDesk(t, startFakeDesk(t, 20))
	tab.open(roomPage)
	tab.until(`document.querySelector('[data-key="2"]')`)
	run[bool](tab,
		`(document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ㅓ", code: "KeyJ", bubbles: true })), true)`)
	tab.until(`document.activeElement.dataset.key === "2"`)
}

func TestWatchersAreOfferedNothingToDo(t *testing.T) {
	d := busyDesk(t)
	d.watch = true
	d.paused, d.support = true, announcement("s-1 ist dran", time.Now().Add(time.Hour))
	d.beside[0] = object{"type": "items", "reset": true, "set": list{unowned(1)}}
	tab := openDesk(t, d)
	tab.open(roomPage)
	tab.hasText("items", "판매자-42")
	tab.hasText("trouble", "줄 멈춤")
	tab.hasText("announced", "s-1 ist dran")
	require.Zero(t, run[int](tab,
		`document.querySelectorAll("#extend, #release, .room-bar :is(#pause, #hours, #announce), [data-verb], #items button, #trouble button, #announced button").length`))
	tab.until(`document.querySelector('[data-key="2"]')`) // the line is drawn after the messages
	tab.press("j\r")
	tab.until(
		`document.querySelector("#row-menu:popover-open [data-timeline]")?.getAttribute("href") === "/support/-/sellers/s-2?room=integration"`)
}

func TestFiguresSayTheSameAsTables(t *testing.T) {
	tab := openDesk(t, busyDesk(t))
	tab.open(roomPage)
	tab.until(`document.querySelectorAll(".chart-plot canvas").length === 4`)
	tab.until(`document.querySelector("#chart-depth .chart-now").textContent === "3,214"`)
	for _, name := range []string{"depth", "waits", "delays", "outcomes"} {
		tab.click("#chart-" + name + " .chart-toggle")
		tab.until(
			`document.querySelectorAll("#chart-%s .chart-table tbody tr").length === 60 && document.querySelector("#chart-%s .chart-plot").hidden`, name, name)
	}
	tab.until(`document.querySelector("#chart-depth tbody tr td").textContent === "3,214"`)
	require.Equal(t, "시각 인증 완료 취소 시간 초과 상담원 종료 연결 끊김",
		run[string](tab,
			`[...document.querySelectorAll("#chart-outcomes thead th")].map((cell) => cell.textContent).join(" ")`))
	tab.click("#chart-depth .chart-toggle")
	tab.until(
		`!document.querySelector("#chart-depth .chart-plot").hidden && document.querySelector("#chart-depth .chart-table").hidden`)
}

// TestDeskIsAccessibleInEveryLook tests the other looks.
func TestDeskIsAccessible(t *testing.T) {
	d := troubledDesk(t)
	tab := openDesk(t, d)
	tab.open("/support/integration?lang=ko")
	tab.hasText("items", "판매자-42")
	tab.keepsNobodyOut("ko at 1440")
	tab.click(`[data-key="m:2"] .button`)
	tab.until(`document.getElementById("act").open`)
	tab.keepsNobodyOut("a dialog")
	tab.click("#act-no")
	tab.answered()
	tab.size(360, 900, true)
	d.setLag(15 * time.Second)
	tab.until(`document.body.dataset.age === "stale"`)
	tab.keepsNobodyOut("old data on a dark phone")
}

func (b *deskTab) keepsNobodyOut(what string, args ...any) {
	b.t.Helper()
	// wait for the end of the transition between themes, in which text has too little contrast
	b.until(`!document.getAnimations().some((one) => one instanceof CSSTransition)`)
	found, err := browsertest.Axe(b.ctx)
	require.NoError(b.t, err)
	require.Empty(b.t, found, fmt.Sprintf(what, args...))
}
