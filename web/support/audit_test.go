package support_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/support"
)

const auditAPI = "/api/support/audit"

func someAudit(next string) support.Audit {
	return support.Audit{Next: history.Word(next), Actions: []history.Audited{
		{Room: "integration", Address: "192.0.2.1", Action: history.Action{Epoch: 1, Who: "token:zendesk", Name: "assign", Reason: "r",
			Ticket: 4, Fence: 9, At: 7000, Seller: "한글", MessageID: "m-1"}},
		{Room: "integration", Address: "192.0.2.1", Action: history.Action{Epoch: 1, Who: "kim", Name: "move", Reason: "=1+1", Ticket: 5,
			At: 6000, Seller: "s-5", From: 3, To: 1}},
		{Room: "integration", Address: "192.0.2.1", Action: history.Action{Epoch: 1, Who: "kim", Name: "extend", Reason: "a\nb", Ticket: 4,
			Fence: 9, At: 5000, Seller: "한글", Seconds: 60}},
		{Action: history.Action{Who: "?", Name: "sign_in_failed", Reason: "wrong", At: 4000}},
		{Action: history.Action{Who: "kim", Name: "danced", Reason: "of a later version", At: 3000}},
	}}
}

func TestAuditIsAPageInJSON(t *testing.T) {
	f := newFakeDesk()
	f.audits = []support.Audit{someAudit("c2"), {}}
	h := deskHandler(t, f)
	const query = "?who=kim&action=move&room=integration&from=2026-11-21&to=2026-11-21&limit=5&cursor=c1"
	w := f.call(t, h, "park", "GET", auditAPI+query, "")
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	for _, row := range []string{
		`{"room":"integration","epoch":1,"who":"kim","action":"move","reason":"=1+1","ticket":5,"fence":null,` +
			`"at":"1970-01-01T00:00:06.000Z","seller_id":"s-5","from_position":3,"to_position":1,"address":"192.0.2.1"}`,
		`"at":"1970-01-01T00:00:05.000Z","seller_id":"한글","seconds":60,"address":"192.0.2.1"}`,
		`{"room":null,"epoch":0,"who":"?","action":"sign_in_failed"`, `"message_id":"m-1","seller_id":"한글","address":"192.0.2.1"}`,
		`"next":"c2"}`,
	} {
		require.Contains(t, w.Body.String(), row)
	}
	require.Equal(t, []support.AuditFilter{{Who: "kim", Action: "move", Room: "integration",
		From: 1795219200000, To: 1795305600000,
		Limit: 5, Cursor: "c1"}}, f.audited)
	require.JSONEq(t, `{"actions":[],"next":null}`, f.call(t, h, "park", "GET", auditAPI, "").Body.String())
	require.Empty(t, f.did, "to read is not audited")
}

func TestAuditIsAFileInTheReadersLanguage(t *testing.T) {
	for _, tc := range []struct {
		query, accept string
		texts         []string
	}{
		{"&bom=1&lang=ko&zone=Asia/Seoul", "en", []string{"시각 (Asia/Seoul)", "누가", "한 일", "대기실", "판매자", "대기 번호", "펜스", "더 준 시간(초)",
			"옮기기 전 순서", "옮긴 뒤 순서", "문자 ID", "사유", "접속 주소", "안내 내용", "언제까지 (Asia/Seoul)", "문자 배정", "순서 옮기기", "로그인 실패"}},
		{"", "en", []string{"Time", "Who", "What", "Room", "Seller", "Ticket", "Fence", "Seconds given",
			"Place before",
			"Place after", "Text ID", "Reason", "Address", "Announced", "Until", "Assigned a text", "Moved in the line", "Failed to sign in"}},
	} {
		f := newFakeDesk()
		f.audits = []support.Audit{someAudit("c2"), someAudit("")}
		w := f.call(t, deskHandler(t, f), "kim", "GET", auditAPI+"?format=csv&who=kim"+tc.query, "",
			"Accept-Language", tc.accept)
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "text/csv; charset=utf-8; header=present", w.Header().Get("Content-Type"))
		require.Equal(t, "attachment; filename=waitroom-audit.csv", w.Header().Get("Content-Disposition"))
		require.Equal(t, "100000", w.Header().Get("X-Row-Limit"))
		require.Equal(t, []string{"audit support exported_audit"}, f.did)
		require.Equal(t, room.Action{Who: "kim", Address: "192.0.2.1", Action: "exported_audit", Reason: "who=kim"}, f.by)
		require.Equal(t, []support.AuditFilter{{Who: "kim", Limit: 1000},
			{Who: "kim", Limit: 1000, Cursor: "c2"}}, f.audited)
		body, marked := strings.CutPrefix(w.Body.String(), "\uFEFF")
		require.Equal(t, strings.Contains(tc.query, "bom"), marked)
		records := support.RFC4180(t, body)
		require.Len(t, records, 1+2*5)
		require.Equal(t, tc.texts[:15], records[0])
		at, text := "1970-01-01T00:00:0%d.000Z", func(cell string) string { return cell }
		formula := "'=1+1"
		if marked {
			at, text = "1970-01-01 09:00:0%d", func(cell string) string { return `="` + cell + `"` }
			formula = text("=1+1")
		}
		require.Equal(t, []string{fmt.Sprintf(at, 7), "token:zendesk", tc.texts[15], "integration",
			"한글", "4", "9", "", "", "",
			text("m-1"), "r", text("192.0.2.1"), "", ""}, records[1])
		require.Equal(t, []string{fmt.Sprintf(at, 6), "kim", tc.texts[16], "integration", text("s-5"), "5",
			"", "", "3", "1", "",
			formula, text("192.0.2.1"), "", ""}, records[2])
		require.Equal(t, "60", records[3][7])
		require.Equal(t, tc.texts[17], records[4][2])
		require.Equal(t, "danced", records[5][2], "a code without words stands for itself")
	}
}

func TestAuditIsAFileForPrograms(t *testing.T) {
	f := newFakeDesk()
	f.audits = []support.Audit{someAudit("c2"), someAudit(""), someAudit("")}
	h := deskHandler(t, f)
	w := f.call(t, h, "kim", "GET", auditAPI+"?format=json&download=1&action=move", "")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "attachment; filename=waitroom-audit.json", w.Header().Get("Content-Disposition"))
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.Equal(t, "action=move", f.by.Reason)
	var file, page struct {
		Actions []map[string]any
		Next    *string
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &file))
	require.NoError(t, json.Unmarshal(f.call(t, h, "kim", "GET", auditAPI, "").Body.Bytes(), &page))
	require.Equal(t, append(page.Actions, page.Actions...), file.Actions)
	require.Nil(t, file.Next)
}

func TestAuditFileSaysWhatItLeavesOut(t *testing.T) {
	for query, end := range map[string]string{"format=csv": "more,c3,,,,,,,,,,,,,\r\n",
		"format=json&download=1": `],"next":"c3"}`} {
		f := newFakeDesk()
		f.audits = []support.Audit{{Actions: make([]history.Audited, 1000), Next: "c2"},
			{Actions: make([]history.Audited, 500), Next: "c3"}}
		w := f.call(t, deskHandler(t, f), "kim", "GET", auditAPI+"?limit=1500&"+query, "")
		require.Equal(t, "1500", w.Header().Get("X-Row-Limit"))
		require.Equal(t, 500, f.audited[1].Limit)
		require.True(t, strings.HasSuffix(w.Body.String(), end), query)
	}
}

func TestAuditFileThatFailsIsAProblemOrBreaksOff(t *testing.T) {
	for _, query := range []string{"?format=csv", "?format=json&download=1", ""} {
		f := newFakeDesk()
		f.lost = problem.Refusal("ledger_unavailable")
		w := f.call(t, deskHandler(t, f), "kim", "GET", auditAPI+query, "")
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Contains(t, w.Body.String(), `"code":"ledger_unavailable"`)
		require.Empty(t, f.did)
		if query == "" {
			continue
		}
		f = newFakeDesk()
		f.audits, f.refuse = []support.Audit{someAudit("")}, room.ErrStore
		w = f.call(t, deskHandler(t, f), "kim", "GET", auditAPI+query, "")
		require.Equal(t, http.StatusServiceUnavailable, w.Code, "what is not written down is not exported")
		require.NotContains(t, w.Body.String(), "한글")

		f.refuse, f.lost = nil, problem.Refusal("ledger_unavailable")
		f.audits = []support.Audit{{}, {Actions: make([]history.Audited, 1000), Next: "c2"}}
		server := httptest.NewServer(deskHandler(t, f))
		r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+auditAPI+query, nil)
		require.NoError(t, err)
		r.AddCookie(&http.Cookie{Name: support.Cookie, Value: "kim"})
		resp, err := server.Client().Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "half a file does not look whole")
		require.NoError(t, resp.Body.Close())
		server.Close()
	}
}

func TestBadSearchOfTheAuditIsRefusedByName(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	for query, code := range map[string]string{"from=x": "invalid_time", "to=x": "invalid_time",
		"limit=0":    "invalid_limit",
		"format=xml": "invalid_format", "from=%": "invalid_time", "cursor=%": "invalid_cursor",
		"who=%zz": "invalid_query"} {
		w := f.call(t, h, "kim", "GET", auditAPI+"?"+query, "")
		require.Equal(t, http.StatusBadRequest, w.Code, query)
		require.Contains(t, w.Body.String(), code, query)
	}
	require.Empty(t, f.audited)
	require.Equal(t, http.StatusUnauthorized, f.call(t, h, "", "GET", auditAPI, "").Code)
	page := f.call(t, h, "kim", "GET", "/support/-/audit?from=yesterday", "")
	require.Equal(t, http.StatusBadRequest, page.Code)
	require.Contains(t, page.Body.String(), `value="yesterday"`)
}

func TestAuditPageShowsWhatWasDoneAndItsFilesHaveTheSameRows(t *testing.T) {
	f := newFakeDesk()
	f.audits = []support.Audit{someAudit("c2")}
	w := f.call(t, deskHandler(t, f), "park", "GET",
		"/support/-/audit?lang=en&who=kim&action=move&from=2026-11-21&cursor=c1", "")
	page := w.Body.String()
	for _, texts := range []string{"from 3 to 1", "60 s more", "m-1",
		`href="/support/-/sellers/s-5?room=integration"`,
		`<option value="move" selected>Moved in the line</option>`, "token:zendesk",
		`href="?action=move&amp;cursor=c2`} {
		require.Contains(t, page, texts)
	}
	require.Equal(t, support.AuditFilter{Who: "kim", Action: "move", From: 1795219200000, Cursor: "c1"},
		f.audited[0])
	for id, want := range map[string]url.Values{
		"export":      {"format": {"csv"}, "bom": {"1"}, "lang": {"en"}},
		"export-json": {"format": {"json"}, "download": {"1"}},
	} {
		link := regexp.MustCompile(`id="` + id +
			`" href="/api/support/audit\?([^"]*)"`).FindStringSubmatch(page)
		require.NotNil(t, link, id)
		query, err := url.ParseQuery(strings.ReplaceAll(link[1], "&amp;", "&"))
		require.NoError(t, err)
		want.Set("who", "kim")
		want.Set("action", "move")
		want.Set("from", "2026-11-21")
		require.Equal(t, want, query, "and no cursor")
	}
}
