package templates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// announcement returns what support has set, where that is a text in English and a later language.
func announcement(text string, until time.Time) object {
	return object{"announcement": object{"texts": list{object{"lang": "en", "text": text},
		object{"lang": "vi", "text": "Mã đến chậm"}}, "level": "warning"}, "announced_until": until.UnixMilli()}
}

func TestAnnouncementOfAUsualIncidentIsEditedAndSent(t *testing.T) {
	d, tab := actingDesk(t)
	tab.openVerb("announce")
	tab.asks("모두에게 안내를 올릴까요?")
	tab.click(`#act-wording [value="late"]`)
	tab.until(`[...document.querySelectorAll("#act-wording textarea")].every((text) => text.value.length > 20)`)
	tab.do(chromedp.SendKeys(chromedp.CSS("#act-text-ko"), " 죄송해요."))
	tab.hasText("act-count-ko", "/300")
	run[bool](tab, `["ja", "zh-Hans", "vi"].every((lang) => (document.getElementById("act-text-" + lang).value = " ") && true)`)
	tab.click(`#act-choices [value="180"]`)
	tab.hasText("act-effect", "저절로 사라져요")
	tab.reason()
	tab.answered()
	tab.hasText("room-note", "안내를 올렸어요")
	last := d.lastAsked(t)
	require.Equal(t, "announce", last.what)
	require.Equal(t, object{"ko": "인증번호 문자가 늦게 오고 있어요. 순서는 그대로예요. 화면을 열어 두고 기다려 주세요. 죄송해요.",
		"en": "Codes are arriving late right now. Your place is kept. Please keep this page open and wait."},
		last.body["text"])
	require.Equal(t, "warning", last.body["level"])
	require.Equal(t, "문자 발송 장애", last.body["reason"])
	until, err := time.Parse(time.RFC3339, last.body["until"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(3*time.Hour), until, 2*time.Minute)
	tab.hasText("announced-text", "죄송해요.")
	tab.hasText("announced-level", "주의")

	tab.openVerb("take_back")
	tab.hasText("act-effect", "안내가 사라져요")
	tab.reason()
	tab.answered()
	tab.until(`document.getElementById("announced").hidden && document.activeElement.id === "announce"`)
	require.Equal(t, object{"text": nil, "reason": "장애 해소"}, d.lastAsked(t).body)
	tab.click("#room-note button")
	tab.hasText("announced-text", "죄송해요.")
	again := d.lastAsked(t)
	require.Equal(t, "announce", again.what)
	require.Equal(t, []any{last.body["text"], "warning"}, []any{again.body["text"], again.body["level"]})
	require.Empty(t, browsertest.Errors(tab.ctx))
}

func TestAnnouncementIsUndoneToTheOneBefore(t *testing.T) {
	d, tab := actingDesk(t)
	until := time.Now().Add(time.Hour).Truncate(time.Minute)
	for _, before := range []object{nil, announcement("Codes are late", until)} {
		d.change(t, func() object { d.support = before; return object{} })
		tab.until(`document.getElementById("announced").hidden === %t`, before == nil)
		tab.openVerb("announce")
		run[bool](tab, `(document.getElementById("act-text-vi").value = "Mã đến", true)`)
		tab.reason()
		tab.answered()
		tab.hasText("announced-text", "Mã đến")
		require.Equal(t, object{"vi": "Mã đến"}, d.lastAsked(t).body["text"])
		require.Equal(t, "info", d.lastAsked(t).body["level"])
		// the frame may come before the answer
		tab.until(`document.querySelector("#room-note button") !== null`)
		tab.press("u")
		tab.hasText("room-note", "되돌렸어요")
		want := object{"text": nil, "reason": "바로 앞 처리를 되돌림"}
		if before != nil {
			want["text"], want["level"] = object{"en": "Codes are late", "vi": "Mã đến chậm"}, "warning"
			want["until"] = until.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		require.Equal(t, want, d.lastAsked(t).body)
	}
}

func TestAnnouncementNeedsATextThatIsNotTooLong(t *testing.T) {
	d, tab := actingDesk(t)
	tab.openVerb("announce")
	tab.reason()
	tab.hasText("act-error", "안내를 한 언어 이상 적어 주세요.")
	write := func(text string) {
		run[bool](tab, `(() => { const field = document.getElementById("act-text-ja"); field.value = %q;
			return field.dispatchEvent(new Event("input", { bubbles: true })); })()`, text)
	}
	write(strings.Repeat("🙂", 301))
	tab.hasText("act-count-ja", "301/300")
	tab.click("#act-yes")
	tab.hasText("act-error", "日本語 안내가 1자 더 길어요. 300자까지 적을 수 있어요.")
	write(strings.Repeat("🙂", 300))
	tab.click("#act-yes")
	tab.answered()
	require.Len(t, d.asked(), 1)
}

func TestRoomsStandingIsShownUntilItsTime(t *testing.T) {
	d, tab := actingDesk(t)
	stands := func(opens int64, support object) {
		d.change(t, func() object { d.opens, d.support = opens, support; return object{} })
	}
	opens := time.Date(2031, 7, 3, 9, 0, 0, 0, time.Local)
	stands(opens.UnixMilli(), nil)
	tab.hasText("open-state", "운영 시간이 아니에요. 2031-07-03 09:00에 열려요.")
	tab.hasText("hours", "지금 열기")
	stands(opens.UnixMilli(), object{"closed_until": opens.UnixMilli()})
	tab.hasText("open-state", "상담원이 닫았어요. 2031-07-03 09:00에 열려요.")
	stands(0, object{"open_until": opens.UnixMilli()})
	tab.hasText("open-state", "상담원이 열었어요. 2031-07-03 09:00까지 열려 있어요.")
	tab.hasText("hours", "일찍 닫기")
	stands(0, announcement("<b>Late</b>", opens))
	tab.hasText("announced", "<b>Late</b>")
	tab.hasText("announced-until", "2031-07-03 09:00까지")
	require.Equal(t, "en", run[string](tab, `document.getElementById("announced-text").lang`),
		"the first language, where the agent's is missing")
	tab.until(`document.getElementById("open-state").hidden`)
	stands(0, announcement("Late", time.Now().Add(time.Second)))
	tab.hasText("announced", "Late")
	tab.until(`document.getElementById("announced").hidden`)
}

func TestRoomIsOpenedAndClosedUntilATime(t *testing.T) {
	d, tab := actingDesk(t)
	const choices = `[...document.querySelectorAll("#act-choices input")].map((one) => one.value + (one.checked ? "*" : "")).join()`
	for _, row := range []struct {
		name          string
		hours         bool
		opens         int64
		support       object
		choices, pick string
		verb, undo    string
		until         bool
	}{
		{"open by its hours", true, 0, nil, "hours*,30,60,180,720,today", "", "close", "open", false},
		{"without hours", false, 0, nil, "30,60*,180,720,today", "", "close", "open", true},
		{"closed by its hours", true, d.begins(), nil, "hours*,30,60,180,720,today", "30", "open", "close", true},
		{"closed by support", true, d.begins(), object{"closed_until": d.begins()}, "", "", "open", "close", false},
	} {
		d.change(t, func() object { d.hours, d.opens, d.support = row.hours, row.opens, row.support; return object{} })
		tab.open(roomPage)
		tab.until(`!document.getElementById("hours").disabled`)
		tab.openVerb(row.verb)
		require.Equal(t, row.choices, run[string](tab, choices), row.name)
		if row.pick != "" {
			tab.click(`#act-choices [value="` + row.pick + `"]`)
		}
		tab.reason()
		tab.answered()
		require.Equal(t, row.verb, d.lastAsked(t).what, row.name)
		require.Equal(t, row.until, d.lastAsked(t).body["until"] != nil, row.name)
		tab.click("#room-note button")
		tab.hasText("room-note", "되돌렸어요")
		undo := d.lastAsked(t)
		require.Equal(t, row.undo, undo.what, row.name)
		require.Equal(t, row.support["closed_until"] != nil, undo.body["until"] != nil, row.name)
	}
}

func TestTroubleOffersTheAnnouncementOfItsIncident(t *testing.T) {
	d, tab := actingDesk(t)
	now := time.Now()
	ended := func(ago time.Duration, outcomes object) object {
		return object{"type": "minutes", "reset": true, "set": list{
			object{"key": "1", "at": now.Add(-ago).UnixMilli(), "depth": 1, "outcomes": outcomes}}}
	}
	heard := func(ago time.Duration) object {
		return object{"type": "sources", "reset": true, "set": list{phone("phone-2", now.Add(-ago), 0)}}
	}
	most := object{"expired": 2, "completed": 1, "dropped": 5}
	for _, row := range []struct {
		name           string
		paused         bool
		frames         []object
		trouble, texts string
	}{
		{"paused", true, nil, "paused", "줄을 잠시 멈췄어요"},
		{"most turns expired", false, []object{ended(time.Minute, most), heard(time.Minute)}, "expired", "늦게 오고 있어요"},
		{"no text, and a turn expired", false, []object{ended(time.Minute, object{"expired": 1, "completed": 9}),
			heard(11 * time.Minute)}, "silent", "늦게 오고 있어요"},
		{"two turns are not many", false, []object{ended(time.Minute, object{"expired": 2}), heard(time.Minute)}, "", ""},
		{"long ago", false, []object{ended(11*time.Minute, most), heard(11 * time.Minute)}, "", ""},
		{"no text, and nobody missed one", false, []object{ended(time.Minute, object{"completed": 3}),
			heard(11 * time.Minute)}, "", ""},
	} {
		d.change(t, func() object { d.paused = row.paused; return object{} })
		for _, frame := range row.frames {
			d.send(frame)
		}
		tab.until(`[...document.querySelectorAll("#trouble [data-trouble]")].map((one) => one.dataset.trouble).join() === %q`,
			row.trouble)
		if row.trouble == "" {
			continue
		}
		tab.click("#trouble [data-trouble=" + row.trouble + "]")
		tab.asks("모두에게 안내를 올릴까요?")
		require.Contains(t, run[string](tab, `document.getElementById("act-text-ko").value`), row.texts, row.name)
		tab.click("#act-no")
		tab.until(`document.activeElement.dataset.trouble === %q`, row.trouble)
	}
}

func TestDialogOfAnAnnouncementKeepsNobodyOut(t *testing.T) {
	d, tab := actingDesk(t)
	d.change(t, func() object {
		d.paused, d.support = true, announcement(strings.Repeat("Codes are late. ", 18), time.Now().Add(time.Hour))
		return object{}
	})
	tab.hasText("announced", "Codes")
	for width, height := range map[int]int{1280: 720, 360: 740} {
		tab.size(width, height, width == 360)
		tab.keepsNobodyOut("an announcement at %d px", width)
		require.True(t, run[bool](tab, `document.documentElement.scrollWidth <= innerWidth`), width)
		tab.openVerb("announce")
		tab.keepsNobodyOut("its dialog at %d px", width)
		require.True(t, run[bool](tab, `document.getElementById("act").scrollWidth <= document.getElementById("act").clientWidth`))
		tab.click("#act-no")
		tab.answered()
	}
}
