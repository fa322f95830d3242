package templates_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
)

// started is 2026-07-03 14:01:00 UTC in unix ms.
const started = 1_783_087_260_000

// at returns the time so many seconds after started.
func at(seconds int64) int64 { return started + seconds*1000 }

// happened returns an event of ticket 3 so many seconds after started.
func happened(kind string, seconds int64) templates.StoryEvent {
	return templates.StoryEvent{At: at(seconds), Room: "integration", Epoch: 1, Ticket: 3, Kind: kind}
}

func with(e templates.StoryEvent, change func(*templates.StoryEvent)) templates.StoryEvent {
	change(&e)
	return e
}

func granted(seconds, until int64) templates.StoryEvent {
	return with(happened("granted", seconds), func(e *templates.StoryEvent) {
		e.Fence, e.ExpiresAt = 77, at(until)
	})
}

// over returns the event of a turn's end, left that of a wait's end.
func over(outcome string, seconds int64) templates.StoryEvent {
	return with(left(outcome, seconds), func(e *templates.StoryEvent) { e.Fence = 77 })
}

func left(outcome string, seconds int64) templates.StoryEvent {
	return with(happened("ended", seconds), func(e *templates.StoryEvent) { e.Outcome = outcome })
}

func messageEvent(kind, result, reason string, seconds int64) templates.StoryEvent {
	return with(happened(kind, seconds), func(e *templates.StoryEvent) {
		e.Result, e.Reason, e.MessageID = result, reason, "m-1"
	})
}

func acted(action, why string, seconds int64) templates.StoryEvent {
	return with(happened("action", seconds), func(e *templates.StoryEvent) {
		e.Who, e.Action, e.Why = "kim", action, why
	})
}

func gone(since, seconds int64) templates.StoryEvent {
	return with(happened("away", seconds), func(e *templates.StoryEvent) { e.Since = at(since) })
}

func about(kind, action string, seconds int64) templates.StoryEvent {
	return with(happened(kind, seconds), func(e *templates.StoryEvent) { e.Action = action })
}

// lastLine returns the last line of a timeline.
func lastLine(lang string, events ...templates.StoryEvent) string {
	lines := templates.Story(events, lang).Visits[0].Lines
	return lines[len(lines)-1].Text.String()
}

func TestEveryEventIsWrittenInBothLanguages(t *testing.T) {
	join, turn := happened("joined", 0), granted(200, 320)
	type events = []templates.StoryEvent
	for name, c := range map[string]struct {
		events events
		ko, en string
	}{
		"joined": {events{join}, "대기 번호 3번을 받고 줄을 섰어요", "Joined the line with ticket 3"},
		"refused": {events{join, with(happened("refused", 9), func(e *templates.StoryEvent) { e.Times = 4 })},
			"다른 브라우저나 기기에서 같은 판매자 ID로 줄을 서려다 4번 거절됐어요 · 한 판매자는 한 자리예요", "Another browser or device " +
				"tried to join with this seller ID and was refused · 4 times within the hour"},
		"granted": {events{join, turn}, "차례가 왔어요 · 14:06:20까지 인증할 수 있어요 · 3분 20초 기다렸어요",
			"Got the turn · had until 14:06:20 to verify · after waiting 3 minutes 20 seconds"},
		"at once": {events{join, granted(0, 120)}, "차례가 왔어요 · 14:03:00까지 인증할 수 있어요",
			"Got the turn · had until 14:03:00 to verify"},
		"asked": {events{turn, happened("asked", 210)}, "인증번호를 요청한다고 눌렀어요",
			"Said that a code was being requested"},
		"asked again": {events{turn, with(happened("asked", 230), func(e *templates.StoryEvent) { e.Asks = 2 })},
			"인증번호를 다시 요청한다고 눌렀어요 · 2번째", "Said that another code was being requested · number 2"},
		"busy": {events{turn, with(granted(210, 340), func(e *templates.StoryEvent) {
			e.Kind = "extended"
		})}, "앞사람의 문자를 기다린 만큼 시간을 더 드렸어요 · 14:06:40까지 인증할 수 있어요", "Got more time, for having to wait for an " +
			"earlier seller’s text · until 14:06:40"},
		"away": {events{join, gone(117, 132)}, "자리를 비워 순서를 넘겼어요 · 다음 차례는 유지돼요 · 14:02:57에 연결이 끊겼어요",
			"Was away, so the turn passed to others · the place in line is kept · disconnected at 14:02:57"},
		"back": {events{join, gone(117, 132), happened("back", 150)}, "33초 만에 돌아왔어요 · 순서는 그대로예요",
			"Came back after 33 seconds · to the same place in line"},
		"back alone": {events{happened("back", 150)}, "돌아왔어요 · 순서는 그대로예요", "Came back · to the same place in " +
			"line"},
		"moved": {events{join, with(happened("moved", 9), func(e *templates.StoryEvent) {
			e.Position = 1
		})}, "상담원이 줄의 1번째로 옮겼어요", "Support moved them to number 1 in line"},
		"completed": {events{turn, over("completed", 245)}, "인증을 마쳤어요 · 차례가 온 지 45초 만이에요",
			"Verified · 45 seconds into the turn"},
		"cancelled": {events{turn, over("cancelled", 245)}, "차례를 취소해 다음 분께 넘어갔어요 · 차례가 온 지 45초 만이에요",
			"Cancelled the turn · it went to the next seller · 45 seconds into the turn"},
		"expired": {events{turn, over("expired", 320)}, "시간 초과로 다음 분께 넘어갔어요 · 주어진 시간 2분",
			"Time ran out · the turn went to the next seller · the turn was 2 minutes long"},
		"lost": {events{turn, over("lost", 200)}, "데이터 유실로 차례가 사라졌어요", "The turn was lost because of a " +
			"problem with our data store"},
		"unclaimed": {events{turn, over("unclaimed", 220)}, "차례가 온 것을 확인하지 않아 다음 분께 넘어갔어요 · 대기 번호와 순서는 그대로예요 " +
			"· 차례가 온 지 20초 만이에요", "Did not confirm being there, so the turn went to the next seller · ticket and " +
			"place are kept · 20 seconds into the turn"},
		"by hand": {events{turn, over("forced", 200)}, "차례가 강제로 종료돼 다음 분께 넘어갔어요 · 상담원이 한 기록은 없어요",
			"The turn was ended by force and went to the next seller · no record of support doing it"},
		"a new outcome": {events{turn, over("melted", 200)}, "차례가 끝났어요 (melted)", "The turn ended (melted)"},
		"left":          {events{join, left("cancelled", 9)}, "줄에서 나갔어요", "Left the line"},
		"removed":       {events{join, left("removed", 9)}, "상담원이 줄에서 제외했어요", "Support took them out of the line"},
		"dropped": {events{join, gone(10, 25), left("dropped", 310)}, "오래 돌아오지 않아 줄에서 빠졌어요 · 5분 동안 자리를 비웠어요",
			"Did not come back for long, so the place was given up · away for 5 minutes"},
		"lost waiting": {events{join, left("lost", 9)}, "데이터 유실로 순서가 사라졌어요", "The place was lost because of a " +
			"problem with our data store"},
		"no fence": {events{left("expired", 9)}, "시간 초과로 다음 분께 넘어갔어요", "Time ran out · the turn went to the " +
			"next seller"},
		"matched": {events{turn, messageEvent("message", "matched", "", 240)}, "이번 차례의 문자가 도착했어요",
			"The text for this turn arrived"},
		"resent": {events{turn, with(messageEvent("message", "matched", "", 240),
			func(e *templates.StoryEvent) { e.Duplicate = true })}, "이번 차례의 문자가 도착했어요 · 같은 문자가 다시 왔어요",
			"The text for this turn arrived · the same text came again"},
		"late": {events{turn, messageEvent("message", "late", "", 400)},
			"이 차례의 문자가 차례가 끝난 뒤에 도착했어요 · 요청한 분께만 보여드려요", "The text for this turn arrived after it had ended · only " +
				"this seller is shown it"},
		"no lease": {events{join, messageEvent("message", "unmatched", "no_lease", 9)},
			"차례인 분이 없을 때 문자가 왔어요 · 아무에게도 보여드리지 않아요", "A text came while nobody had the turn · nobody is shown it"},
		"ambiguous": {events{join, messageEvent("message", "unmatched", "ambiguous", 9)},
			"누구의 것인지 알 수 없는 문자가 왔어요 · 아무에게도 보여드리지 않아요", "A text came that could be more than one seller’s · nobody " +
				"is shown it"},
		"not expected": {events{join, messageEvent("message", "unmatched", "not_expected", 9)},
			"요청한 분이 없는 문자가 왔어요 · 아무에게도 보여드리지 않아요", "A text came that nobody had asked for · nobody is shown it"},
		"a new reason": {events{join, messageEvent("message", "unmatched", "strange", 9)},
			"주인을 찾지 못한 문자가 왔어요 · 아무에게도 보여드리지 않아요", "A text came that belongs to nobody · nobody is shown it"},
		"claimed": {events{turn, messageEvent("claimed", "matched", "", 240)}, "도착한 문자를 본인 것이라고 했어요",
			"Said that a text which had come is theirs"},
		"rejected": {events{turn, messageEvent("rejected", "", "", 240)}, "받은 문자가 본인 것이 아니라고 했어요 · 화면에서 지우고 " +
			"상담원에게 알렸어요", "Said that the text is not theirs · it was taken off their page and support was told"},
		"assigned": {events{turn, messageEvent("assigned", "matched", "", 240)}, "상담원이 문자를 이 차례에 배정했어요",
			"Support assigned a text to this turn"},
		"incident": {events{turn, about("incident", "match_refused", 240)}, "확인이 필요해요 · 끝난 차례의 문자라서 받아들이지 않았어요",
			"Needs a look · a text for a turn that was over was not accepted"},
		"new incident": {events{turn, about("incident", "flood", 240)}, "확인이 필요해요 · flood", "Needs a look · flood"},
		"told": {events{turn, about("told", "lock.ended", 240)}, "연동 서비스에 알렸어요 · 차례가 끝남",
			"The integration was told · a turn ended"},
		"told of more": {events{turn, about("told", "lock.melted", 240)}, "연동 서비스에 알렸어요 · lock.melted",
			"The integration was told · lock.melted"},
		"released": {events{turn, acted("release", "고객 요청", 240)}, "kim님이 차례를 종료했어요 · 사유: 고객 요청",
			"kim ended the turn · reason: 고객 요청"},
		"no reason": {events{join, acted("pause", "", 9)}, "kim님이 줄을 멈췄어요", "kim paused the line"},
		"braces": {events{join, acted("move", "{who} {n}", 9)}, "kim님이 순서를 옮겼어요 · 사유: {who} {n}",
			"kim moved them in the line · reason: {who} {n}"},
		"a new action": {events{join, acted("bless", "", 9)}, "kim님이 처리했어요 (bless)", "kim did something (bless)"},
		"a new kind": {events{join, happened("blessed", 9)}, "다른 기록이 있어요 (blessed)",
			"Something else is recorded (blessed)"},
	} {
		require.Equal(t, c.ko, lastLine("ko", c.events...), name)
		require.Equal(t, c.en, lastLine("en", c.events...), name)
	}
}

func TestSupportsActionsAreAttributedToSupport(t *testing.T) {
	more := with(granted(240, 380), func(e *templates.StoryEvent) { e.Kind = "extended" })
	events := []templates.StoryEvent{granted(200, 320), more, acted("extend", "느린 통신사", 240),
		over("forced", 250), acted("release", "고객 요청", 250)}
	var lines []string
	for _, line := range templates.Story(events, "ko").Visits[0].Lines {
		lines = append(lines, line.Text.String())
	}
	require.Equal(t, []string{
		"차례가 왔어요 · 14:06:20까지 인증할 수 있어요",
		"kim님이 시간을 더 줬어요 · 14:07:20까지 인증할 수 있어요 · 사유: 느린 통신사",
		"kim님이 차례를 종료해 다음 분께 넘어갔어요 · 사유: 고객 요청 · 차례가 온 지 50초 만이에요",
	}, lines, "one line says what was done and what came of it, in whatever order they are given")
}

func TestTheLatestVisitIsAnsweredInOneLine(t *testing.T) {
	join, turn := happened("joined", 0), granted(200, 320)
	type events = []templates.StoryEvent
	for name, c := range map[string]struct {
		events events
		ko, en string
	}{
		"never asked": {events{join, turn, over("expired", 320)}, "2분 안에 인증하지 않아 다음 분께 넘어갔어요 · 인증번호를 요청한다고 " +
			"누르지 않았어요", "they did not verify within 2 minutes, so it went to the next seller · they never said " +
			"that they were requesting a code"},
		"no message": {events{turn, happened("asked", 210), over("expired", 320)},
			"2분 안에 인증하지 않아 다음 분께 넘어갔어요 · 요청한 문자가 차례 안에 오지 않았어요", "they did not verify within 2 minutes, so it went " +
				"to the next seller · no text came during the turn"},
		"late": {events{turn, happened("asked", 210), over("expired", 320),
			messageEvent("message", "late", "", 330)}, "2분 안에 인증하지 않아 다음 분께 넘어갔어요 · 문자는 차례가 끝난 뒤에 도착했어요",
			"they did not verify within 2 minutes, so it went to the next seller · the text came after the turn had " +
				"ended"},
		"in time": {events{turn, messageEvent("message", "matched", "", 230), over("expired", 320)},
			"2분 안에 인증하지 않아 다음 분께 넘어갔어요 · 문자는 차례 안에 도착했어요", "they did not verify within 2 minutes, so it went to the " +
				"next seller · the text did come during the turn"},
		"completed": {events{turn, over("completed", 245)}, "인증을 마쳤어요", "they verified"},
		"completed by another's message": {events{turn, messageEvent("message", "matched", "", 245),
			over("completed", 245), happened("rejected", 260)},
			"받은 문자가 본인 것이 아니라고 했어요. 인증을 마치지 못했을 수 있어요",
			"they said that the text was not theirs, so they may not be verified"},
		"another's message, then a late one": {events{turn, messageEvent("message", "matched", "", 245),
			over("completed", 245), happened("rejected", 260), messageEvent("message", "late", "", 280)},
			"받은 문자가 본인 것이 아니라고 했어요. 인증을 마치지 못했을 수 있어요 · 문자는 차례가 끝난 뒤에 도착했어요",
			"they said that the text was not theirs, so they may not be verified · the text came after the turn had ended"},
		"another's message in the turn, then their own": {events{turn, messageEvent("message", "matched", "", 230),
			happened("rejected", 235), messageEvent("message", "matched", "", 245), over("completed", 245)},
			"인증을 마쳤어요", "they verified"},
		"another's message, and no other in the turn": {events{turn, messageEvent("message", "matched", "", 230),
			happened("rejected", 235), over("expired", 320)},
			"2분 안에 인증하지 않아 다음 분께 넘어갔어요 · 받은 문자가 본인 것이 아니라고 했어요",
			"they did not verify within 2 minutes, so it went to the next seller · they said that the text was not theirs"},
		"another's message, late": {events{turn, over("expired", 320), messageEvent("message", "late", "", 330),
			happened("rejected", 340)},
			"2분 안에 인증하지 않아 다음 분께 넘어갔어요 · 받은 문자가 본인 것이 아니라고 했어요",
			"they did not verify within 2 minutes, so it went to the next seller · they said that the text was not theirs"},
		"cancelled turn": {events{turn, over("cancelled", 245)}, "판매자가 차례를 취소해 다음 분께 넘어갔어요",
			"they cancelled it, and it went to the next seller"},
		"cancelled wait": {events{join, left("cancelled", 9)}, "판매자가 줄에서 나갔어요", "they left the line themselves"},
		"released": {events{turn, acted("release", "고객 요청", 250), over("forced", 250)},
			"kim님이 차례를 종료해 다음 분께 넘어갔어요 · 사유: 고객 요청", "kim ended it, and it went to the next seller · reason: 고객 요청"},
		"by hand": {events{turn, over("forced", 250)}, "차례가 강제로 종료돼 다음 분께 넘어갔어요 · 상담원이 한 기록은 없어요",
			"it was ended by force and went to the next seller · no record of support doing it"},
		"removed": {events{join, acted("remove", "중복", 9), left("removed", 9)}, "kim님이 줄에서 제외했어요 · 사유: 중복",
			"kim took them out of the line · reason: 중복"},
		"removed, by whom": {events{join, left("removed", 9)}, "상담원이 줄에서 제외했어요",
			"Support took them out of the line"},
		"dropped": {events{join, gone(10, 25), left("dropped", 310)}, "자리를 비운 채 오래 돌아오지 않아 줄에서 빠졌어요",
			"they were away and did not come back for long, so the place was given up"},
		"lost": {events{join, left("lost", 9)}, "저희 쪽 데이터 유실로 순서가 사라졌어요. 판매자의 잘못이 아니에요",
			"it was lost because of a problem with our data store. It is not the seller’s fault"},
		"waiting": {events{join}, "줄에서 기다리고 있어요", "they are waiting in line"},
		"away": {events{join, gone(10, 25)}, "자리를 비워 순서를 넘기고 있어요. 돌아오면 순서는 그대로예요",
			"they are away, so others go first. They keep their place in line"},
		"holding": {events{join, turn}, "차례를 쓰고 있어요. 14:06:20까지 인증할 수 있어요",
			"it is their turn. They have until 14:06:20 to verify"},
		"unclaimed": {events{join, turn, over("unclaimed", 220)}, "자리를 비워 순서를 넘기고 있어요. 돌아오면 순서는 그대로예요",
			"they are away, so others go first. They keep their place in line"},
		"nothing": {events{}, "", ""},
		"no ticket alone": {events{with(acted("pause", "", 9), func(e *templates.StoryEvent) { e.Ticket = 0 })}, "",
			""},
	} {
		require.Equal(t, c.ko, templates.Story(c.events, "ko").Answer.String(), name)
		require.Equal(t, c.en, templates.Story(c.events, "en").Answer.String(), name)
	}
}

func TestVisitsAreOfOnePlaceAndTheLatestIsFirst(t *testing.T) {
	again := with(happened("joined", 600), func(e *templates.StoryEvent) { e.Ticket = 9 })
	elsewhere := with(happened("joined", 30), func(e *templates.StoryEvent) { e.Room = "other" })
	anew := with(happened("joined", 900), func(e *templates.StoryEvent) { e.Epoch = 2 })
	byLease := with(acted("release", "", 250), func(e *templates.StoryEvent) { e.Ticket, e.Fence = 0, 77 })
	late := with(about("told", "lock.ended", 9000), func(e *templates.StoryEvent) { e.Epoch, e.Fence = 0, 77 })
	nowhere := with(acted("pause", "", 9500), func(e *templates.StoryEvent) { e.Ticket, e.Epoch = 0, 0 })
	events := []templates.StoryEvent{happened("joined", 0), elsewhere, granted(200, 320), byLease,
		over("forced", 250), again, anew, late, nowhere}

	tale := templates.Story(events, "ko")
	type heading struct {
		Room     string
		Ticket   int64
		From, To int64
		State    string
		Lines    int
	}
	var got []heading
	for _, v := range tale.Visits {
		got = append(got, heading{v.Room, v.Ticket, v.From, v.To, v.State, len(v.Lines)})
	}
	require.Equal(t, []heading{
		{"integration", 3, at(900), 0, "waiting", 1},
		{"integration", 9, at(600), 0, "waiting", 1},
		{"other", 3, at(30), 0, "waiting", 1},
		{"integration", 3, at(0), at(250), "forced", 4},
		{"integration", 0, at(9500), at(9500), "", 1},
	}, got, "what belongs to no place comes last, and nothing after the end makes a visit longer")
	require.Equal(t, "joined", events[0].Kind, "the events are not changed")
	require.True(t, tale.Open)
}
