package templates_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

// turnLength is longer than any test takes on a slow machine.
const turnLength = 30 * time.Minute

// turn returns the fields of a state frame of the seller's turn; the number is busy for a duration.
func turn(busy time.Duration) object {
	var after any
	if busy > 0 {
		after = time.Now().Add(busy).UnixMilli()
	}
	return object{
		"status": "locked", "outcome": nil, "ticket": 9, "fence": 77, "queue_position": nil, "estimated_wait": nil,
		"maximum_wait":     nil,
		"lease_expires_at": time.Now().Add(turnLength).UnixMilli(), "codes": object{"asked": 0, "open": 0,
			"ask_after": after},
	}
}

// busyUntil returns the field of a state frame that says when the seller may ask.
func busyUntil(after any) object {
	return object{"codes": object{"asked": 0, "open": 0, "ask_after": after}}
}

func also(state object, more object) object { maps.Copy(state, more); return state }

func ended(outcome string) object {
	return object{"status": "ended", "outcome": outcome, "fence": nil, "lease_expires_at": nil, "codes": nil}
}

// message returns an sms frame of that age; code may be nil.
func message(id, text string, code any, ago time.Duration) object {
	return object{"type": "sms", "message_id": id, "text": text, "code": code,
		"received_at": time.Now().Add(-ago).UnixMilli(), "late": false}
}

func late(frame object) object {
	frame["late"] = true
	return frame
}

func offer(id string) object {
	return object{"type": "sms_unclaimed", "message_id": id, "received_at": time.Now().UnixMilli()}
}

// shows waits until an element is visible; hides waits until it is not.
func (b *browser) shows(id string) { b.t.Helper(); b.until(fmt.Sprintf(onShow, id)) }
func (b *browser) hides(id string) { b.t.Helper(); b.until("!" + fmt.Sprintf(onShow, id)) }

const onShow = `(document.getElementById(%q).getClientRects().length > 0)`

func (b *browser) hasText(id, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.getElementById(%q).textContent.includes(%q)`, id, text))
}

func (b *browser) step(step string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.body.dataset.step === %q`, step))
}

// nowhere requires that a secret is not in the page any more, visible or not.
func (b *browser) nowhere(secret string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`!document.documentElement.outerHTML.includes(%q)`, secret))
}

// expectTurn opens the page in the seller's turn.
func expectTurn(t *testing.T) (*fakeRoom, *browser) {
	t.Helper()
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	return room, tab
}

// seesFocus records the id of the element that has the focus once a question is closed, before another event.
const seesFocus = `for (const dialog of document.querySelectorAll("dialog"))
	new MutationObserver(() => {
		document.body.dataset.focused = dialog.open ? "" : document.activeElement.id;
	}).observe(dialog, { attributes: true, attributeFilter: ["open"] });`

// heading waits until a question is closed, and the focus at once on the heading.
func (b *browser) heading(question string) {
	b.t.Helper()
	b.hides(question)
	b.until(`document.body.dataset.focused === "turn-title"`)
}

func TestQuestionIsNoLongerAskedOnceTheTurnIsOver(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(passes)
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	tab.run(seesFocus)
	tab.do(chromedp.Click("#cancel"))
	tab.shows("leave-confirm")
	tab.run(fmt.Sprintf(`pass(%d)`, turnLength.Milliseconds()))
	tab.step("over")
	tab.heading("leave-confirm")
}

func TestQuestionIsNoLongerAskedOnceANewCodeIsThere(t *testing.T) {
	room, tab := expectTurn(t)
	tab.run(seesFocus)
	tab.do(chromedp.Click("#done"))
	tab.shows("done-confirm")
	room.send(t, message("a", "광고", nil, time.Second))
	tab.until(`document.getElementById("sms-text").textContent === "광고"`)
	tab.shows("done-confirm") // still no code has come
	room.send(t, message("b", "인증번호 000000", "000000", 0))
	tab.heading("done-confirm")
	tab.do(chromedp.Click("#sms-reject"))
	tab.shows("reject-confirm")
	room.send(t, message("c", "인증번호 111111", "111111", 0))
	tab.heading("reject-confirm") // another seller's code is not the one on show
	require.Empty(t, room.made())
}

func TestTurnAsksFirstAndSpeaksOfTheMarketplaceThen(t *testing.T) {
	room, tab := expectTurn(t)
	tab.shows("ask")
	for _, id := range []string{"ask-again", "ask-countdown", "sms", "unclaimed"} {
		tab.hides(id)
	}
	require.Equal(t, "지금 차례예요", tab.text("turn-title"))
	require.Contains(t, tab.text("turn-lead"), "요청하기 바로 전에 눌러 주세요")

	room.mu.Lock()
	room.fail = 1
	room.mu.Unlock()
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
	require.Equal(t, "이제 마켓플레이스에서 인증번호를 요청해 주세요", tab.text("turn-title"))
	tab.until(`document.activeElement.id === "turn-title"`)
	tab.hasText("say", "문자가 오면 여기에 바로 보여드려요") // the title has the focus
	tab.hides("ask")
	require.Equal(t, "문자를 기다리고 있어요", tab.text("sms-code"))

	calls := room.made()
	require.Len(t, calls, 2)
	require.Equal(t, "POST /api/integration/lock/expect ", calls[0].what)
	require.Equal(t, object{"fence": 77.0}, calls[0].body)
	require.NotEmpty(t, calls[0].key)
	require.Equal(t, calls[0].key, calls[1].key, "its own retry is the same ask")

	tab.do(chromedp.Click("#ask-again"))
	tab.until(`!document.querySelector("[aria-busy]")`)
	require.Len(t, room.made(), 3)
	require.NotEqual(t, calls[0].key, room.last().key, "another ask has another key")
}

func TestJoiningSendsThatThePageAsks(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	room.then(turn(0))
	tab.do(chromedp.SendKeys("#seller-id", "s-1"), chromedp.Click("#join"))
	tab.step("ask")
	require.Equal(t, object{"seller_id": "s-1", "asks": true}, room.last().body)
}

func TestBusyNumberIsCountedDownAndThenItMayBePressed(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.open(room, "ko")
	busy := turn(10 * time.Minute)
	room.then(object{"code": "number_busy", "detail": "바빠요",
		"ask_after": rfc(busy["codes"].(object)["ask_after"].(int64))})
	room.push(t, busy)
	tab.step("busy")
	tab.hides("ask")
	tab.until(`/^(10:00|9:\d\d)$/.test(document.getElementById("ask-countdown").textContent)`)
	tab.hasText("turn-lead", "앞사람의 문자가 아직 올 수 있어요")
	tab.hasText("time-left", "요청할 수 있을 때까지")
	tab.hides("countdown")
	tab.hasText("say", "뒤에 요청할 수 있어요")
	tab.shows("ask-more")
	require.Len(t, room.made(), 1, "the refused ask that puts the lease off")

	after := time.Now().Add(2 * time.Second).UnixMilli()
	room.push(t, busyUntil(after))
	tab.step("ask")
	require.GreaterOrEqual(t, time.Now().UnixMilli(), after)
	tab.shows("ask")
	tab.hides("ask-countdown")
	tab.shows("countdown")
	tab.hides("ask-more")
	tab.hasText("say", "이제 인증번호를 요청할 수 있어요")

	room.then(object{"code": "number_busy", "detail": "바빠요",
		"ask_after": rfc(time.Now().Add(10 * time.Minute).UnixMilli())})
	tab.do(chromedp.Click("#ask"))
	tab.step("busy")
	room.then(nil)
	room.push(t, busyUntil(time.Now().Add(time.Second).UnixMilli()))
	tab.step("ask")
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
}

func TestMessageThatNoAskExplainsIsAskedAboutBeforeItIsShown(t *testing.T) {
	room, tab := expectTurn(t)
	room.send(t, offer("m-1"))
	tab.shows("unclaimed")
	tab.hasText("unclaimed-title", "방금 요청한 문자인가요?")
	tab.hasText("say", "문자가 왔어요")
	tab.hides("sms")

	tab.do(chromedp.Click("#unclaimed-no"))
	tab.hides("unclaimed")
	require.Empty(t, room.made(), "a no is sent to no one")
	room.send(t, offer("m-1"))
	room.send(t, offer("m-2"))
	tab.shows("unclaimed")

	room.then(object{"code": "number_busy", "detail": "앞 사람의 문자일 수 있어요"})
	tab.do(chromedp.Click("#unclaimed-yes"))
	tab.until(`document.getElementById("unclaimed-error").innerText === "앞 사람의 문자일 수 있어요"`)
	require.Equal(t, object{"fence": 77.0, "message_id": "m-2"}, room.last().body, "m-1 was answered")

	room.then(object{"code": "no_message", "detail": "그런 문자가 없어요", "http": http.StatusNotFound})
	tab.do(chromedp.Click("#unclaimed-yes"))
	tab.until(`document.querySelector("[data-error=locked]").innerText === "그런 문자가 없어요"`)
	tab.hides("unclaimed")

	room.then(nil)
	room.send(t, offer("m-3"))
	tab.shows("unclaimed")
	tab.do(chromedp.Click("#unclaimed-yes"))
	tab.hides("unclaimed")
	tab.step("asked")
	require.Equal(t, object{"fence": 77.0, "message_id": "m-3"}, room.last().body)
	require.NotEmpty(t, room.last().key)
	room.send(t, message("m-3", "인증번호 482103", "482103", 0))
	tab.step("code")
	require.Equal(t, "482103", tab.text("sms-code"))
}

func TestMessageWithoutACodeIsNoSuccess(t *testing.T) {
	room, tab := expectTurn(t)
	tab.do(chromedp.Click("#ask"))
	tab.step("asked")
	room.send(t, message("m-1", "[마켓] 이번 주 광고", nil, 0))
	tab.step("text")
	require.Equal(t, "인증번호가 없는 문자예요", tab.text("sms-code"))
	require.Equal(t, "[마켓] 이번 주 광고", tab.text("sms-text"))
	require.Equal(t, "인증번호를 아직 기다리고 있어요", tab.text("turn-title"))
	tab.hasText("say", "인증번호가 없는 문자가 왔어요")
	tab.hides("sms-copy")
	tab.hides("sms-reject")
	require.NotContains(t, tab.text("shout"), "도착", "only a code breaks into what is being read")

	tab.do(chromedp.Click("#done"))
	tab.shows("done-confirm")
	tab.do(chromedp.Click("#done-stay"))
	tab.hides("done-confirm")
	require.Len(t, room.made(), 1, "to be done before the code has come asks first")

	room.send(t, message("m-2", "인증번호 482103", "482103", 0))
	room.send(t, message("m-3", "[마켓] 또 광고", nil, 0))
	tab.step("code")
	tab.hasText("sms-earlier", "또 광고")
	require.Equal(t, "482103", tab.text("sms-code"), "a later text does not hide the code")
}

func TestLateMessageIsTheEndedTurnsAndNeverTheNext(t *testing.T) {
	room, tab := expectTurn(t)
	room.push(t, ended("expired"))
	tab.until(`document.body.dataset.state === "ended"`)
	tab.hides("sms")
	room.send(t, late(message("m-1", "인증번호 482103", "482103", time.Second)))
	tab.shows("sms")
	require.Equal(t, "차례가 끝난 뒤 도착한 문자예요", tab.text("sms-title"))
	require.Equal(t, "482103", tab.text("sms-code"))
	require.Equal(t, "인증 시간이 끝났어요", tab.text("outcome"), "it did not end the turn")
	require.Contains(t, tab.text("outcome-lead"), "먼저 아래 인증번호를 마켓플레이스에 입력해 보세요")
	tab.hasText("shout", "차례가 끝난 뒤 도착한 문자예요. 인증번호: 4 8 2 1 0 3")

	room.push(t, object{"status": "waiting", "outcome": nil, "ticket": 10, "queue_position": 1,
		"queue_length": 1})
	tab.until(`document.body.dataset.state === "waiting"`)
	tab.hides("sms")
	tab.hasText("past-list", "인증번호 482103")
	tab.shows("past")
	next := turn(0)
	next["ticket"], next["fence"] = 10, 78
	room.push(t, next)
	tab.step("ask")
	tab.shows("past")
	require.NotContains(t, tab.text("sms-code"), "482103")
	room.send(t, late(message("m-2", "늦은 문자 555666", "555666", 0)))
	tab.hasText("past-list", "555666")
	tab.hasText("say", "이번 차례의 인증번호가 아니에요")
	tab.step("ask")
	require.NotContains(t, tab.text("sms-code"), "555666")
}

func TestCodeOutlivesAPressThatCameTooLate(t *testing.T) {
	room, tab := expectTurn(t)
	room.send(t, message("m-1", "인증번호 482103", "482103", 0))
	tab.step("code")
	room.then(object{"code": "no_place", "detail": "끝났어요", "http": http.StatusNotFound})
	tab.do(chromedp.Click("#done"))
	tab.until(`document.body.dataset.state === "ended"`)
	room.push(t, ended("completed"))
	letIn := room.shutOut()
	room.closeAll(4001)
	tab.until(`document.body.dataset.connection === "lost"`)
	letIn()
	tab.until(`document.body.dataset.connection === "open"`)
	require.Equal(t, "482103", tab.text("sms-code"))
	tab.shows("sms")
}

// passes lets a test advance every clock of the pages opened from now on, by pass(ms). A timer longer than
// two minutes fires when its time has come.
const passes = `{
	const [now, date, later, never] = [performance.now.bind(performance), Date.now, setTimeout, clearTimeout];
	const put = new Map();
	let ahead = 0, n = 0;
	performance.now = () => now() + ahead;
	Date.now = () => date() + ahead;
	window.setTimeout = (f, ms, ...rest) => ms > 120000 ? (put.set(--n, { f, at: performance.now() + ms }), n) : later(f, ms, ...rest);
	window.clearTimeout = (id) => put.delete(id) || never(id);
	window.pass = (ms) => {
		ahead += ms;
		for (const [id, { f, at }] of put) if (at <= performance.now() && put.delete(id)) f();
	};
}`

// edges has messages that become ten minutes old just before or after they arrive. The clock advances by a
// millisecond each time that the page reads it.
const edges = `(() => {
	const [sms, now] = [document.getElementById("sms"), performance.now];
	let read = 0;
	performance.now = () => now() + ++read;
	const lost = [];
	for (let k = -200; k <= 200; k++) {
		const added = sms.add({ message_id: "edge" + k, text: "", code: "", received_at: Date.now() - 600_000 + read + k });
		if (added && !sms.has(added.id)) lost.push(k);
	}
	performance.now = now;
	return lost.join();
})()`

func TestCodeIsForgottenTenMinutesAfterItCame(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.before(passes)
	tab.open(room, "ko")
	room.push(t, turn(0))
	tab.step("ask")
	room.push(t, ended("completed"))
	room.send(t, message("m-1", "인증번호 482103", "482103", 0))
	tab.until(`document.getElementById("outcome").textContent === "인증번호가 도착했어요"`)
	tab.run(`pass(540_000)`)
	require.Equal(t, "482103", tab.text("sms-code"), "after nine minutes")
	tab.run(`pass(60_000)`)
	tab.hides("sms")
	tab.nowhere("482103")
	tab.nowhere("4 8 2 1 0 3") // as it was spoken
	require.Equal(t, "인증을 마쳤어요", tab.text("outcome"))
	room.send(t, message("m-2", "인증번호 999000", "999000", 0))
	room.push(t, object{"paused": true})
	tab.shows("paused")
	tab.nowhere("999000")
	tab.nowhere("9 9 9 0 0 0")
	lost, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](edges))
	require.NoError(t, err)
	require.Empty(t, lost, "added and not shown")

	locked := everyState()["locked"]
	locked.LeaseExpiresAt = time.Now().Add(time.Hour).UnixMilli()
	locked.Codes = &templates.CodesView{Asked: 1}
	locked.SMS = []templates.SMSView{{MessageID: "m-3", Text: "인증번호 313233", Code: "313233",
		ReceivedAt: time.Now().Add(-5 * time.Minute).UnixMilli()}}
	room.mu.Lock()
	room.view = locked
	room.mu.Unlock()
	state := turn(0)
	state["codes"], state["lease_expires_at"] = object{"asked": 1, "open": 0, "ask_after": nil},
		locked.LeaseExpiresAt
	room.change(state)
	tab.open(room, "ko")
	require.Equal(t, "313233", tab.text("sms-code"))
	tab.run(`pass(300_000)`)
	tab.nowhere("313233")
	tab.step("asked")
}
