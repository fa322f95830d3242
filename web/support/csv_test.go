package support_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/support"
)

const historyPath = "/api/support/integration/history"

func somePage(next string) history.Page {
	return history.Page{Next: history.Word(next),
		Leases: []history.Lease{{Epoch: 1, Fence: 9, Ticket: 4, Seller: "한글", GrantedAt: 2000,
			EndedAt: 5000, Outcome: "completed"},
			{Epoch: 1, Fence: 10, Ticket: 5, Seller: "=cmd|' /C calc'!A0", GrantedAt: 6000}},
		Places: []history.Place{{Epoch: 1, Ticket: 4, Seller: "@a,b", JoinedAt: 1000, EndedAt: 5000,
			Outcome: "completed"}, {Epoch: 1, Ticket: 6, Seller: "-x", EndedAt: 7000, Outcome: "lost"}},
		Messages: []history.Message{{Epoch: 1, MessageID: "+m\"1\"", Result: "unmatched",
			ReceivedAt: 3000}, {Epoch: 1, MessageID: "m2", Result: "late", Ticket: 4, Fence: 9, SentAt: 3500,
			ReceivedAt: 5500}},
		Actions: []history.Action{{Epoch: 1, Who: "kim", Name: "release", Reason: "line 1\nline \"2\"",
			Fence: 9, At: 5000}, {Epoch: 1, Who: "\tpark", Name: "move", Reason: "\rx", Ticket: 5, At: 5600,
			Seller: "-x", From: 3, To: 1}, {Epoch: 1, Who: "kim", Name: "extend", Reason: "r", Ticket: 4,
			Fence: 9, At: 5650, Seller: "한글", Seconds: 60},
			{Epoch: 1, Who: "kim", Name: "assign", Reason: "r", Ticket: 4, Fence: 9, MessageID: "=m2",
				At: 5700}}}
}

// flat returns the rows of the JSON history as cells of the export, ordered by time.
func flat(t *testing.T, body []byte) (rows []map[string]string) {
	t.Helper()
	var lists map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(body, &lists))
	for kind, list := range map[string]string{"lease": "leases", "place": "places", "message": "messages",
		"action": "actions"} {
		var some []map[string]any
		d := json.NewDecoder(bytes.NewReader(lists[list]))
		d.UseNumber()
		require.NoError(t, d.Decode(&some))
		for _, row := range some {
			cells := map[string]string{"kind": kind}
			for name, value := range row {
				if value != nil {
					cells[name] = fmt.Sprint(value)
				}
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

// readCSV returns the rows of an export, without the apostrophes that prevent formulas.
func readCSV(t *testing.T, body io.Reader) (rows []map[string]string) {
	t.Helper()
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	records := support.RFC4180(t, string(text))
	for _, r := range records[1:] {
		cells := map[string]string{}
		for i, name := range records[0] {
			if r[i] != "" {
				cells[name] = strings.TrimPrefix(r[i], "'")
			}
		}
		rows = append(rows, cells)
	}
	return rows
}

func TestHistoryIsTheContractsJSON(t *testing.T) {
	f := newFakeDesk()
	f.pages = []history.Page{somePage("c2"), {}}
	h := deskHandler(t, f)
	w := f.call(t, h, "park", "GET", historyPath+"?seller=a&from=2026-11-21&to=2026-11-21&limit=5&cursor=c1",
		"")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(),
		`{"epoch":1,"fence":9,"ticket":4,"seller_id":"한글","granted_at":"1970-01-01T00:00:02.000Z","ended_at":"1970-01-01T00:00:05.000Z","outcome":"completed"}`)
	require.Contains(t, w.Body.String(),
		`"granted_at":"1970-01-01T00:00:06.000Z","ended_at":null,"outcome":null}`)
	require.Contains(t, w.Body.String(),
		`{"epoch":1,"message_id":"+m\"1\"","result":"unmatched","ticket":null,"fence":null,"sent_at":null,"received_at":"1970-01-01T00:00:03.000Z"}`)
	require.Contains(t, w.Body.String(),
		`"ticket":5,"fence":null,"at":"1970-01-01T00:00:05.600Z","seller_id":"-x","from_position":3,"to_position":1},{`)
	require.Contains(t, w.Body.String(),
		`"ticket":4,"fence":9,"at":"1970-01-01T00:00:05.700Z","message_id":"=m2"}]`)
	require.Contains(t, w.Body.String(), `"next":"c2"`)
	require.Equal(t, support.HistoryFilter{Seller: "a", From: 1795219200000, To: 1795305600000, Limit: 5,
		Cursor: "c1"}, f.asked[0])
	w = f.call(t, h, "park", "GET", historyPath, "")
	require.JSONEq(t, `{"leases":[],"places":[],"messages":[],"actions":[],"next":null}`, w.Body.String())
	require.Empty(t, f.did, "to read is not audited")
}

func TestTimesAreReadAsPeopleAndProgramsWriteThem(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "1795219200000": 1795219200000,
		"2026-11-21": 1795219200000, "2026-11-21T00:00:00Z": 1795219200000,
		"2026-11-21T09:00:00+09:00": 1795219200000, "2026-11-21T09:00:00 09:00": 1795219200000,
		"2026-11-21t00:00:00.250z": 1795219200250,
		"1795219200":               1795219200000, "100000000": 100_000_000_000, "99999999999": 99_999_999_999_000,
		"100000000000": 100_000_000_000} {
		got, err := support.ParseTime(text, false, time.UTC)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"yesterday", "2026-11-21T00:00:00", "-1", "1.5", "2026-02-30",
		"99999999999999999999", "0", "99999999", "2026"} {
		_, err := support.ParseTime(text, true, time.UTC)
		require.Equal(t, problem.Refusal("invalid_time"), err, text)
	}
}

func TestBadSearchIsRefusedByName(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	for query, code := range map[string]string{"seller=a%20b": "invalid_seller", "from=x": "invalid_time",
		"to=x": "invalid_time", "limit=0": "invalid_limit",
		"limit=-1": "invalid_limit", "limit=x": "invalid_limit", "format=xml": "invalid_format",
		"format=":    "invalid_format",
		"seller=%zz": "invalid_seller", "limit=2;seller=x": "invalid_limit", "from=%": "invalid_time",
		"to=%": "invalid_time", "cursor=%": "invalid_cursor", "format=csv;x": "invalid_format",
		"x=%zz": "invalid_query"} {
		w := f.call(t, h, "kim", "GET", historyPath+"?"+query, "")
		require.Equal(t, http.StatusBadRequest, w.Code, query)
		require.Contains(t, w.Body.String(), code, query)
	}
	require.Empty(t, f.asked)
	require.Equal(t, http.StatusOK, f.call(t, h, "kim", "GET", "/support/integration/history?utm=%zz",
		"").Code, "a page is shown, however it was linked")
	f.lost = problem.Refusal("ledger_unavailable")
	for _, format := range []string{"json", "csv"} {
		w := f.call(t, h, "kim", "GET", historyPath+"?format="+format, "")
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.NotEmpty(t, w.Header().Get("Retry-After"))
		require.Contains(t, w.Body.String(), `"code":"ledger_unavailable"`)
	}
	f.lost = problem.Refusal("invalid_cursor")
	require.Equal(t, http.StatusBadRequest, f.call(t, h, "kim", "GET", historyPath+"?cursor=x", "").Code)
	require.Empty(t, f.did)
}

// The audit has a seller's name as it was typed, so that an erasure can find it.
func TestExportIsAuditedInTheWordsOfItsQuestion(t *testing.T) {
	f := newFakeDesk()
	f.pages = []history.Page{somePage("")}
	f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv&seller=kim%40%EC%83%81%EC%A0%90.kr",
		"")
	require.Equal(t, "seller=kim@상점.kr", f.by.Reason)
}

// A page of the same site can make an agent's browser load an address, with the cookie.
func TestNoOtherPageWritesIntoTheAudit(t *testing.T) {
	for _, path := range []string{historyPath + "?format=csv&note=I+sold+the+list", auditAPI + "?format=csv",
		"/api/support/integration/timeline?seller=a", "/support/-/sellers/a"} {
		f := newFakeDesk()
		h := deskHandler(t, f)
		for _, from := range [][]string{{"same-site", "no-cors", "image"}, {"cross-site", "no-cors", "script"},
			{"same-site", "navigate", "iframe"}, {"same-site", "cors", "empty"}} {
			w := f.call(t, h, "kim", "GET", path, "", "Sec-Fetch-Site", from[0], "Sec-Fetch-Mode", from[1],
				"Sec-Fetch-Dest", from[2])
			require.Equal(t, http.StatusForbidden, w.Code, path)
			require.Empty(t, f.did)
		}
	}
	f := newFakeDesk()
	f.pages = []history.Page{somePage("")}
	w := f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv&note=I+sold+the+list&seller=a", "",
		"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "seller=a", f.by.Reason, "known parameters alone")
}

func TestExportHasTheRowsOfTheJSON(t *testing.T) {
	f := newFakeDesk()
	f.pages = []history.Page{somePage("c2"), somePage(""), somePage("")}
	h := deskHandler(t, f)
	w := f.call(t, h, "kim", "GET", historyPath+"?format=csv&seller=a", "")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/csv; charset=utf-8; header=present", w.Header().Get("Content-Type"))
	require.Equal(t, `attachment; filename=waitroom-integration-history.csv`,
		w.Header().Get("Content-Disposition"))
	require.Equal(t, "100000", w.Header().Get("X-Row-Limit"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, []string{"audit integration exported"}, f.did)
	require.Equal(t, "seller=a", f.by.Reason)
	require.Equal(t, []support.HistoryFilter{{Seller: "a", Limit: 1000},
		{Seller: "a", Limit: 1000, Cursor: "c2"}}, f.asked)

	body := w.Body.String()
	require.True(t, strings.HasPrefix(body,
		"kind,epoch,ticket,fence,seller_id,joined_at,granted_at,ended_at,outcome,message_id,result,reason,sent_at,received_at,who,action,at,seconds,from_position,to_position,text,until\r\n"))
	got := readCSV(t, strings.NewReader(body))
	want := flat(t, f.call(t, h, "kim", "GET", historyPath, "").Body.Bytes())
	require.Len(t, got, 2*len(want))
	require.ElementsMatch(t, append(want, want...), got)
	require.Equal(t, "place", got[0]["kind"], "the earliest is first")
}

// Excel keeps 15 digits of a number, reads 3-4 as a date and 1e5 as a number, and knows no zones.
func TestExportForExcelIsInTheReadersZoneAndLanguageAndKeepsWhatCellsAre(t *testing.T) {
	page := history.Page{Leases: []history.Lease{
		{Epoch: 1, Fence: 1795220000000001, Ticket: 41, Seller: "3-4", GrantedAt: 1783087392999, Outcome: "forced"},
		{Epoch: 1, Fence: 9, Ticket: 1795220000000001, Seller: "true", GrantedAt: 1783087393000, EndedAt: 1783087394000},
		{Epoch: 1, Seller: "1e5", GrantedAt: 1783087395000}, {Epoch: 1, Seller: "１２", GrantedAt: 1783087396000},
		{Epoch: 1, Seller: "-x", GrantedAt: 1783087397000}, {Epoch: 1, Seller: "한글", GrantedAt: 1783087398000}},
		Actions: []history.Action{
			{Epoch: 1, Who: "kim", Name: "move", Reason: "=1+\"1\"", At: 1783087399000, From: 12, To: 1},
			{Epoch: 1, Who: "kim", Name: "exported", Reason: "seller=s-1", At: 1783087400000},
			{Epoch: 1, Who: "kim", Name: "move", Reason: "=1\n2", At: 1783087401000}}}
	export := func(query string) [][]string {
		f := newFakeDesk()
		f.pages = []history.Page{page}
		w := f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv&bom=1"+query, "")
		require.Equal(t, http.StatusOK, w.Code)
		body, marked := strings.CutPrefix(w.Body.String(), "\uFEFF")
		require.True(t, marked)
		return support.RFC4180(t, body)
	}
	korean := export("&lang=ko&zone=Asia/Seoul")
	require.Equal(t, []string{"종류", "데이터 세대", "대기 번호", "펜스", "판매자", "줄 선 시각 (Asia/Seoul)", "차례 시작 (Asia/Seoul)",
		"끝난 시각 (Asia/Seoul)", "결과", "문자 ID", "문자 결과", "사유", "보낸 시각 (Asia/Seoul)", "받은 시각 (Asia/Seoul)",
		"누가", "한 일", "처리 시각 (Asia/Seoul)", "더 준 시간(초)", "옮기기 전 순서", "옮긴 뒤 순서",
		"안내 내용", "언제까지 (Asia/Seoul)"}, korean[0])
	require.Equal(t, []string{"차례", "1", "41", `="1795220000000001"`, `="3-4"`, "", "2026-07-03 23:03:12", "",
		"상담원 종료"}, korean[1][:9])
	require.Equal(t, []string{`="1795220000000001"`, "9", `="true"`}, korean[2][2:5])
	for n, seller := range []string{`="1e5"`, `="１２"`, "'-x", "한글"} {
		require.Equal(t, seller, korean[3+n][4])
	}
	require.Equal(t, []string{"처리", `="=1+""1"""`, "순서 옮기기", "2026-07-03 23:03:19", "12", "1"},
		[]string{korean[7][0], korean[7][11], korean[7][15], korean[7][16], korean[7][18], korean[7][19]})
	require.Equal(t, `="판매자 s-1"`, korean[8][11])
	require.Equal(t, "'=1\n2", korean[9][11], "no formula has a line break")

	for _, zone := range []string{"", "&zone=Local", "&zone=Moon/Tycho", "&zone=../../etc/passwd"} {
		english := export("&lang=en" + zone)
		require.Equal(t, []string{"Joined (UTC)", "Turn began (UTC)"}, english[0][5:7])
		require.Equal(t, "2026-07-03 14:03:12", english[1][6])
	}
}

func TestCellsAreWhatTheyWere(t *testing.T) {
	for _, text := range []string{"a\rb\nc", "a\r\nb", "a\n", "\"", "\"\"a", "a,b", " a ", "a\u00a0", "가\tb",
		"\\.", "a\u2028b", ""} {
		f := newFakeDesk()
		f.pages = []history.Page{{Actions: []history.Action{{Epoch: 1, Who: "kim", Name: "release",
			Reason: text, At: 5000}}}}
		w := f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv", "")
		records := support.RFC4180(t, w.Body.String())
		require.Len(t, records, 2)
		require.Equal(t, text, records[1][slices.Index(support.Columns, "reason")])
	}
}

func TestNoCellIsAFormula(t *testing.T) {
	f := newFakeDesk()
	page := somePage("")
	for _, first := range []string{"＝", "＋", "－", "＠"} {
		page.Actions = append(page.Actions, history.Action{Epoch: 1, Who: "kim", Name: "pause",
			Reason: first + "1+1", At: 9000})
	}
	f.pages = []history.Page{page}
	w := f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv", "")
	records, err := csv.NewReader(w.Body).ReadAll()
	require.NoError(t, err)
	found := 0
	for _, r := range records {
		for _, cell := range r {
			require.NotRegexp(t, "^[=+@\t\r\n＝＋－＠-]", cell)
			if strings.HasPrefix(cell, "'") {
				found++
			}
		}
	}
	require.Equal(t, 12, found)
}

func TestRowsThatAreLeftOutAreCounted(t *testing.T) {
	f := newFakeDesk()
	f.pages = []history.Page{{Leases: make([]history.Lease, 1000), Next: "c2"},
		{Leases: make([]history.Lease, 500), Next: "c3"}}
	w := f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv&limit=1500", "")
	require.Equal(t, "1500", w.Header().Get("X-Row-Limit"))
	require.Equal(t, 500, f.asked[1].Limit)
	records, err := csv.NewReader(w.Body).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 1+1500+1)
	require.Equal(t, []string{"more", "c3"}, records[1501][:2])

	f = newFakeDesk()
	f.pages = []history.Page{{Leases: make([]history.Lease, 1000), Next: "c2"},
		{Leases: make([]history.Lease, 500)}}
	w = f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv&limit=1500", "")
	require.NotContains(t, w.Body.String(), "more")
	w = f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv&limit=1000000", "")
	require.Equal(t, "100000", w.Header().Get("X-Row-Limit"))
}

func TestExportThatBreaksOffIsNoFileThatLooksWhole(t *testing.T) {
	f := newFakeDesk()
	f.pages = []history.Page{{Leases: make([]history.Lease, 1000), Next: "c2"}}
	f.lost = problem.Refusal("ledger_unavailable")
	server := httptest.NewServer(deskHandler(t, f))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+historyPath+"?format=csv", nil)
	require.NoError(t, err)
	r.AddCookie(&http.Cookie{Name: support.Cookie, Value: "kim"})
	resp, err := server.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestWhatIsNotWrittenDownIsNotExported(t *testing.T) {
	f := newFakeDesk()
	f.pages, f.refuse = []history.Page{somePage("")}, fmt.Errorf("no")
	w := f.call(t, deskHandler(t, f), "kim", "GET", historyPath+"?format=csv", "")
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.NotContains(t, w.Body.String(), "한글")
}

func TestReaderThatGoesAwayEndsTheExport(t *testing.T) {
	f := newFakeDesk()
	for range 10_000 {
		f.pages = append(f.pages, history.Page{Leases: make([]history.Lease, 1000), Next: "more"})
	}
	h, ended := deskHandler(t, f), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		r.URL.RawQuery = "format=csv"
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+historyPath, nil)
	require.NoError(t, err)
	r.AddCookie(&http.Cookie{Name: support.Cookie, Value: "kim"})
	resp, err := server.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	leave()
	<-ended
	require.Less(t, len(f.asked), support.RowLimit/support.CSVPage)
}
