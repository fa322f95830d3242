package templates_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/templates"
)

func deskView(lang string) templates.DeskView {
	return templates.DeskView{Lang: lang, AssetPrefix: static.Prefix(), Agent: "kim", MayAct: true}
}

// visitor is a reader without a sign-in.
func visitor(lang string) templates.DeskView {
	return templates.DeskView{Lang: lang, AssetPrefix: static.Prefix()}
}

// mirroredIDs are two sellers that look the same where an id has the direction of the page.
var mirroredIDs = [2]string{"12-אבג", "אבג-12"}

// quietPages returns support's pages that are not live, in every state, by name.
func quietPages(lang string) map[string]templ.Component {
	failed, oidc := signInView(lang), signInView(lang)
	failed.Name, failed.Error = "kim", "wrong_password"
	oidc.OIDC, oidc.Error = true, "not_admitted"
	away, nothing := storyView(lang), storyView(lang)
	away.Partial, away.Room, away.Events = true, "integration", away.Events[:3]
	nothing.Events = nil
	refused, none := historyView(lang), historyView(lang)
	refused.Error, refused.From, refused.Rows = "invalid_time", "yesterday", nil
	none.Rows, none.Next = nil, ""
	off, watching, quiet := deliveriesView(lang), deliveriesView(lang), deliveriesView(lang)
	off.Enabled, watching.MayAct, quiet.Rows = false, false, nil
	near := findView(lang)
	near.Near, near.Partial, near.Rooms, near.Found = true, true, nil, "s-2O0"
	mirrored := findView(lang)
	mirrored.Sellers = []templates.FoundSeller{{Seller: mirroredIDs[0]}, {Seller: mirroredIDs[1]}}
	return map[string]templ.Component{
		"find-mirrored": templates.FindPage(mirrored),
		"find":          templates.FindPage(findView(lang)), "find-near": templates.FindPage(near),
		"find-nothing": templates.FindPage(templates.FindView{DeskView: near.DeskView}),
		"sign-in":      templates.SignInPage(signInView(lang)), "sign-in-failed": templates.SignInPage(failed),
		"sign-in-oidc": templates.SignInPage(oidc),
		"bounce": templates.BouncePage(templates.BounceView{DeskView: visitor(lang),
			Next: "/support/integration"}),
		"story": templates.StoryPage(storyView(lang)), "story-away": templates.StoryPage(
			away), "story-empty": templates.StoryPage(nothing),
		"history": templates.HistoryPage(historyView(lang)), "history-refused": templates.HistoryPage(
			refused), "history-empty": templates.HistoryPage(none),
		"report": templates.ReportPage(reportView(lang)), "report-refused": templates.ReportPage(
			templates.ReportView{DeskView: deskView(lang), Room: "integration", Zone: "UTC", Most: 400,
				From: "2026-07-03", To: "2026-06-06", Error: "invalid_time"}),
		"audit":      templates.AuditPage(auditView(lang)),
		"deliveries": templates.DeliveriesPage(deliveriesView(lang)), "deliveries-off": templates.DeliveriesPage(
			off),
		"deliveries-watching": templates.DeliveriesPage(watching), "deliveries-empty": templates.DeliveriesPage(
			quiet),
		"sign-ins": templates.SignInsPage(signInsView(lang)),
		"docs":     templates.DocsPage(docsView(lang)),
		"guide":    templates.GuidePage(deskView(lang)),
	}
}

// reportView is a report of four weeks, with two days on which nothing happened.
func reportView(lang string) templates.ReportView {
	v := templates.ReportView{DeskView: deskView(lang), Room: "integration", Zone: "UTC", Most: 400,
		From: "2026-06-06", To: "2026-07-03", Export: "/api/support/integration/report?format=csv",
		Periods: []templates.ReportPeriod{{Days: 7, From: "2026-06-27"}, {Days: 28, From: "2026-06-06", Shown: true},
			{Days: 90, From: "2026-04-05"}}}
	for i := range 28 {
		day := templates.ReportDay{Day: time.Date(2026, 6, 6+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			ReportFigures: templates.ReportFigures{WaitP50: -1, WaitP95: -1, HoldP50: -1, CodeDelayP50: -1,
				CodeDelayP95: -1}}
		if i != 7 && i != 8 {
			n := 700 + i*7919%600
			day.Joined, day.Completed, day.Cancelled, day.Expired, day.Forced, day.Removed = n, n*7/10, n/10, n/8, 3, 2
			day.Dropped, day.Lost, day.Codes, day.Ambiguous, day.Rejected, day.Late = n/40, i%9/8*4, n*7/10, 4, 1, i%5
			day.WaitP50, day.WaitP95 = templates.Millis(n*90), templates.Millis(n*400)
			day.HoldP50, day.CodeDelayP50, day.CodeDelayP95 = 41_300, 3200, templates.Millis(n*20)
		}
		v.Days = append(v.Days, day)
		if i < 24 {
			v.Hours = append(v.Hours, templates.ReportHour{Hour: i, ReportFigures: day.ReportFigures})
		}
	}
	return v
}

func signInView(lang string) templates.SignInView {
	return templates.SignInView{DeskView: visitor(lang), Next: "/support/integration?x=1"}
}

func findView(lang string) templates.FindView {
	v := templates.FindView{DeskView: deskView(lang), More: true, Rooms: []templates.RoomName{
		{Room: "coupang:seoul", Name: "쿠팡 서울", Phone: "010-1234-5678", Marketplace: "쿠팡 윙"}, {Room: "s-line"}}}
	v.Found = "s-2"
	for i := range int64(4) {
		v.Sellers = append(v.Sellers, templates.FoundSeller{Seller: fmt.Sprint("s-2", i), Room: "integration",
			At: at(i)})
	}
	return v
}

func storyView(lang string) templates.StoryView {
	again := with(happened("joined", 400), func(e *templates.StoryEvent) {
		e.Ticket, e.Room = 12, "coupang:seoul"
	})
	moved := with(happened("moved", 430), func(e *templates.StoryEvent) {
		e.Ticket, e.Room, e.Position = 12, "coupang:seoul", 1
	})
	action := with(acted("move", "우리 쪽 문제로 차례를 놓침", 430), func(e *templates.StoryEvent) {
		e.Ticket, e.Room = 12, "coupang:seoul"
	})
	turn := with(granted(460, 580), func(e *templates.StoryEvent) {
		e.Ticket, e.Room, e.Fence = 12, "coupang:seoul", 81
	})
	asked := with(happened("asked", 470), func(e *templates.StoryEvent) {
		e.Ticket, e.Room, e.Fence = 12, "coupang:seoul", 81
	})
	end := with(over("expired", 580), func(e *templates.StoryEvent) {
		e.Ticket, e.Room, e.Fence = 12, "coupang:seoul", 81
	})
	late := with(messageEvent("message", "late", "", 612), func(e *templates.StoryEvent) {
		e.Ticket, e.Room, e.Fence = 12, "coupang:seoul", 81
	})
	return templates.StoryView{DeskView: deskView(lang), Seller: "s-1", Events: []templates.StoryEvent{
		happened("joined", 0), gone(117, 132), happened("back", 150), granted(200, 320), happened("asked", 205),
		messageEvent("message", "unmatched", "ambiguous", 240), about("incident", "carrier_clock", 241),
		acted("extend", "문자 지연", 250), with(granted(250, 380), func(e *templates.StoryEvent) {
			e.Kind = "extended"
		}),
		messageEvent("message", "matched", "", 260), over("completed", 260), about("told", "lock.ended", 262),
		again, action, moved, turn, asked, end, late,
	}}
}

func historyView(lang string) templates.HistoryView {
	return templates.HistoryView{
		DeskView: deskView(
			lang), Room: "integration", Seller: "s-1", From: "2026-07-03", Next: "cursor=abc&seller=s-1",
		RowLimit: 50_000,
		Export:   "/api/support/integration/history?format=csv&seller=s-1&from=2026-07-03",
		Rows: []history.Row{
			history.Place{Epoch: 1, Ticket: 3, Seller: "s-1", JoinedAt: history.Time(at(0)), EndedAt: history.Time(at(260)), Outcome: "completed"},
			history.Lease{Epoch: 1, Ticket: 3, Fence: 1783087460000123, Seller: "s-1", GrantedAt: history.Time(at(200)), EndedAt: history.Time(at(260)),
				Outcome: "completed"},
			history.Message{Epoch: 1, Ticket: 3, Fence: 1783087460000123, ReceivedAt: history.Time(at(255)),
				MessageID: "carrier-20260703-1", Result: "matched"},
			history.Message{Epoch: 1, ReceivedAt: history.Time(at(255)), MessageID: "carrier-20260703-2",
				Result: "unmatched", Reason: "ambiguous"},
			history.Action{Epoch: 1, Ticket: 4, At: history.Time(at(300)), Who: "kim", Name: "move",
				Reason: "우리 쪽 문제로 차례를 놓침"},
			history.Place{Epoch: 1, Ticket: 5, Seller: "판매자-가나다@shop.example", JoinedAt: history.Time(at(300))},
			history.Lease{Epoch: 1, Ticket: 4, Fence: 1783087560000456, Seller: "s-2", GrantedAt: history.Time(at(301)), EndedAt: history.Time(at(421)),
				Outcome: "expired"},
			history.Place{Epoch: 1, Ticket: 6, Seller: "s-3", JoinedAt: history.Time(at(35_900)), EndedAt: history.Time(at(36_100)), Outcome: "dropped"},
		},
	}
}

func auditView(lang string) templates.AuditView {
	v := templates.AuditView{DeskView: deskView(lang), Who: "kim", Action: "move", From: "2026-07-03",
		Next: "cursor=abc&who=kim",
		CSV:  "/api/support/audit?bom=1&format=csv&who=kim",
		JSON: "/api/support/audit?download=1&format=json&who=kim", RowLimit: 50_000}
	done := map[string]history.Action{"extend": {Seconds: 60}, "move": {From: 12, To: 1},
		"assign": {MessageID: "carrier-20260703-1"}}
	for n, action := range templates.DeskActions {
		row := history.Audited{}
		if n < 8 {
			row.Action, row.Room = done[action], "integration"
			row.Reason, row.Ticket, row.Fence = "판매자 전화 요청", history.Number(n+3), 1783087460000123
			row.Seller = "판매자-가나다@shop.example"
		}
		row.At, row.Who, row.Name = history.Time(at(int64(600-n*45))), "kim", action
		if action == "pause" || action == "resume" {
			row.Who, row.Ticket, row.Fence, row.Seller = "token:zendesk", 0, 0, ""
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func signInsView(lang string) templates.SignInsView {
	return templates.SignInsView{DeskView: deskView(lang), Ended: true, Gone: true, Error: "invalid_reason",
		Rows: []templates.SignInRow{{Key: "0a", Who: "kim", MayAct: true, Own: true, Since: at(0), Until: at(28_800)},
			{Key: "0b", Who: "lee@example.com", Since: at(60), Until: at(28_860)}}}
}

func deliveriesView(lang string) templates.DeliveriesView {
	return templates.DeliveriesView{DeskView: deskView(lang), Enabled: true, Pending: 1204, Dead: 2, Retried: 40,
		FailingSince: at(100), LastError: "503 Service Unavailable", Rows: []templates.Delivery{
			{ID: 42, Key: "integration/1783087460000123", Type: "lock.ended", At: at(0), GivenUp: at(86_400),
				LastError: `Post "https://portal.example/hooks/waitroom": dial tcp 10.0.0.7:443: connect: connection refused`},
			{ID: 41, Key: "integration/1783087460000123", Type: "lock.melted", At: at(-60), GivenUp: at(86_350),
				LastError: "503 Service Unavailable"},
		}}
}

func TestQuietPagesHaveNothingTheContentPolicyForbids(t *testing.T) {
	forbidden := regexp.MustCompile(
		`(?i)\sstyle=|\son[a-z]+=|<style|javascript:|(href|src|action|content)="[^"]*https?://`)
	for _, lang := range []string{"ko", "en"} {
		for name, page := range quietPages(lang) {
			html := render(t, page)
			require.NotRegexp(t, forbidden, html, name)
			require.Equal(t, 1, strings.Count(html, "<h1"), name)
			require.Equal(t, 1, strings.Count(html, `id="main"`), name)
			for _, tag := range regexp.MustCompile(`<script[^>]*>`).FindAllString(html, -1) {
				if !strings.Contains(tag, `type="application/json"`) {
					require.Contains(t, tag, `src="/static/`, name)
				}
			}
		}
	}
}

func TestEveryFileAQuietPageNamesIsServed(t *testing.T) {
	named := regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`)
	for name, page := range quietPages("ko") {
		found := named.FindAllStringSubmatch(render(t, page), -1)
		require.NotEmpty(t, found, name)
		for _, asset := range found {
			answer := httptest.NewRecorder()
			static.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, asset[1], nil))
			require.Equal(t, http.StatusOK, answer.Code, asset[1])
		}
	}
}

func TestTypedOrRecordedTextCannotBreakOutOfAQuietPage(t *testing.T) {
	hostile := `"></script><script>alert(1)</script><img src=x>`
	story := storyView("ko")
	story.Seller, story.Room = hostile, hostile
	for n := range story.Events {
		e := &story.Events[n]
		e.Room, e.Kind, e.Outcome, e.MessageID, e.Who, e.Action, e.Why = hostile, e.Kind+hostile, hostile, hostile,
			hostile, hostile, hostile
	}
	past := historyView("ko")
	past.Seller, past.From, past.To, past.Room, past.Next = hostile, hostile, hostile, hostile,
		hostile
	past.Rows = append(past.Rows, history.Lease{Seller: hostile, Outcome: history.Word(hostile)},
		history.Action{Who: hostile, Name: hostile, Reason: hostile})
	audit := auditView("ko")
	audit.Who, audit.Room, audit.Action, audit.From, audit.CSV = hostile, hostile, hostile, hostile, hostile
	audit.Rows[0] = history.Audited{Room: history.Word(hostile), Action: history.Action{Who: hostile, Name: hostile,
		Reason: hostile, Seller: history.Word(hostile), MessageID: hostile}}
	deliveries := deliveriesView("ko")
	deliveries.Rows[0].LastError, deliveries.Rows[0].Key, deliveries.Rows[0].Type, deliveries.Error = hostile,
		hostile, hostile, hostile
	signIn := signInView("ko")
	signIn.Name, signIn.Next, signIn.Error = hostile, hostile, hostile
	found := findView("ko")
	found.Found, found.Sellers[0], found.Rooms[0] = hostile,
		templates.FoundSeller{Seller: hostile, Room: hostile}, templates.RoomName{Room: hostile, Name: hostile,
			Phone: hostile, Marketplace: hostile}
	for name, page := range map[string]templ.Component{
		"find": templates.FindPage(found), "story": templates.StoryPage(story), "history": templates.HistoryPage(
			past), "audit": templates.AuditPage(audit),
		"deliveries": templates.DeliveriesPage(deliveries), "sign-in": templates.SignInPage(signIn),
		"bounce": templates.BouncePage(templates.BounceView{Next: hostile}),
		"sign-ins": templates.SignInsPage(templates.SignInsView{Error: hostile,
			Rows: []templates.SignInRow{{Key: hostile, Who: hostile}}}),
	} {
		html := render(t, page)
		require.NotContains(t, html, "<script>", name)
		require.NotContains(t, html, "<img", name)
	}
}

func TestSignInShowsTheErrorAndRevealsNoAccount(t *testing.T) {
	view := signInView("ko")
	page := render(t, templates.SignInPage(view))
	form := between(t, page, `<form id="sign-in"`, "</form>")
	require.Contains(t, form, `method="post" action="/support/sign-in"`)
	require.Contains(t, form, `name="next" value="/support/integration?x=1"`)
	require.Regexp(t, `<input id="username" name="username"[^>]* autocomplete="username"[^>]* autofocus`, form)
	require.Regexp(t, `<input id="password" name="password" type="password" autocomplete="current-password"`,
		form)
	require.NotContains(t, page, `role="alert"`)

	shown := map[string]bool{}
	for _, code := range []string{"wrong_password", "too_many_requests", "not_admitted", "too_many_groups",
		"sign_in_denied", "sign_in_expired", "store_unavailable", "provider_unavailable", "else"} {
		view.Error, view.Minutes, view.Name = code, 5, "kim"
		page = render(t, templates.SignInPage(view))
		require.Regexp(t, `<div class="banner bad" role="alert" id="error" tabindex="-1" autofocus>`, page)
		require.Contains(t, page, `<title translate="no">로그인하지 못했어요`, code)
		text := between(t, page, `id="error-text"`, "</p>")
		require.False(t, shown[text], code)
		shown[text] = true
		require.Equal(t, code == "wrong_password",
			strings.Contains(page, `aria-describedby="error-text" aria-invalid="true"`), code)
		require.NotContains(t, between(t, page, `<input id="password"`, ">"), "value",
			"a password is never sent back")
	}
	view.Error = "too_many_requests"
	require.Contains(t, render(t, templates.SignInPage(view)), "5분 뒤에")
	view.Lang, view.Minutes = "en", 1
	require.Contains(t, render(t, templates.SignInPage(view)), "in 1 minute.")
}

func TestSignInByAProviderIsALinkThatKeepsWhereToGo(t *testing.T) {
	view := signInView("en")
	view.OIDC = true
	page := render(t, templates.SignInPage(view))
	require.Contains(t, page, `href="/support/oidc/start?next=%2Fsupport%2Fintegration%3Fx%3D1"`,
		"a form may not be sent on to another site")
	require.NotContains(t, page, "<form")
}

func TestBounceLeadsToThisSiteOnly(t *testing.T) {
	for next, want := range map[string]string{
		"/support/integration?a=1&b=2": "/support/integration?a=1&amp;b=2",
		"//evil.example":               "/support",
		`/\evil.example`:               "/support",
		"https://evil.example":         "/support",
		"javascript:alert(1)":          "/support",
		"":                             "/support",
	} {
		page := render(t, templates.BouncePage(templates.BounceView{Next: next}))
		require.Contains(t, page, `<meta http-equiv="refresh" content="0;url=`+want+`">`, next)
		require.Contains(t, page, `href="`+want+`"`, next)
	}
}

func TestStoryPageShowsTheLatestVisitFirst(t *testing.T) {
	page := render(t, templates.StoryPage(storyView("ko")))
	require.Contains(t, flat(between(t, page, `id="answer"`, "</p>")), "마지막 차례: 2분 안에 인증하지 않아 다음 분께 넘어갔어요 · "+
		"문자는 차례가 끝난 뒤에 도착했어요")
	require.Less(t, strings.Index(page, "대기 번호 12번"), strings.Index(page, "대기 번호 3번"))
	require.Contains(t, page, `href="/support/-/sellers/s-1?room=coupang%3Aseoul"`)
	require.Contains(t, page, `href="/support/coupang:seoul/history?seller=s-1"`)
	require.Contains(t, flat(page), "14:03:12 자리를 비워 순서를 넘겼어요 · 다음 차례는 유지돼요", "as an agent reads it out")
	require.Contains(t, page,
		`<time datetime="2026-07-03T14:03:12.000Z" data-at="1783087392000" data-format="second" data-after="1783087260000">14:03:12</time>`)
	require.Contains(t, page, "시각은 UTC예요")
	require.Contains(t, flat(page), "대기 번호 3번 · integration · 2026-07-03 14:01 – 14:05 UTC · 인증을 마쳤어요")
	require.NotContains(t, page, `id="partial"`)

	away := storyView("en")
	away.Partial, away.Room, away.Events = true, "integration", away.Events[:3]
	page = render(t, templates.StoryPage(away))
	require.Contains(t, page, "This is not everything")
	require.Contains(t, flat(page), "Ticket 3 · integration · since 2026-07-03 14:01 UTC · waiting")
	require.Contains(t, flat(page), "Showing integration only")
	require.Contains(t, page, `href="/support/-/sellers/s-1"`)
}

func TestSellersAreAddressedWhateverTheirCharacters(t *testing.T) {
	v := storyView("ko")
	v.Seller = "가/나?x=1#y"
	require.Contains(t, render(t, templates.StoryPage(v)),
		`href="/support/-/sellers/%EA%B0%80%2F%EB%82%98%3Fx=1%23y`)
}

func TestHistoryPageShowsEveryKindAndWhatItIsNarrowedTo(t *testing.T) {
	page := render(t, templates.HistoryPage(historyView("ko")))
	text := flat(page)
	for _, shown := range []string{
		"이 페이지 8건", "제때 도착 · 문자 carrier-20260703-1", "주인 없음 · 누구 것인지 알 수 없음 · 문자 carrier-20260703-2",
		"kim · 순서 옮기기 · 우리 쪽 문제로 차례를 놓침", "2026-07-03 23:59:20 2026-07-04 00:02:40 줄 s-3", "진행 중", "시간 초과",
		"한 번에 50,000건까지",
	} {
		require.Contains(t, text, shown)
	}
	require.Contains(t, page, `href="/support/-/sellers/s-2?room=integration"`)
	require.Contains(t, page, `rel="next" href="?cursor=abc&amp;seller=s-1"`)
	require.Contains(t, page,
		`id="export-bom" href="/api/support/integration/history?format=csv&amp;seller=s-1&amp;from=2026-07-03&amp;bom=1&amp;lang=ko"`)
	require.Contains(t, between(t, page, `id="filter"`, "</form>"), `name="from" type="text" value="2026-07-03"`)

	refused := historyView("en")
	refused.Error = "invalid_time"
	page = render(t, templates.HistoryPage(refused))
	require.Contains(t, page, "That date or time could not be read")
	require.Equal(t, 1, strings.Count(page, `aria-invalid="true"`), "an empty field is not wrong")
	require.NotContains(t, page, `id="export"`)
}

func TestAuditNamesEveryActionInBothLanguages(t *testing.T) {
	for _, lang := range []string{"ko", "en"} {
		actions, shown := templates.TextIn(lang).Desk.Actions, map[string]bool{}
		page := render(t, templates.AuditPage(auditView(lang)))
		for _, action := range templates.DeskActions {
			require.NotEmpty(t, actions[action], action)
			require.False(t, shown[actions[action]], action)
			shown[actions[action]] = true
			require.Regexp(t, `<option value="`+action+`"( selected)?>`+actions[action]+"</option>", page)
			row := between(t, page, `data-action="`+action+`"`, "</tr>")
			require.Contains(t, row, actions[action])
		}
		require.Len(t, actions, len(templates.DeskActions), "what has words may be looked for")
	}
}

func TestAuditShowsEachActionAndItsSubject(t *testing.T) {
	page := render(t, templates.AuditPage(auditView("ko")))
	for _, shown := range []string{"60초 더", "12번째 → 1번째", "문자 carrier-20260703-1", "token:zendesk"} {
		require.Contains(t, flat(page), shown)
	}
	require.Contains(t, page,
		`href="/support/-/sellers/%ED%8C%90%EB%A7%A4%EC%9E%90-%EA%B0%80%EB%82%98%EB%8B%A4@shop.example?room=integration"`)
	require.Contains(t, page, `<option value="move" selected>`)
	require.Contains(t, page, `id="export" href="/api/support/audit?bom=1&amp;format=csv&amp;who=kim" download`)
	require.Contains(t, page,
		`id="export-json" href="/api/support/audit?download=1&amp;format=json&amp;who=kim" download`)
	other := auditView("en")
	other.Action, other.Error, other.From = "danced", "invalid_time", "yesterday"
	page = render(t, templates.AuditPage(other))
	require.Contains(t, page, `<option value="danced" selected>danced</option>`,
		"what is looked for stays, whatever it is")
	require.Equal(t, 1, strings.Count(page, `aria-invalid="true"`), "an empty field is not wrong")
	require.NotContains(t, page, `id="export"`)
	past := templates.HistoryView{DeskView: deskView("en"), Room: "integration", Rows: []history.Row{
		history.Action{Who: "kim", Name: "move", Reason: "r", Seller: "s-1",
			From: 3, To: 1}}}
	page = render(t, templates.HistoryPage(past))
	require.Contains(t, flat(page), "kim · Moved in the line · from 3 to 1 · r")
	require.Contains(t, page, `href="/support/-/sellers/s-1?room=integration"`)
}

func TestEveryPageOfTheDeskLeadsToTheGuide(t *testing.T) {
	const link = `<a href="/support/-/guide"`
	for name, page := range quietPages("ko") {
		if html := render(t, page); strings.Contains(html, `action="/support/sign-out"`) {
			require.Contains(t, html, link, name)
		} else {
			require.NotContains(t, html, link, "%s: who is not signed in cannot open it", name)
		}
	}
	for _, page := range []templ.Component{templates.RoomsPage(templates.RoomsView{DeskView: deskView("ko")}),
		templates.DeskRoomPage(templates.DeskRoomView{DeskView: deskView("ko"), Room: "integration"})} {
		require.Equal(t, 2, strings.Count(render(t, page), link), "at the top, and beside the keys")
	}
	for lang, says := range map[string]string{"ko": `<h2 id="인증번호가-안-와요">`, "en": `<h2 id="stepping-in">`} {
		require.Contains(t, render(t, templates.GuidePage(deskView(lang))), says)
	}
}

// latin matches a word of Latin letters; ofProgram matches what is no text: ids, and names of formats.
var (
	latin     = regexp.MustCompile(`[A-Za-z]{2,}`)
	ofProgram = regexp.MustCompile(`00u1|kim|s-1|integration|carrier-20260703-1|token:zendesk|\S+@\S+|` +
		`\b(?:CSV|JSON|ID|IP|UTC|Excel|OpenID Connect|English)\b`)
)

// The rows have each action with each reason that the program records for it.
func TestNoWordOfTheKoreanAuditIsEnglish(t *testing.T) {
	search := "seller=s-1&who=kim&action=move&room=integration&from=2026-07-03&to=2026-07-04&limit=1&cursor=x"
	v := auditView("ko")
	for _, action := range templates.DeskActions {
		require.Contains(t, templates.TextIn("ko").Desk.Actions, action)
		for _, note := range templates.TextIn("en").Desk.Audit.Notes {
			reason := regexp.MustCompile(`{\w+}`).ReplaceAllString(note, "00u1")
			switch action {
			case "exported", "exported_report", "exported_audit", "looked":
				reason = search
			case "release", "extend", "move", "remove", "restore", "pause", "resume", "announce", "withdrew", "open",
				"close", "assign", "erased":
				reason = "상담원이 쓴 말"
			}
			v.Rows = append(v.Rows, history.Audited{Action: history.Action{Name: action, Who: "kim", Reason: reason}})
		}
	}
	var english []string
	for _, found := range regexp.MustCompile(`>([^<]+)<`).FindAllStringSubmatch(render(t, templates.AuditPage(v)), -1) {
		if text := html.UnescapeString(found[1]); latin.MatchString(ofProgram.ReplaceAllString(text, "")) {
			english = append(english, text)
		}
	}
	require.Empty(t, english)
}

func TestAuditIsInTheReadersLanguageToTheLastWord(t *testing.T) {
	for _, c := range []struct{ action, reason, ko, en string }{
		{"signed_in", "by OpenID Connect as subject 00u1", "회사 계정으로 로그인 (계정 ID 00u1)", "by OpenID Connect as subject 00u1"},
		{"sign_in_failed", "wrong name or password", "사용자 이름이나 비밀번호가 틀림", "wrong name or password"},
		{"sign_in_limited", "too many wrong tries under this name from this address",
			"이 주소에서 이 이름으로 틀린 시도가 너무 많음", "too many wrong tries under this name from this address"},
		{"delivery_retried", "all deliveries: 12", "모든 알림 12건", "all deliveries: 12"},
		{"looked", "room=integration&seller=s-1", "대기실 integration · 판매자 s-1", "Room integration · Seller s-1"},
		{"exported", "cursor=x&from=2026-07-03&limit=1&to=2026-07-04",
			"앞 파일에 이어서 · 시작 2026-07-03 · 최대 1건 · 끝 2026-07-04",
			"continues an earlier file · from 2026-07-03 · at most 1 row · until 2026-07-04"},
		{"exported_audit", "action=move&who=kim", "순서 옮기기 · 누가 kim", "Moved in the line · Who kim"},
		{"exported", "", "", ""},
		{"exported", "later=1", "later=1", "later=1"},
		{"sign_in_failed", "for a reason of a later version", "for a reason of a later version",
			"for a reason of a later version"},
		{"release", "unknown token", "unknown token", "unknown token"}, // a person's own words
	} {
		require.Equal(t, c.ko, templates.TextIn("ko").DeskReason(c.action, c.reason))
		require.Equal(t, c.en, templates.TextIn("en").DeskReason(c.action, c.reason))
	}
	v := auditView("ko")
	v.Rows = []history.Audited{{Action: history.Action{Name: "sign_in_failed", Who: "?", Reason: "unknown token"}}}
	require.Contains(t, render(t, templates.AuditPage(v)), "알 수 없는 토큰")
	past := templates.HistoryView{DeskView: deskView("ko"), Rows: []history.Row{
		history.Action{Who: "kim", Name: "exported", Reason: "seller=s-1"}}}
	require.Contains(t, flat(render(t, templates.HistoryPage(past))), "kim · 이력 내려받기 · 판매자 s-1")
}

func TestOnlyAnAgentThatMayActIsOfferedToSendAgain(t *testing.T) {
	v := deliveriesView("ko")
	page := render(t, templates.DeliveriesPage(v))
	require.Contains(t, page, `<form method="post" action="/support/-/deliveries/42/retry">`)
	require.Contains(t, page, "알림 40: 다시 보내고 있어요.")
	require.Contains(t, page, "1,204건")
	require.Contains(t, flat(page), "차례가 끝남 lock.ended")
	v.MayAct = false
	page = render(t, templates.DeliveriesPage(v))
	require.NotContains(t, page, "/retry")
	require.Contains(t, page, "보기 전용 계정이라")
	v.Enabled = false
	page = render(t, templates.DeliveriesPage(v))
	require.Contains(t, page, "WAITROOM_WEBHOOK_URL")
	require.NotContains(t, page, `id="dead"`)
}

func TestDeskHasWordsForEveryOutcome(t *testing.T) {
	desk := templates.TextIn("ko").Desk
	for _, outcome := range outcomes {
		require.NotEmpty(t, desk.States[outcome], outcome)
		require.NotEmpty(t, desk.Tags[outcome], outcome)
		require.NotEmpty(t, desk.Story.Answers[outcome], outcome)
	}
}

var tags, spaces = regexp.MustCompile(`<[^>]*>`), regexp.MustCompile(`\s+`)

// flat returns the visible text of a page.
func flat(html string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(tags.ReplaceAllString(html, " "), " "))
}

func TestBounceDoesNotRevealASignIn(t *testing.T) {
	for lang, wrong := range map[string]string{"ko": "로그인", "en": "igned in"} {
		page := render(t, templates.BouncePage(templates.BounceView{DeskView: visitor(lang), Next: "/support"}))
		require.NotContains(t, page, wrong, "it may be a stranger who followed a link")
	}
}
