package server

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// bad is a request that has to be refused without any effect.
type bad struct {
	name         string
	method, path string
	body         string
	headers      []string // name, value, …
	status       int
	code         string
}

const (
	lockPath = "/api/integration/lock"
	asJSON   = "Content-Type"
	jsonType = "application/json"
)

var jsonHeader = []string{asJSON, jsonType}

func badJoins() []bad {
	post := func(name, body string, status int, code string, headers ...string) bad {
		if headers == nil {
			headers = jsonHeader
		}
		return bad{"join: " + name, http.MethodPost, lockPath, body, headers, status, code}
	}
	large := `{"seller_id":"x","pad":"` + strings.Repeat("x", 16<<10) + `"}`
	return []bad{
		post("no body", "", 400, "invalid_json"),
		post("only spaces", "  \n", 400, "invalid_json"),
		post("broken off", `{"seller_id":"x"`, 400, "invalid_json"),
		post("no JSON", "seller_id=x", 400, "invalid_json"),
		post("compressed", "\x1f\x8b\b\x00\x00\x00\x00\x00", 400, "invalid_json", asJSON, jsonType,
			"Content-Encoding", "gzip"),
		post("two values", `{"seller_id":"x"}{"seller_id":"x"}`, 400, "invalid_json"),
		post("a value after it", `{"seller_id":"x"} 1`, 400, "invalid_json"),
		post("a list", `[{"seller_id":"x"}]`, 400, "invalid_json"),
		post("a string", `"x"`, 400, "invalid_json"),
		post("null", `null`, 400, "invalid_json"),
		post("a number for the seller", `{"seller_id":7}`, 400, "invalid_seller"),
		post("an object for the seller", `{"seller_id":{}}`, 400, "invalid_seller"),
		post("a number for the session", `{"seller_id":"x","session_id":7}`, 400, "invalid_session"),
		post("no seller", `{}`, 400, "invalid_seller"),
		post("null seller", `{"seller_id":null}`, 400, "invalid_seller"),
		post("empty seller", `{"seller_id":""}`, 400, "invalid_seller"),
		post("seller with a space", `{"seller_id":"a b"}`, 400, "invalid_seller"),
		post("seller with a pipe", `{"seller_id":"a|b"}`, 400, "invalid_seller"),
		post("seller with a quote", `{"seller_id":"a\"b"}`, 400, "invalid_seller"),
		post("seller with a line break", `{"seller_id":"a\nb"}`, 400, "invalid_seller"),
		post("seller with a NUL", `{"seller_id":"a\u0000"}`, 400, "invalid_seller"),
		post("seller of half a surrogate", `{"seller_id":"\ud800"}`, 400, "invalid_seller"),
		post("seller that is not UTF-8", "{\"seller_id\":\"a\xff\"}", 400, "invalid_seller"),
		post("seller as an emoji", `{"seller_id":"🙂"}`, 400, "invalid_seller"),
		post("seller of 65 letters", `{"seller_id":"`+strings.Repeat("가", 65)+`"}`, 400, "invalid_seller"),
		post("session that is none", `{"seller_id":"x"}`, 400, "invalid_session", asJSON, jsonType, "X-Session-ID",
			"me"),
		post("session in braces", `{"seller_id":"x"}`, 400, "invalid_session", asJSON, jsonType, "X-Session-ID",
			"{"+room.NewSession()+"}"),
		post("session of zeros", `{"seller_id":"x"}`, 400, "invalid_session", asJSON, jsonType, "X-Session-ID",
			"00000000-0000-0000-0000-000000000000"),
		post("session in the body that is none", `{"seller_id":"x","session_id":"me"}`, 400, "invalid_session"),
		post("no content type", `{"seller_id":"x"}`, 415, "unsupported_media_type", "X-Nothing", ""),
		post("as a form", `seller_id=x`, 415, "unsupported_media_type", asJSON,
			"application/x-www-form-urlencoded"),
		post("as text", `{"seller_id":"x"}`, 415, "unsupported_media_type", asJSON, "text/plain"),
		post("as something like JSON", `{"seller_id":"x"}`, 415, "unsupported_media_type", asJSON,
			"application/jsonx"),
		post("more than 16 KiB", large, 413, "body_too_large"),
		post("more than 16 KiB of spaces", `{"seller_id":"x"}`+strings.Repeat(" ", 16<<10), 413, "body_too_large"),
		post("from another site", `{"seller_id":"x"}`, 403, "cross_site", asJSON, jsonType, "Origin",
			"https://evil.example"),
		post("from another site, as the browser says", `{"seller_id":"x"}`, 403, "cross_site", asJSON, jsonType,
			"Sec-Fetch-Site", "cross-site"),
		post("from a neighbouring site", `{"seller_id":"x"}`, 403, "cross_site", asJSON, jsonType, "Sec-Fetch-Site",
			"same-site"),
	}
}

func badLeaves() []bad {
	remove := func(name, query string, status int, code string, headers ...string) bad {
		return bad{"leave: " + name, http.MethodDelete, lockPath + query, "", headers, status, code}
	}
	return []bad{
		remove("unknown reason", "?reason=expired", 400, "invalid_reason"),
		remove("empty reason", "?reason=", 400, "invalid_reason"),
		remove("reason in capitals", "?reason=Completed", 400, "invalid_reason"),
		remove("empty fence", "?fence=", 400, "invalid_fence"),
		remove("fence that is no number", "?fence=abc", 400, "invalid_fence"),
		remove("fence of zero", "?fence=0", 400, "invalid_fence"),
		remove("negative fence", "?fence=-1", 400, "invalid_fence"),
		remove("fence with a fraction", "?fence=1.5", 400, "invalid_fence"),
		remove("fence too large", "?fence=99999999999999999999", 400, "invalid_fence"),
		remove("fence that breaks off", "?fence=5%", 400, "invalid_fence"),
		remove("fence that is not escaped as addresses are", "?fence=%zz", 400, "invalid_fence"),
		remove("fence and reason with a semicolon between", "?fence=5;reason=completed", 400, "invalid_fence"),
		remove("reason that is not escaped as addresses are", "?reason=%zz", 400, "invalid_reason"),
		remove("a name that is not escaped as addresses are", "?f%zzence=5", 400, "invalid_query"),
		remove("who has no place", "", 404, "no_place"),
		remove("a session that has no place", "", 404, "no_place", "X-Session-ID", room.NewSession()),
		remove("a session that is none", "", 400, "invalid_session", "X-Session-ID", "me"),
		remove("with a bad cookie, which is none", "", 404, "no_place", "Cookie", "waitroom_session=me"),
		remove("from another site", "", 403, "cross_site", "Origin", "https://evil.example"),
		{"leave: with a body that is no JSON", http.MethodDelete, lockPath, "{", jsonHeader, 400, "invalid_json"},
		{"leave: with a body of another type", http.MethodDelete, lockPath, "x", nil, 415,
			"unsupported_media_type"},
		{"leave: with a large body", http.MethodDelete, lockPath, strings.Repeat(" ", 16<<10+1), jsonHeader, 413,
			"body_too_large"},
	}
}

func badAddresses() []bad {
	plain := func(method, path string, status int, code string) bad {
		return bad{method + " " + path, method, path, "", nil, status, code}
	}
	return []bad{
		plain("GET", "/api/elsewhere/lock/status", 404, "unknown_room"),
		plain("POST", "/api/elsewhere/lock", 404, "unknown_room"),
		plain("DELETE", "/api/elsewhere/lock", 404, "unknown_room"),
		plain("POST", "/api/elsewhere/sms", 404, "unknown_room"),
		plain("GET", "/api/elsewhere/ws", 404, "unknown_room"),
		plain("POST", "/api/support/lock", 401, "not_signed_in"),
		plain("GET", "/api/support/lock/status", 401, "not_signed_in"),
		plain("GET", "/api/support", 401, "not_signed_in"),
		plain("GET", "/api/support/integration/history", 401, "not_signed_in"),
		plain("GET", "/api/support/elsewhere/ws", 401, "not_signed_in"),
		plain("GET", "/api/Integration/lock/status", 404, "unknown_room"),
		plain("GET", "/api/integration%20/lock/status", 404, "unknown_room"),
		plain("GET", "/api/%7Bintegration%7D/lock/status", 404, "unknown_room"),
		plain("GET", "/api/integration%0A/lock/status", 404, "unknown_room"),
		plain("GET", "/api/stock:/lock/status", 404, "unknown_room"),
		plain("GET", "/api/stock/lock/status", 404, "unknown_room"),
		plain("GET", "/api/stock:"+strings.Repeat("x", 123)+"/lock/status", 404, "unknown_room"),
		plain("GET", "/api/integration/lock", 405, "method_not_allowed"),
		plain("PUT", lockPath, 405, "method_not_allowed"),
		plain("PATCH", lockPath, 405, "method_not_allowed"),
		plain("OPTIONS", lockPath, 405, "method_not_allowed"),
		plain("POST", lockPath+"/status", 405, "method_not_allowed"),
		plain("GET", "/api/integration/sms", 405, "method_not_allowed"),
		plain("POST", "/api/integration/ws", 405, "method_not_allowed"),
		plain("POST", "/healthz", 405, "method_not_allowed"),
		plain("DELETE", "/metrics", 405, "method_not_allowed"),
		plain("GET", "/api", 404, "not_found"),
		plain("GET", "/api/integration", 404, "not_found"),
		plain("GET", "/api/integration/lock/", 404, "not_found"),
		plain("GET", "/api/integration/lock/status/", 404, "not_found"),
		plain("GET", "/nothing", 404, "not_found"),
		plain("GET", "/api/integration/../../etc", 404, "not_found"),
		plain("GET", lockPath+"/status?x=%zz", 400, "invalid_query"),
		plain("GET", "/api/integration/ws?x=%zz", 400, "invalid_query"),
		plain("GET", "/nothing?x=%zz", 404, "not_found"),
		plain("PUT", lockPath+"?x=%zz", 405, "method_not_allowed"),
		plain("GET", "/api/support/integration/history?x=%zz", 401, "not_signed_in"),
		{"join: wait=false with a semicolon behind it", "POST", lockPath + "?wait=false;x=1", `{"seller_id":"x"}`,
			jsonHeader, 400, "invalid_query"},
		{"sms: no query counts", "POST", "/api/integration/sms?x=%zz", "{}", nil, 503, "sms_not_configured"},
		{"status: a session that is none", "GET", lockPath + "/status", "", []string{"X-Session-ID", "me"}, 400,
			"invalid_session"},
		{"sms: not configured", "POST", "/api/integration/sms", "{}", nil, 503, "sms_not_configured"},
		{"sms: too large comes first", "POST", "/api/integration/sms", strings.Repeat("x", 16<<10+1), nil, 413,
			"body_too_large"},
	}
}

func TestBadInputIsRefusedByNameAndChangesNothing(t *testing.T) {
	r := start(t, config(t, "--rooms", "integration,stock:*"))
	holder, waiter := newSeller(t, r.URL(), "holder"), newSeller(t, r.URL(), "waiter")
	fence := holder.join().number("fence")
	waiter.join()
	before := waiter.status()

	nobody := newSeller(t, r.URL(), "")
	nobody.session = ""
	table := append(append(badJoins(), badLeaves()...), badAddresses()...)
	for _, b := range table {
		t.Run(b.name, func(t *testing.T) {
			nobody.t = t
			requireProblem(t, nobody.ask(b.method, b.path, b.body, b.headers...), b.status, b.code)
		})
	}
	t.Run("stale fences", func(t *testing.T) {
		requireProblem(t, holder.leave(fmt.Sprint("?fence=", fence+1)), 409, "stale_fence")
		requireProblem(t, holder.leave(fmt.Sprint("?fence=", fence-1)), 409, "stale_fence")
		requireProblem(t, waiter.leave(fmt.Sprint("?fence=", fence)), 409, "stale_fence")
		for _, query := range []string{"?fence=5;reason=completed", "?fence=%zz", "?fence=1%zz", "?fence=5%"} {
			requireProblem(t, holder.leave(query), 400, "invalid_fence")
		}
	})

	after := waiter.status()
	for _, field := range []string{"epoch", "version", "queue_length"} {
		require.Equal(t, before.number(field), after.number(field), field)
	}
	require.Equal(t, "waiting", after.me().text("status"))
	require.Equal(t, "locked", holder.status().me().text("status"))
}

// requireProblem requires an RFC 9457 problem with a status and a code, and a detail that says what to do.
func requireProblem(t *testing.T, got reply, status int, code string) {
	t.Helper()
	require.Equal(t, status, got.StatusCode, got.body)
	require.Equal(t, "application/problem+json", got.Header.Get("Content-Type"))
	require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
	require.Equal(t, code, got.text("code"))
	require.EqualValues(t, status, got.number("status"))
	require.NotEmpty(t, got.text("title"))
	require.NotEmpty(t, got.text("detail"))
	if status == http.StatusMethodNotAllowed {
		require.NotEmpty(t, got.Header.Get("Allow"))
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		require.NotEmpty(t, got.Header.Get("Retry-After"))
	}
}

func TestProblemSpeaksTheLanguageThatIsAskedFor(t *testing.T) {
	r := start(t, config(t))
	s := newSeller(t, r.URL(), "")
	for _, tc := range []struct{ accept, lang string }{
		{"", "ko"}, {"ko", "ko"}, {"en", "en"}, {"en-GB,ko;q=0.5", "en"}, {"ko-KR,en;q=0.9", "ko"}, {"ja", "ja"},
		{"zh-CN", "zh-Hans"},
		{"vi-VN", "vi"}, {"fr", "en"}, {"!!", "ko"},
	} {
		got := s.ask(http.MethodDelete, lockPath, "", "Accept-Language", tc.accept)
		require.Equal(t, tc.lang, got.Header.Get("Content-Language"), tc.accept)
		require.Equal(t, tc.lang == "ko", regexp.MustCompile(`\p{Hangul}`).MatchString(got.text("detail")),
			tc.accept)
	}
}
