package web

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// What a client writes into X-Forwarded-For changes nothing: to the left of what our proxies wrote it counts for nothing, and without
// a proxy of ours all of it does.
func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{"", ",", "10.0.0.2", "192.0.2.1, unknown", "[::1]:80", "10.0.0.1, 198.51.100.7", "::ffff:10.0.0.1", "fe80::1%eth0", "\x00", "198.51.100.1:99999"} {
		f.Add(seed, seed)
	}
	s := &site{Config: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}}
	f.Fuzz(func(t *testing.T, line, second string) {
		require.Equal(t, "203.0.113.9", s.client(from("203.0.113.9:1", line, second)).String(), "a stranger's word")
		require.Equal(t, "198.51.100.1", s.client(from("10.0.0.1:1", line, second+", 198.51.100.1")).String(), "one proxy")
		require.Equal(t, "198.51.100.1", s.client(from("10.0.0.1:1", line, second, "198.51.100.1", "10.2.3.4")).String(), "two proxies")
		heard := s.client(from("10.0.0.1:1", line, second))
		require.True(t, heard.IsValid() && !heard.Is4In6() && heard.Zone() == "", heard.String())
		if heard.String() != "10.0.0.1" {
			hops := strings.Split(line+","+second, ",")
			require.True(t, slices.ContainsFunc(hops, func(hop string) bool { return hopAddress(hop) == heard }), heard.String())
		}
		require.False(t, s.isProxy(network(heard)) && !s.isProxy(heard))
	})
}

// A host that is taken is the name that was set or, where only this machine's are, one that leads nowhere else, as a browser reads it.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"", "wait.example", "WAIT.example.:443", "wait.example:443:443", "wait.example.evil.example", "[wait.example]", "localhost", "127.0.0.1:80", "[::1]",
		"127.0.0.1.evil.example", "[::ffff:127.0.0.1]:1", "localhost:", "0.0.0.0", ":443", "wait.example:0443", "2130706433", "127.0.0.0:A"} {
		f.Add(seed)
	}
	public, err := HostOf("https://wait.example")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, host string) {
		u, err := url.Parse("https://" + host)
		if err != nil || u.Host != host {
			return // no page has it
		}
		if public.has(host) {
			require.Equal(t, "wait.example", strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
			require.Contains(t, []string{"", "443"}, u.Port())
		}
		if Loopback().has(host) {
			require.True(t, strings.EqualFold(u.Hostname(), "localhost") || hopAddress(u.Hostname()).IsLoopback())
		}
	})
}

// Rooms that are taken are the same when they are written and read again; every name among them is a room, and support is none.
func FuzzRooms(f *testing.F) {
	for _, seed := range []string{"integration", "a,b:*", "stock:*, a", "", "support", "support:*", "*", ":*", "a:*:*", "a,a", strings.Repeat("a", 128) + ":*"} {
		f.Add(seed, "stock:1")
	}
	f.Fuzz(func(t *testing.T, list, asked string) {
		rooms, err := ParseRooms(list)
		if err != nil {
			require.ErrorIs(t, err, room.ErrInvalidRoom)
			return
		}
		again, err := ParseRooms(rooms.String())
		require.NoError(t, err)
		require.Equal(t, rooms, again)
		require.False(t, rooms.Has("support"))
		for _, id := range rooms.Names() {
			_, err := room.ParseID(string(id))
			require.NoError(t, err)
			require.True(t, rooms.Has(id))
		}
		if id, err := room.ParseID(asked); err == nil && rooms.Has(id) {
			domain, _, _ := strings.Cut(asked, ":")
			require.True(t, slices.Contains(rooms.Names(), id) || strings.Contains(list, domain+":"), asked)
		}
	})
}

// sent is what clients may send for what they should.
var sent = []string{"", "{", "null", "[]", "{} {}", `{"seller_id":"s-1","asks":true}`, `{"seller_id":1}`, `{"session_id":{}}`, `{"SELLER_ID":"a"}`, `{"fence":7,"from":["15881234"],"contains":"쿠팡"}`,
	`{"fence":1.5}`, `{"fence":-1}`, `{"fence":9223372036854775808}`, `{"fence":7,"from":[""]}`, `{"fence":7,"from":"x"}`, `{"fence":7,"message_id":"m-1"}`, `{"fence":null}`,
	`{"reason":"gone","fence":7,"ticket":3,"seconds":60,"position":1,"message_id":"m"}`, `{"reason":"\u200b","ticket":9007199254740993}`, `{"reason":" \n ","seconds":1e2}`,
	"{\"reason\":\"\xff\"}", `{"reason":"\ud800"}`, `{"a":` + strings.Repeat("[", 20000) + "}"}

// A body about the lock is one object, or refused by one of the codes of the contract; another field never becomes a seller or a session.
func FuzzLockBody(f *testing.F) {
	for _, seed := range sent {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		body, err := parseLock(text)
		if err != nil {
			require.Contains(t, []error{Refusal("invalid_json"), Refusal("invalid_seller"), Refusal("invalid_session")}, err)
			require.Equal(t, lockBody{}, body)
			return
		}
		require.Equal(t, byte('{'), bytes.TrimLeft(text, " \t\r\n")[0])
		anew, err := json.Marshal(body)
		require.NoError(t, err)
		again, err := parseLock(anew)
		require.NoError(t, err)
		require.Equal(t, body, again)
	})
}

// An ask that is taken has a fence, few and short senders, a short piece and a short Idempotency-Key; all else is refused by its code.
func FuzzExpectBody(f *testing.F) {
	for _, seed := range sent {
		f.Add([]byte(seed), "press-1")
	}
	f.Add([]byte(`{"fence":7}`), strings.Repeat("가", 64))
	f.Add([]byte(`{"fence":7}`), strings.Repeat("\xff", 65))
	f.Fuzz(func(t *testing.T, text []byte, key string) {
		body, err := parseExpect(text)
		if err == nil {
			require.Positive(t, body.Fence)
			err = checkExpect(room.ExpectRequest{Fence: body.Fence, Key: key, Filter: room.Filter{From: body.From, Contains: body.Contains}})
		}
		if err != nil {
			require.Contains(t, []error{Refusal("invalid_json"), Refusal("invalid_session"), Refusal("invalid_fence"), room.ErrInvalidExpect}, err)
			require.Contains(t, problems, codeOf(err))
			return
		}
		require.LessOrEqual(t, utf8.RuneCountInString(key), 64)
		require.LessOrEqual(t, len(body.From), 10)
		for _, piece := range append([]string{body.Contains}, body.From...) {
			require.LessOrEqual(t, utf8.RuneCountInString(piece), 64)
		}
		require.NotContains(t, body.From, "")
	})
}

// What support does has a reason that a person can read, and numbers that every program counts to; the same asked twice with one
// Idempotency-Key is one request, and with another key another.
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
			require.IsType(t, Refusal(""), err)
			require.Contains(t, problems, codeOf(err), err.Error())
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
		c.Request.Header[keyHeader] = []string{key}
		one, err := requestOf(c, q)
		if err != nil {
			require.Equal(t, Refusal("invalid_key"), err)
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

// A search of the history that is taken is within its limits and means the instant that was written; all else is refused by its code.
func FuzzHistoryFilter(f *testing.F) {
	for _, seed := range [][3]string{{"2026-11-21", "5", "s-1"}, {"2026-11-21T09:30:00.25+09:00", "", "a b"}, {"2026-11-21t09:30:00z", "0", ""}, {"1795220000", "-1", "가"}, {"1795220000000", "99999999999", "\xff"},
		{"2026-02-30", "+5", ""}, {"0000-01-01", "1e3", ""}, {"9999-12-31", " 1", ""}, {"2026-11-21T09:30:00 09:00", "1", ""}} {
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
			require.Contains(t, problems, codeOf(err), err.Error())
			return
		}
		require.True(t, h.Limit >= 0 && h.Limit <= 1<<31-1)
		if day, err := time.Parse(time.DateOnly, at); err == nil {
			require.Equal(t, []int64{day.UnixMilli(), day.AddDate(0, 0, 1).UnixMilli()}, []int64{h.From, h.To}, "a day ends with its end")
			return
		}
		require.Equal(t, h.From, h.To)
		if instant, err := time.Parse(time.RFC3339, at); err == nil {
			require.Equal(t, instant.UnixMilli(), h.From)
		}
	})
}

// A cell of an export is what it was, and no spreadsheet takes it for a formula.
func FuzzCSVCell(f *testing.F) {
	for _, seed := range []string{"", "=1+1", "＝1", "-1", "@SUM(A1)", "\t=1", "a\"b", "a,b", "a\r\nb", " a ", "'=1", "\xff", "\uFEFF=1", "가"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		var out bytes.Buffer
		w := newCSVWriter(&out, false)
		w.row(record{"kind": "action", "reason": cell, "at": "end"})
		require.NoError(t, w.Flush())
		records := rfc4180(t, out.String())
		require.Len(t, records, 2)
		require.Len(t, records[1], len(columns))
		got := records[1][slices.Index(columns, "reason")]
		require.NotRegexp(t, "\\A[=+@\t\r\n＝＋－＠-]", got)
		require.Contains(t, []string{cell, "'" + cell}, got)
		require.Equal(t, "end", records[1][slices.Index(columns, "at")])
	})
}
