package templates_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/templates"
)

var outcomes = []string{"completed", "cancelled", "expired", "forced", "removed", "dropped", "lost"}

func TestPageHasNothingTheContentPolicyForbids(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)\sstyle=|\son[a-z]+=|<style|javascript:|https?://`)
	script := regexp.MustCompile(`<script[^>]*>`)
	for state, view := range everyState() {
		page := render(t, templates.RoomPage(view))
		require.NotRegexp(t, forbidden, page, state)
		tags := script.FindAllString(page, -1)
		require.NotEmpty(t, tags, state)
		for _, tag := range tags {
			require.Regexp(t, `src="/static/|type="application/json"`, tag, state)
		}
	}
}

func TestEveryOutcomeHasItsOwnWordsInEveryLanguage(t *testing.T) {
	shown := map[string]string{}
	for _, lang := range templates.Languages() {
		for _, outcome := range outcomes {
			view := everyState()["ended"]
			view.Lang, view.Outcome = lang, outcome
			title := between(t, render(t, templates.RoomPage(view)), `id="outcome"`, "</h1>")
			require.Empty(t, shown[title], "%s in %s", outcome, lang)
			shown[title] = outcome
			require.Contains(t, title, `data-outcome="`+outcome+`"`)
		}
	}
}

func TestSellerIDCannotBreakOutOfThePage(t *testing.T) {
	hostile := `"></script><script>alert(1)</script><img src=x onerror=alert(1)>`
	for _, fixed := range []bool{false, true} {
		view := everyState()["idle"]
		view.SellerID, view.SellerFixed, view.Error = hostile, fixed, hostile
		view.SMS = []templates.SMSView{{Text: hostile, Code: hostile}}
		page := render(t, templates.RoomPage(view))
		require.NotContains(t, page, "<script>")
		require.NotContains(t, page, "<img")
	}
}

func TestOnlyThePartOfTheStateIsOnShow(t *testing.T) {
	shown := map[string][]string{
		"idle": {"join", "seller-id"}, "waiting": {"position", "leave"},
		"locked": {"countdown", "done", "cancel"}, "ended": {"outcome", "join"},
	}
	panel := regexp.MustCompile(`(?s)<(section|form|wr-sms)[^>]*data-panel="([^"]*)"[^>]*?( hidden)?>`)
	for state, ids := range shown {
		page := render(t, templates.RoomPage(everyState()[state]))
		require.Contains(t, page, `data-state="`+state+`"`)
		panels := panel.FindAllStringSubmatch(page, -1)
		require.NotEmpty(t, panels, state)
		for _, found := range panels {
			belongs := strings.Contains(found[2], state) && !strings.HasPrefix(found[0], "<wr-sms")
			if belongs {
				require.NotContains(t, found[0], " hidden", state)
			} else if !strings.Contains(found[2], state) {
				require.Contains(t, found[0], " hidden", state)
			}
		}
		for _, id := range ids {
			require.Equal(t, 1, strings.Count(page, ` id="`+id+`"`), id)
		}
	}
}

func TestPageWithoutScriptRefreshesOnlyWhileThereIsSomethingToWaitFor(t *testing.T) {
	views := everyState()
	for state, refreshes := range map[string]bool{"idle": false, "waiting": true, "locked": true,
		"ended": false} {
		page := render(t, templates.RoomPage(views[state]))
		require.Equal(t, refreshes, strings.Contains(page, `<noscript><meta http-equiv="refresh" content="5">`),
			state)
	}
	asking := views["waiting"]
	asking.Ask = templates.QuestionLeave
	page := render(t, templates.RoomPage(asking))
	require.NotContains(t, page, "http-equiv")
	require.Regexp(t, `<dialog[^>]* open`, page)
}

func TestFormsSendWhatTheContractNeedsWithoutScript(t *testing.T) {
	page := render(t, templates.RoomPage(everyState()["locked"]))
	done := between(t, page, `id="done-form"`, "</form>")
	require.Contains(t, done, `method="post" action="/rooms/integration/leave"`)
	require.Contains(t, done, `name="reason" value="completed"`)
	require.Contains(t, done, `name="fence" value="77"`)
	require.NotContains(t, done, `name="confirm"`, "no code has come: it asks first")
	require.Contains(t, between(t, page, `id="join-form"`, "</form>"),
		`method="post" action="/rooms/integration/join"`)
	waiting := render(t, templates.RoomPage(everyState()["waiting"]))
	require.Contains(t, between(t, waiting, `id="leave-form"`, "</form>"), `name="fence" value=""`)
}

// codeAt returns a message that arrived so many seconds before the page was made.
func codeAt(id, code string, before int64) templates.SMSView {
	return templates.SMSView{MessageID: id, Text: "text " + code, Code: code,
		ReceivedAt: 1_790_000_000_000 - before*1000, Fence: 77}
}

func TestTurnShowsTheNextStep(t *testing.T) {
	view := everyState()["locked"]
	step := func() string { return between(t, render(t, templates.RoomPage(view)), `data-step="`, `"`) }
	require.Equal(t, `data-step="ask`, step())
	view.Codes = &templates.CodesView{AskAfter: view.ServerTime + 22_500}
	require.Equal(t, `data-step="busy`, step())
	page := render(t, templates.RoomPage(view))
	require.Contains(t, between(t, page, `id="ask-countdown"`, "</wr-countdown>"), "0:23")
	require.Regexp(t, `id="ask"[^>]* hidden`, page)
	require.Contains(t, page, `<noscript><button form="ask-form"`, "without a script the page does not free "+
		"it by itself")
	view.Codes = &templates.CodesView{Asked: 1, Open: 1}
	require.Equal(t, `data-step="asked`, step())
	view.SMS = []templates.SMSView{codeAt("m-1", "", 9)}
	require.Equal(t, `data-step="text`, step())
	view.SMS = []templates.SMSView{codeAt("m-1", "482103", 9), codeAt("m-2", "", 3)}
	require.Equal(t, `data-step="code`, step())
	page = render(t, templates.RoomPage(view))
	require.Contains(t, between(t, page, `id="sms-code"`, "</output>"), `>482</span><span translate="no">103</span>`,
		"a later text does not hide the code")
	view = everyState()["waiting"]
	require.Equal(t, `data-step="`, step(), "it is no turn")
}

func TestAsksAndRejectionsAreFormsWithoutScript(t *testing.T) {
	view := everyState()["locked"]
	view.Codes, view.AskKey = &templates.CodesView{Asked: 1, Open: 1}, "key-1"
	view.Offers = []templates.OfferView{{MessageID: "m-5", ReceivedAt: view.ServerTime}}
	page := render(t, templates.RoomPage(view))
	asks := between(t, page, `id="ask-form"`, "</form>")
	require.Contains(t, asks, `method="post" action="/rooms/integration/expect"`)
	require.Contains(t, asks, `name="fence" value="77"`)
	require.Contains(t, asks, `name="key" value="key-1"`)
	require.Contains(t, page, `<button id="ask-again" form="ask-form"`)
	require.Contains(t, between(t, page, `id="unclaimed-form"`, "</form>"), `name="message_id" value="m-5"`)
	require.NotContains(t, between(t, page, `id="done-form"`, "</form>"), `name="confirm"`,
		"an ask waits for its code: it asks first")
	require.NotRegexp(t, `<dialog[^>]* open`, page)

	view.Ask = templates.QuestionDone
	page = render(t, templates.RoomPage(view))
	require.Regexp(t, `<dialog id="done-dialog"[^>]* open`, page)
	require.NotContains(t, page, "http-equiv")

	view.Ask, view.SMS = templates.QuestionReject, []templates.SMSView{codeAt("m-1", "482103", 9)}
	reject := between(t, render(t, templates.RoomPage(view)), `id="reject-dialog"`, "</dialog>")
	require.Regexp(t, `^[^>]* open`, reject)
	require.Contains(t, reject, `name="message_id" value="m-1"`)
	require.Contains(t, reject, `name="fence" value="77"`)
}

func TestEndedPageWithoutScriptForgetsItsCode(t *testing.T) {
	view := everyState()["ended"]
	view.SMS = []templates.SMSView{codeAt("m-1", "482103", 590)}
	view.SMS[0].Late = true
	page := render(t, templates.RoomPage(view))
	require.Contains(t, page, `<noscript><meta http-equiv="refresh" content="11"></noscript>`)
	require.Contains(t, between(t, page, `id="sms-title"`, "</h2>"), "차례가 끝난 뒤 도착한 문자예요")
	require.NotContains(t, page, "초마다 새로고침해요")
}

func TestCodeIsFoldedOnceTheSellerSaysThatItIsEntered(t *testing.T) {
	view := everyState()["ended"]
	view.Outcome, view.Info.ReturnURL = "completed", "https://portal.example"
	view.SMS = []templates.SMSView{codeAt("m-1", "482103", 5)}
	page := render(t, templates.RoomPage(view))
	form := between(t, page, `<form id="entered-form"`, "</form>")
	require.NotContains(t, between(t, form, "<form", ">"), "hidden")
	require.Contains(t, form, `method="get"`)
	require.Contains(t, form, `name="entered" value="m-1"`)
	require.Contains(t, page, `data-entered="false"`)
	require.Contains(t, between(t, page, `id="outcome"`, "</h1>"), "인증번호가 도착했어요")

	view.Entered = "m-1"
	page = render(t, templates.RoomPage(view))
	require.Contains(t, between(t, page, `<form id="entered-form"`, ">"), "hidden")
	require.Contains(t, page, `data-entered="true"`)
	require.Contains(t, between(t, page, `id="outcome"`, "</h1>"), "인증을 마쳤어요")
	require.NotContains(t, between(t, page, `<details id="sms-whole"`, ">"), "open")

	view.SMS = append(view.SMS, codeAt("m-2", "555555", 1))
	require.Contains(t, render(t, templates.RoomPage(view)), `data-entered="false"`, "another code came")
}

func TestPageStartsItsModulesFromAStateFrame(t *testing.T) {
	page := render(t, templates.RoomPage(everyState()["waiting"]))
	block := between(t, page, `<script id="page-data" type="application/json">`, "</script>")
	var data struct{ State map[string]any }
	_, block, _ = strings.Cut(block, ">")
	require.NoError(t, json.Unmarshal([]byte(block), &data))
	require.Equal(t, "waiting", data.State["status"])
	require.EqualValues(t, 2, data.State["queue_position"])
	require.Nil(t, data.State["fence"])
	require.Nil(t, data.State["outcome"])
	for _, field := range []string{"claim_by", "codes"} {
		require.Contains(t, data.State, field)
		require.Nil(t, data.State[field])
	}
}

func TestErrorPageShowsTheNextStep(t *testing.T) {
	page := render(t, templates.ErrorPage(templates.ErrorView{Lang: "ko", Code: "unknown_room", Detail: "<b>"}))
	require.Contains(t, page, "대기실을 찾을 수 없어요")
	require.Contains(t, page, "&lt;b&gt;")
	require.NotContains(t, page, "<script")
}

func TestEveryFileThePageNamesIsServed(t *testing.T) {
	named := regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`)
	view := everyState()["idle"]
	view.AssetPrefix = static.Prefix()
	found := named.FindAllStringSubmatch(render(t, templates.RoomPage(view)), -1)
	require.Len(t, found, 5, "icon, styles, script, and two that only a Home Screen asks for: each can be a "+
		"request of a first visit")
	for _, asset := range found {
		answer := httptest.NewRecorder()
		static.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, asset[1], nil))
		require.Equal(t, http.StatusOK, answer.Code, asset[1])
	}
}

func everyState() map[string]templates.RoomView {
	wait, ceiling := 180, 300
	view := templates.RoomView{
		Lang: "ko", Room: "integration", AssetPrefix: "/static/v-1", Epoch: "e", Version: 3,
		QueueLength: 3, ServerTime: 1_790_000_000_000, LeaseExpiresAt: 1_790_000_087_000, LeaseSeconds: 120,
	}
	idle, waiting, locked, ended := view, view, view, view
	idle.State, idle.EstimatedWait, idle.MaximumWait = "idle", &wait, &ceiling
	waiting.State, waiting.Ticket, waiting.QueuePosition = "waiting", 9, 2
	waiting.EstimatedWait, waiting.MaximumWait = &wait, &ceiling
	locked.State, locked.Ticket, locked.Fence = "locked", 9, 77
	ended.State, ended.Ticket, ended.Outcome, ended.LeaseExpiresAt = "ended", 9, "expired", 0
	return map[string]templates.RoomView{"idle": idle, "waiting": waiting, "locked": locked, "ended": ended}
}

func render(t *testing.T, component templ.Component) string {
	t.Helper()
	var page strings.Builder
	require.NoError(t, component.Render(t.Context(), &page))
	return page.String()
}

// between returns the text from a mark to the next end.
func between(t *testing.T, page, mark, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, mark)
	require.True(t, found, mark)
	part, _, found := strings.Cut(rest, end)
	require.True(t, found, end)
	return mark + part
}
