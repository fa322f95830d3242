package support

import (
	"bytes"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// from is a request of a peer with lines of X-Forwarded-For.
func from(peer string, lines ...string) *gin.Context {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("GET", "/", nil)
	c.Request.RemoteAddr = peer
	for _, line := range lines {
		c.Request.Header.Add("X-Forwarded-For", line)
	}
	return c
}

// sent has bodies that clients may send, right or wrong.
var sent = []string{"", "{", "null", "[]", "{} {}", `{"seller_id":"s-1","asks":true}`, `{"seller_id":1}`,
	`{"session_id":{}}`, `{"SELLER_ID":"a"}`, `{"fence":7,"from":["15881234"],"contains":"쿠팡"}`,
	`{"fence":1.5}`, `{"fence":-1}`, `{"fence":9223372036854775808}`, `{"fence":7,"from":[""]}`,
	`{"fence":7,"from":"x"}`, `{"fence":7,"message_id":"m-1"}`, `{"fence":null}`,
	`{"reason":"gone","fence":7,"ticket":3,"seconds":60,"position":1,"message_id":"m"}`,
	`{"reason":"\u200b","ticket":9007199254740993}`, `{"reason":" \n ","seconds":1e2}`,
	"{\"reason\":\"\xff\"}", `{"reason":"\ud800"}`, `{"a":` + strings.Repeat("[", 20000) + "}"}

// An accepted action has a readable reason, and numbers that every program represents exactly. A repeat with
// the same Idempotency-Key is one request; another key makes another.
func FuzzActionBody(f *testing.F) {
	for _, seed := range sent {
		f.Add([]byte(seed), "k")
	}
	for _, reason := range []string{"gone", `\u200b`, "\xff", " ", `\u0000a`, strings.Repeat("가", 201)} {
		f.Add([]byte(`{"reason":"`+reason+`","fence":7,"ticket":3,"seconds":60,"position":1,"message_id":"m"}`), "")
	}
	readable := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) }
	f.Fuzz(func(t *testing.T, text []byte, key string) {
		c := from("203.0.113.9:1")
		c.Request = httptest.NewRequest("POST", "/", bytes.NewReader(text))
		c.Request.Header.Set("Content-Type", "application/json")
		q, err := readAction(c, []take{takeFence, takeTicket, takeSeconds, takePosition, takeMessage})
		if err != nil {
			require.IsType(t, problem.Refusal(""), err)
			require.Contains(t, problem.Codes(), problem.CodeOf(err), err.Error())
			return
		}
		require.True(t, utf8.Valid(text) && strings.TrimSpace(q.reason) == q.reason)
		require.True(t, strings.ContainsFunc(q.reason, readable), "%q", q.reason)
		require.LessOrEqual(t, utf8.RuneCountInString(q.reason), 200)
		require.False(t, strings.ContainsAny(q.reason, "\x00\x1b\x7f"))
		for _, n := range []int64{q.fence, q.ticket, int64(q.position)} {
			require.True(t, n >= 1 && n <= 1<<53, n)
		}
		require.True(t, q.more >= time.Second && q.more <= 2*time.Minute)
		c.Request.Header[request.KeyHeader] = []string{key}
		one, err := requestOf(c, q)
		if err != nil {
			require.Equal(t, problem.Refusal("invalid_key"), err)
			return
		}
		same, err := requestOf(c, q)
		require.NoError(t, err)
		require.Equal(t, key != "", one == same)
		q.ticket++
		other, err := requestOf(c, q)
		require.NoError(t, err)
		require.NotEqual(t, one, other)
	})
}

// An accepted history search is within its limits and means the written instant. All else is refused by its
// code.
func FuzzHistoryFilter(f *testing.F) {
	for _, seed := range [][3]string{{"2026-11-21", "5", "s-1"}, {"2026-11-21T09:30:00.25+09:00", "", "a b"},
		{"2026-11-21t09:30:00z", "0", ""}, {"1795220000", "-1", "가"}, {"1795220000000", "99999999999",
			"\xff"},
		{"2026-02-30", "+5", ""}, {"0000-01-01", "1e3", ""}, {"9999-12-31", " 1",
			""}, {"2026-11-21T09:30:00 09:00", "1", ""}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, at, limit, seller string) {
		c := from("203.0.113.9:1")
		query := c.Request.URL.Query()
		query.Set("from", at)
		query.Set("to", at)
		query.Set("limit", limit)
		query.Set("seller", seller)
		c.Request.URL.RawQuery = query.Encode()
		h, err := historyFilter(c)
		if err != nil {
			require.Contains(t, problem.Codes(), problem.CodeOf(err), err.Error())
			return
		}
		require.True(t, h.Limit >= 0 && h.Limit <= 1<<31-1)
		if day, err := time.Parse(time.DateOnly, at); err == nil {
			require.Equal(t, []int64{day.UnixMilli(), day.AddDate(0, 0, 1).UnixMilli()},
				[]int64{h.From, h.To}, "a day ends with its end")
			return
		}
		require.Equal(t, h.From, h.To)
		if instant, err := time.Parse(time.RFC3339, at); err == nil {
			require.Equal(t, instant.UnixMilli(), h.From)
		}
	})
}

// FuzzCSVCell requires that a cell of an export keeps its text and that no spreadsheet reads it as a formula.
func FuzzCSVCell(f *testing.F) {
	for _, seed := range []string{"", "=1+1", "＝1", "-1", "@SUM(A1)", "\t=1", "a\"b", "a,b", "a\r\nb", " a ",
		"'=1", "\xff", "\uFEFF=1", "가"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		var out bytes.Buffer
		w := newCSVWriter(&out, nil)
		w.row(history.Action{Who: "end", Reason: cell})
		require.NoError(t, w.Flush())
		records := RFC4180(t, out.String())
		require.Len(t, records, 2)
		require.Len(t, records[1], len(columns))
		got := records[1][slices.Index(columns, "reason")]
		require.NotRegexp(t, "\\A[=+@\t\r\n＝＋－＠-]", got)
		require.Contains(t, []string{cell, "'" + cell}, got)
		require.Equal(t, "end", records[1][slices.Index(columns, "who")])

		sheet := (&sheet{templates.TextIn("ko"), time.UTC}).cell("reason", cell)
		if text, formula := strings.CutPrefix(sheet, "="); formula {
			require.Regexp(t, "\\A\"([^\"]|\"\")*\"\\z", text, "one text, and nothing besides")
			require.Equal(t, cell, strings.ReplaceAll(text[1:len(text)-1], `""`, `"`))
		} else {
			require.Equal(t, got, sheet)
		}
	})
}

// RFC4180 parses a file strictly: records end in CRLF, and quoted text stays as it is. encoding/csv is not as
// strict.
func RFC4180(t *testing.T, text string) (records [][]string) {
	t.Helper()
	cell := regexp.MustCompile(`^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)`)
	var cells []string
	for text != "" {
		m := cell.FindStringSubmatch(text)
		require.NotNil(t, m, "%.80q", text)
		text = text[len(m[0]):]
		cells = append(cells, strings.ReplaceAll(m[1], `""`, `"`)+m[2])
		if m[3] == "\r\n" {
			records, cells = append(records, cells), nil
		}
	}
	return records
}
