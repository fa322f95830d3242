package templates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// openVerb opens an action's confirmation by its button or key.
func (b *deskTab) openVerb(verb string) {
	b.t.Helper()
	switch verb {
	case "move", "remove":
		b.click(`[data-key="3"] .more`)
		b.click(`#row-menu [data-verb=` + verb + `]`)
	case "assign":
		b.click(`[data-key="m:2"] .button`)
	case "resume":
		b.click("#pause")
	case "open", "close":
		b.click("#hours")
	case "take_back":
		b.click("#announced-back")
	default:
		b.click("#" + verb)
	}
	b.until(`document.getElementById("act").open`)
	if verb == "move" {
		b.do(chromedp.SendKeys(chromedp.CSS("#act-position"), "5"))
	}
}

func actingDesk(t *testing.T) (*fakeDesk, *deskTab) {
	d := startFakeDesk(t, 20)
	d.beside, d.hours = []object{{"type": "items", "reset": true, "set": list{unowned(2)}}}, true
	tab := openDesk(t, d)
	browsertest.AllowErrors(tab.ctx, "the server responded with a status of") // a browser logs each refusal
	tab.timed()
	tab.open(roomPage)
	tab.hasText("line-count", "20명")
	tab.hasText("items", "판매자-42")
	return d, tab
}

func TestEveryActionShowsItsSubjectAndEffectAndSendsGuardAndReason(t *testing.T) {
	d, tab := actingDesk(t)
	for _, row := range []struct {
		verb, who, effect, note, shown string
		body                           object
	}{
		{"extend", "s-1 · 대기 번호 1번", "s-1의 차례가", "holder-note", "시간을 60초 더 줬어요",
			object{"fence": 1.790000000000001e15, "seconds": 60.0, "reason": "문자 지연"}},
		{"move", "s-3 · 대기 번호 3번", "2번째에서 5번째로 가요. 그 사이 3명의 순서가 바뀌어요.", "line-note", "s-3 판매자를 5번째로 옮겼어요",
			object{"ticket": 3.0, "position": 5.0, "reason": "우리 쪽 문제로 차례를 놓침"}},
		{"remove", "s-3 · 대기 번호 3번", "s-3의 순서가 사라져요", "line-note", "s-3 판매자를 줄에서 제외했어요",
			object{"ticket": 3.0, "reason": "판매자 전화 요청"}},
		{"release", "s-1 · 대기 번호 1번", "다음 분 s-2 · 대기 번호 2번에게 바로 넘어가요", "holder-note", "s-1의 차례를 종료했어요",
			object{"fence": 1.790000000000001e15, "reason": "판매자 전화 요청"}},
		{"pause", "18명", "18명의 순서는 유지돼요", "room-note", "줄을 멈췄어요", object{"reason": "문자 발송 장애"}},
		{"resume", "18명", "s-4 · 대기 번호 4번부터 차례를 이어가요", "room-note", "줄을 다시 시작했어요", object{"reason": "장애 해소"}},
		{"assign", "●●●●1234 · [쿠팡]", "s-41에게 바로 보여 줘요", "items", "s-41에게 배정했어요 · 판매자 화면에 보여요",
			object{"message_id": "id-2", "fence": 101.0, "reason": "판매자와 통화로 확인"}},
		{"close", "18명", "다음 운영 시간이 시작될 때까지 새로 줄을 설 수 없어요", "room-note", "대기실을 닫았어요", object{"reason": "문자 발송 장애"}},
		{"open", "18명", "지금부터 새로 줄을 설 수 있어요", "room-note", "대기실을 열었어요", object{"reason": "판매자가 몰림"}},
	} {
		tab.openVerb(row.verb)
		tab.hasText("act-who", row.who)
		tab.hasText("act-effect", row.effect)
		tab.reason()
		tab.answered()
		tab.hasText(row.note, row.shown)
		last := d.lastAsked(t)
		require.Equal(t, row.verb, last.what)
		require.Equal(t, row.body, last.body)
		require.NotEmpty(t, last.key)
	}
	require.Empty(t, browsertest.Errors(tab.ctx))
}

func TestAllWhoCameFromOneAddressAreRemovedTogether(t *testing.T) {
	d, tab := actingDesk(t)
	d.addresses = list{object{"address": "00112233aa", "places": 2, "tickets": list{7, 9}},
		object{"address": "0a1b2c3d4e", "places": 3, "tickets": list{3, 5, 6}}}
	tab.openVerb("remove")
	tab.hasText("act-choices", "같은 주소(0a1b2c3d4e)에서 들어온 3명 모두")
	tab.hasText("act-effect", "s-3의 순서가 사라져요")
	tab.click(`#act-choices [value="all"]`)
	tab.hasText("act-effect", "3명의 순서가 사라져요")
	tab.reason()
	tab.answered()
	tab.hasText("line-note", "3명을 줄에서 제외했어요")
	tab.hasText("line-count", "17명")
	last := d.lastAsked(t)
	require.Equal(t, "remove", last.what)
	require.Equal(t, object{"tickets": list{3.0, 5.0, 6.0}, "reason": "판매자 전화 요청"}, last.body)
	require.Empty(t, browsertest.Errors(tab.ctx))
}

func TestFocusStaysWithTheHoldersCardWithoutANextSeller(t *testing.T) {
	for name, end := range map[string]func(d *fakeDesk, tab *deskTab){
		"ended here": func(_ *fakeDesk, tab *deskTab) {
			tab.openVerb("release")
			tab.reason()
			tab.answered()
		},
		"ended by itself": func(d *fakeDesk, tab *deskTab) {
			run[bool](tab, `document.getElementById("release").focus(); true`)
			d.change(tab.t, func() object { return d.next("completed") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := startFakeDesk(t, 0)
			tab := openDesk(t, d)
			tab.timed()
			tab.open(roomPage)
			tab.hasText("holder-seller", "s-1")
			end(d, tab)
			tab.until(`document.getElementById("release").disabled && document.activeElement.id === "holder-title"`)
			require.Empty(t, run[string](tab, `document.getElementById("act-error").textContent`),
				"nothing is left in a question that is closed")
		})
	}
}

func TestEveryActionNeedsAReason(t *testing.T) {
	d, tab := actingDesk(t)
	for _, verb := range []string{"extend", "release", "move", "remove", "pause", "assign", "close"} {
		tab.openVerb(verb)
		tab.click("#act-yes")
		tab.hasText("act-error", "사유를 고르거나 적어 주세요.")
		tab.do(chromedp.SendKeys(chromedp.CSS("#act-text"), "   "))
		tab.click("#act-yes")
		tab.hasText("act-error", "사유를 고르거나 적어 주세요.")
		tab.click("#act-no")
		tab.answered()
	}
	require.Empty(t, d.asked())

	tab.openVerb("release")
	run[bool](tab, `(document.getElementById("act-text").value = %q, true)`, strings.Repeat("가", 201))
	tab.click("#act-yes")
	tab.hasText("act-error", "사유가 1자 더 길어요")
	run[bool](tab, `(document.getElementById("act-text").value = "전화가 끊김", true)`)
	tab.reason()
	tab.answered()
	require.Equal(t, "판매자 전화 요청 · 전화가 끊김", d.lastAsked(t).body["reason"])
}

func TestRefusalIsInViewWhereAPhoneIsTooShortForTheQuestion(t *testing.T) {
	d := busyDesk(t)
	d.beside[0] = object{"type": "items", "reset": true, "set": list{unowned(2)}}
	tab := openDesk(t, d)
	tab.size(360, 640, false)
	tab.open(roomPage)
	tab.click(`[data-key="m:2"] .button`)
	tab.click("#act-yes")
	tab.hasText("act-error", "사유를 고르거나 적어 주세요.")
	require.True(t, run[bool](tab, `["act-error", "act-yes"].every((id) => {
		const box = document.getElementById(id).getBoundingClientRect();
		return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest("#" + id);
	})`))
}

func TestEveryRefusalIsShownInPlainWordsAndEndsTheQuestion(t *testing.T) {
	d, tab := actingDesk(t)
	for _, row := range []struct {
		verb   string
		status int
		code   string
		shown  string
	}{
		{"extend", 409, "stale_fence", "그 사이 차례가 바뀌었어요. 바뀐 것은 없어요."},
		{"extend", 409, "lease_too_long", "한 차례는 모두 합해 10분까지예요."},
		{"release", 409, "stale_fence", "그 사이 차례가 바뀌었어요. 바뀐 것은 없어요."},
		{"move", 409, "stale_ticket", "그 사이 줄에서 나갔거나 차례가 됐어요."},
		{"remove", 409, "stale_ticket", "그 사이 줄에서 나갔거나 차례가 됐어요."},
		{"pause", 403, "not_allowed", "보기 전용 계정이라 처리할 수 없어요."},
		{"assign", 409, "already_matched", "이미 주인이 있는 문자예요."},
		{"assign", 409, "not_possible", "said by the server"}, // which has two causes
		{"assign", 404, "no_message", "더는 배정할 수 없는 문자예요."},
		{"release", 409, "unheard_of", "said by the server"},
	} {
		d.refuseNext(row.status, row.code)
		tab.openVerb(row.verb)
		tab.reason()
		tab.hasText("act-error", row.shown)
		tab.until(`document.getElementById("act-yes").disabled && document.getElementById("act").open`)
		tab.click("#act-no")
		tab.answered()
	}
	tab.hasText("line-count", "20명")
	tab.hasText("holder-seller", "s-1")

	d.refuseNext(400, "invalid_reason")
	tab.openVerb("release")
	tab.reason()
	tab.hasText("act-error", "사유를 1자에서 200자까지")
	require.False(t, run[bool](tab, `document.getElementById("act-yes").disabled`),
		"what was typed wrong can be put right")
	first := d.lastAsked(t).key
	tab.click("#act-yes")
	tab.answered()
	require.NotEqual(t, first, d.lastAsked(t).key, "another body is another action")
}

func TestUnansweredActionIsRepeatedAsTheSameAction(t *testing.T) {
	d, tab := actingDesk(t)
	d.refuseNext(503, "store_unavailable")
	tab.openVerb("extend")
	tab.reason()
	tab.answered()
	calls := d.asked()
	require.Len(t, calls, 2)
	require.Equal(t, calls[0], calls[1])
}

func TestSignedOutActionLeadsToTheSignIn(t *testing.T) {
	d, tab := actingDesk(t)
	d.refuseNext(401, "not_signed_in")
	tab.openVerb("release")
	tab.reason()
	tab.goes("/support/sign-in?next=%2Fsupport%2Fintegration%3Flang%3Dko")
}

func TestDialogLeftOpenShowsThatThereIsNothingLeftToDo(t *testing.T) {
	d, tab := actingDesk(t)
	for _, row := range []struct {
		verb, shown string
		meanwhile   func() object
	}{
		{"remove", "그 사이 s-3 판매자가 줄에서 나갔어요", func() object { return d.remove(3, "cancelled") }},
		{"extend", "그 사이 차례가 바뀌었어요", func() object { return d.next("completed") }},
		{"release", "그 사이 차례가 바뀌었어요", func() object { return d.next("expired") }},
		{"pause", "그 사이 다른 상담원이 줄을 멈췄어요", func() object { d.paused = true; return object{} }},
		{"resume", "그 사이 다른 상담원이 줄을 다시 시작했어요", func() object { d.paused = false; return object{} }},
		{"close", "그 사이 대기실이 닫혔어요", func() object { d.opens = d.begins(); return object{} }},
		{"open", "그 사이 대기실이 열렸어요", func() object { d.opens = 0; return object{} }},
	} {
		tab.openVerb(row.verb)
		d.change(t, row.meanwhile)
		tab.hasText("act-error", row.shown)
		tab.until(`document.getElementById("act-yes").disabled`)
		tab.click("#act-no")
		tab.answered()
	}
	tab.click(`[data-key="5"] .more`)
	tab.click(`#row-menu [data-verb=move]`)
	d.change(t, func() object { return d.next("completed") })
	tab.hasText("act-error", "그 사이 s-5의 차례가 됐어요")
	tab.click("#act-no")
	tab.answered()

	tab.openVerb("assign")
	d.send(object{"type": "items", "set": list{}, "drop": list{"m:2"}})
	tab.hasText("act-error", "그 사이 이 문자가 처리됐어요")
	tab.until(`document.getElementById("act-yes").disabled`)
	require.Empty(t, d.asked())
}

func TestOpenDialogShowsThePresentNextSeller(t *testing.T) {
	d, tab := actingDesk(t)
	tab.openVerb("release")
	tab.hasText("act-effect", "다음 분 s-2")
	d.change(t, func() object { return d.away(2, time.Now().UnixMilli()) })
	tab.hasText("act-effect", "다음 분 s-3")
	d.change(t, func() object { d.paused = true; return object{} })
	tab.hasText("act-effect", "아무에게도 넘어가지 않아요")
}

func TestSellerThatWasEndedByMistakeIsPutBackAtTheFront(t *testing.T) {
	d, tab := actingDesk(t)
	for _, row := range []struct {
		verb, note string
		ticket     float64
	}{{"remove", "line-note", 3}, {"release", "holder-note", 1}} {
		tab.openVerb(row.verb)
		tab.reason()
		tab.answered()
		tab.hasText(row.note, "맨 앞으로 되돌리기")
		tab.click("#" + row.note + " button")
		tab.hasText(row.note, "줄의 맨 앞으로 되돌렸어요")
		last := d.lastAsked(t)
		require.Equal(t, "restore", last.what)
		require.Equal(t, object{"ticket": row.ticket, "reason": "바로 앞 처리를 되돌림"}, last.body)
	}
	tab.openVerb("release")
	tab.reason()
	tab.answered()
	d.refuseNext(409, "stale_ticket")
	tab.press("u")
	tab.hasText("holder-note", "1분이 지났거나, 판매자가 이미 다시 줄을 섰거나")
}

func TestMoveIsUndoneToTheFormerPlaceAlsoWhenOthersLeft(t *testing.T) {
	d, tab := actingDesk(t)
	tab.openVerb("move")
	tab.reason()
	tab.answered()
	tab.until(`document.querySelector('[data-key="3"] [data-cell=position]').textContent === "5"`)
	tab.until(`document.querySelector('[data-key="3"] [data-cell=state]').textContent.trim() === "여기로 옮겼어요"`)
	d.change(t, func() object { return d.remove(2, "cancelled") })
	tab.hasText("line-count", "19명")
	tab.press("u")
	tab.hasText("line-note", "되돌렸어요")
	require.Equal(t, object{"ticket": 3.0, "position": 1.0, "reason": "바로 앞 처리를 되돌림"}, d.lastAsked(t).body,
		"before whom it was before")
	tab.until(`document.querySelector('[data-key="3"] [data-cell=position]').textContent === "1"`)

	tab.openVerb("move")
	tab.reason()
	tab.answered()
	d.refuseNext(409, "stale_ticket")
	tab.click("#line-note button")
	tab.hasText("line-note", "그 사이 줄에서 나갔거나 차례가 됐어요")
}

func TestPauseIsUndoneForTenSecondsOnly(t *testing.T) {
	d, tab := actingDesk(t)
	tab.openVerb("pause")
	tab.reason()
	tab.answered()
	tab.hasText("trouble", "줄 멈춤")
	tab.click("#room-note button")
	tab.hasText("room-note", "되돌렸어요")
	require.Equal(t, "resume", d.lastAsked(t).what)
	tab.later()
	tab.until(
		`document.getElementById("pause").textContent === "줄 멈추기" && document.getElementById("room-note").textContent === ""`)
	tab.press("u")
	require.Equal(t, "resume", d.lastAsked(t).what)
	require.Len(t, d.asked(), 2)
}

func TestFocusComesBackToTheRowAfterAnAction(t *testing.T) {
	_, tab := actingDesk(t)
	tab.press("jj\r")
	tab.until(`document.querySelector("#row-menu:popover-open")`)
	tab.press("\r")
	tab.asks("순서를 옮길까요?")
	tab.press(escape)
	tab.until(`!document.getElementById("act").open && document.activeElement.dataset.key === "3"`)
}

// An assigned message stays, with its result, until its list comes anew.
func TestAssignedMessageShowsItsResult(t *testing.T) {
	d, tab := actingDesk(t)
	tab.openVerb("assign")
	tab.click(`#act-choices label:nth-child(2) input`)
	tab.hasText("act-effect", "판매자-42에게")
	tab.reason()
	tab.answered()
	require.EqualValues(t, 102, d.lastAsked(t).body["fence"])
	d.send(object{"type": "items", "set": list{}, "drop": list{"m:2"}})
	tab.hasText("items", "판매자-42에게 배정했어요 · 판매자 화면에 보여요")
	require.Zero(t, run[int](tab, `document.querySelectorAll("#items .button").length`))
	tab.later()
	tab.until(`document.querySelectorAll("#items > li").length === 0`)
}
