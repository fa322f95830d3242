package support_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/request"
	"github.com/waitroom/waitroom/web/support"
)

// bodies has a request for each action, the call that it makes, and the answer.
var bodies = map[string]struct{ fields, does, answer string }{
	"release": {`"fence":9`, "release integration 9", `"ticket":null,"fence":9`},
	"extend":  {`"fence":9,"seconds":60`, "extend integration 9 1m0s", `"ticket":null,"fence":9`},
	"remove":  {`"ticket":4`, "remove integration 4", `"ticket":4,"fence":null`},
	"move":    {`"ticket":4,"position":1`, "move integration 4 1", `"ticket":4,"fence":null`},
	"restore": {`"ticket":4`, "restore integration 4", `"ticket":5,"fence":null`},
	"pause":   {``, "pause integration true", `"ticket":null,"fence":null`},
	"resume":  {``, "pause integration false", `"ticket":null,"fence":null`},
	"assign":  {`"message_id":"m-1","fence":9`, "assign integration m-1 9", `"ticket":3,"fence":9`},
	"announce": {`"text":{"ko":"늦어요","en":"Late."},"level":"warning","until":` + soon,
		`announce integration warning "ko: 늦어요\nen: Late." true`, `"ticket":null,"fence":null`},
	"open":  {``, "open integration never never", `"ticket":null,"fence":null`},
	"close": {`"until":` + soon, "open integration never " + strings.Trim(soon, `"`), `"ticket":null,"fence":null`},
}

// soon is a time of the next seven days, as JSON.
var soon = time.Now().Add(time.Hour).UTC().Format(`"` + time.RFC3339 + `"`)

func TestEveryActionIsTriedAndHasItsWords(t *testing.T) {
	for name := range support.Actions {
		require.Contains(t, slices.Collect(maps.Keys(bodies)), name, "name it in bodies")
		for _, lang := range []string{"ko", "en"} {
			desk := templates.TextIn(lang).Desk
			require.NotEmpty(t, desk.Actions[name],
				"templates/locales/desk.yaml: the audit has no words for %s", name)
			require.NotEmpty(t, desk.Story.Did[name],
				"templates/locales/desk/story.yaml: a seller's timeline has no words for %s", name)
		}
	}
}

func bodyOf(fields, reason string) string {
	return "{" + strings.Join(slices.DeleteFunc([]string{fields, reason},
		func(s string) bool { return s == "" }), ",") + "}"
}

func TestActionIsDoneByTheSignedInAgentAndSaysWhatWasDone(t *testing.T) {
	for name, b := range bodies {
		f := newFakeDesk()
		w := f.call(t, deskHandler(t, f), "kim", "POST", "/api/support/integration/"+name,
			bodyOf(b.fields, `"reason":"  the seller asked\n"`))
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, []string{b.does}, f.did)
		require.Equal(t, strings.Contains(b.fields, "text"), f.by.Text != "")
		require.Equal(t, strings.Contains(b.fields, "until"), f.by.Until != 0)
		f.by.Text, f.by.Until = "", 0
		require.Equal(t, room.Action{Who: "kim", Address: "192.0.2.1", Action: name, Reason: "the seller asked"}, f.by)
		require.Contains(t, w.Body.String(),
			`"status":"done","action":"`+name+`","room":"integration",`+b.answer+`,"epoch":7,"version":`)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	}
}

func TestRefusedActionChangesNothing(t *testing.T) {
	const reason = `"reason":"r"`
	type asking struct {
		name, token, body string
		headers           []string
		status            int
		code              string
	}
	for name, b := range bodies {
		good := bodyOf(b.fields, reason)
		table := []asking{
			{"no sign-in", "", good, nil, 401, "not_signed_in"},
			{"a sign-in that is over", "lee", good, nil, 401, "not_signed_in"},
			{"the store is away", "store", good, nil, 503, "store_unavailable"},
			{"who may only watch", "park", good, nil, 403, "not_allowed"},
			{"who may only watch, with a bad body", "park", "{", nil, 403, "not_allowed"},
			{"another site", "kim", good, []string{"Origin", "https://evil.example"}, 403, "cross_site"},
			{"an allowed origin", "kim", good, []string{"Origin", "https://portal.example"}, 403,
				"cross_site"},
			{"another site, not signed in", "", good, []string{"Sec-Fetch-Site", "cross-site"}, 403,
				"cross_site"},
			{"a neighbouring site", "kim", good, []string{"Sec-Fetch-Site", "same-site"}, 403, "cross_site"},
			{"a form", "kim", good, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415,
				"unsupported_media_type"},
			{"too large", "kim", bodyOf(b.fields, reason+`,"x":"`+strings.Repeat("x", request.MaxBody)+`"`),
				nil, 413, "body_too_large"},
			{"no JSON", "kim", "{", nil, 400, "invalid_json"},
			{"null", "kim", "null", nil, 400, "invalid_json"},
			{"a list", "kim", "[]", nil, 400, "invalid_json"},
			{"two values", "kim", good + good, nil, 400, "invalid_json"},
			{"empty", "kim", "", nil, 400, "invalid_json"},
			{"no UTF-8", "kim", bodyOf(b.fields, "\"reason\":\"a\xff\""), nil, 400, "invalid_json"},
			{"no UTF-8 in what is ignored", "kim", bodyOf(b.fields, reason+",\"x\":\"\xc0\x80\""), nil, 400,
				"invalid_json"},
			{"a long key", "kim", good, []string{"Idempotency-Key", strings.Repeat("x", 65)}, 400,
				"invalid_key"},
		}
		for what, wrong := range map[string]string{"no reason": "", "null": `"reason":null`,
			"empty": `"reason":""`, "blank": `"reason":" \n\t "`,
			"zero width": `"reason":"\u200b\u200d"`, "a number": `"reason":7`, "long": `"reason":"` +
				strings.Repeat("가", 201) + `"`,
			"control": `"reason":"a\u0000b"`, "Hangul fillers": `"reason":"\u3164\u115f \u1160\uffa0"`,
			"an empty Braille cell": `"reason":"\u2800"`,
			"a joiner":              `"reason":"\u034f"`, "marks on nothing": `"reason":"\u0301\u0903\u20dd"`,
			"Khmer's":               `"reason":"\u17b4\ufe0f"`,
			"a note without a head": `"reason":"\ud834\udd59"`,
			"blank hieroglyphs":     `"reason":"\ud80d\udc41"`, "an object": `"reason":"\ufffc"`} {
			table = append(table, asking{"reason: " + what, "kim", bodyOf(b.fields, wrong), nil, 400,
				"invalid_reason"})
		}
		for field, code := range map[string]string{`"fence":9`: "invalid_fence",
			`"ticket":4`: "invalid_ticket", `"seconds":60`: "invalid_seconds",
			`"position":1`: "invalid_position", `"message_id":"m-1"`: "invalid_message"} {
			if !strings.Contains(b.fields, field) {
				continue
			}
			key, _, _ := strings.Cut(field, ":")
			for _, wrong := range []string{"null", `""`, "0", "-1", "1.5", "{}", "true",
				"99999999999999999999"} {
				table = append(table, asking{key + " " + wrong, "kim",
					bodyOf(strings.Replace(b.fields, field, key+":"+wrong, 1), reason), nil, 400, code})
			}
			table = append(table, asking{key + " missing", "kim",
				bodyOf(strings.Trim(strings.Replace(b.fields, field, "", 1), ","), reason), nil, 400, code})
		}
		if name == "extend" {
			table = append(table, asking{"121 seconds", "kim", `{"fence":9,"seconds":121,"reason":"r"}`, nil,
				400, "invalid_seconds"})
		}
		for _, q := range table {
			t.Run(name+": "+q.name, func(t *testing.T) {
				f := newFakeDesk()
				requireRefused(t, f, name, q.token, q.body, q.status, q.code, q.headers...)
			})
		}
	}
}

func TestAnAnnouncementIsPlainTextInItsLanguagesUntilATime(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	post := func(name, fields string) string {
		w := f.call(t, h, "kim", "POST", "/api/support/integration/"+name, bodyOf(fields, `"reason":"r"`))
		if w.Code == http.StatusOK {
			return f.did[len(f.did)-1]
		}
		require.Equal(t, http.StatusBadRequest, w.Code)
		_, code, _ := strings.Cut(w.Body.String(), `"code":"`)
		return code[:strings.Index(code, `"`)]
	}
	announce := func(fields string) string { return post("announce", fields) }
	until, long := `,"until":`+soon, strings.Repeat("가", 300)
	for text, want := range map[string]string{
		`"가나다"`: "invalid_text", "7": "invalid_text", "[]": "invalid_text", "{}": "invalid_text",
		`{"ko":""}`: "invalid_text", `{"ko":" \n"}`: "invalid_text", `{"ko":null}`: "invalid_text",
		`{"ko":7}`: "invalid_text", `{"":"a"}`: "invalid_text", `{"not a tag":"a"}`: "invalid_text",
		`{"ko":"a\u0000b"}`: "invalid_text", `{"ko":"` + long + `가"}`: "invalid_text",
		`{"ko":"a","ko-KR":"b"}`: "invalid_text", `{"ko":{}}`: "invalid_text",
		`{"ko":"` + long + `"}`: `announce integration info "ko: ` + long + `" true`,
		`{"th":"a"}`:            "invalid_text", `{"zh-Hant":"a"}`: "invalid_text",
		`{"ja":"a","zh":" b\nc ","en-GB":"<b>"}`: `announce integration info "ja: a\nzh-Hans: b\nc\nen: <b>" true`,
	} {
		require.Equal(t, want, announce(`"text":`+text+until), text)
	}
	require.Equal(t, "invalid_text", announce(`"level":"info"`+until))
	require.Equal(t, "announce integration nothing", announce(`"text":null`))
	require.Equal(t, "withdrew", f.by.Action)
	for _, level := range []string{`""`, "null", "7", `"error"`} {
		want := "invalid_level"
		if level == "null" {
			want = `announce integration info "ko: a" true`
		}
		require.Equal(t, want, announce(`"text":{"ko":"a"},"level":`+level+until), level)
	}
	at := func(after time.Duration) string { return time.Now().Add(after).Format(`"` + time.RFC3339 + `"`) }
	for _, wrong := range []string{"", `"until":null`, `"until":""`, `"until":7`, `"until":"2030"`,
		`"until":` + at(-time.Second), `"until":` + at(7*24*time.Hour+time.Minute)} {
		require.Equal(t, "invalid_until", announce(strings.TrimSuffix(`"text":{"ko":"a"},`+wrong, ",")), wrong)
	}
	require.Equal(t, `announce integration info "ko: a" true`, announce(`"text":{"ko":"a"},"until":`+at(7*24*time.Hour-time.Minute)))
}

func TestSupportOpensAndClosesARoomUntilItsHoursDecideAgain(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	act := func(name, until string) string {
		fields := ""
		if until != "" {
			fields = `"until":` + until
		}
		w := f.call(t, h, "kim", "POST", "/api/support/integration/"+name, bodyOf(fields, `"reason":"r"`))
		if w.Code != http.StatusOK {
			require.Contains(t, w.Body.String(), "invalid_until")
			return "refused"
		}
		return strings.TrimPrefix(f.did[len(f.did)-1], "open integration ")
	}
	earlier := strings.Trim(soon, `"`)
	require.Equal(t, "refused", act("close", ""), "it is always open")
	require.Equal(t, "never "+earlier, act("close", soon))
	require.Equal(t, "never never", act("open", ""))
	f.begin = time.Now().Add(2 * time.Hour)
	require.Equal(t, "never begin", act("close", ""), "within its hours")
	require.Equal(t, f.begin.UnixMilli(), f.by.Until)
	require.Equal(t, earlier+" never", act("open", soon), "also beyond their end")
	require.Equal(t, "never never", act("open", ""))
	require.Zero(t, f.by.Until)
	f.outside = true
	require.Equal(t, "begin never", act("open", ""))
	require.Equal(t, earlier+" never", act("open", soon))
	require.Equal(t, "never never", act("close", ""))
	require.Equal(t, "never "+earlier, act("close", soon))
}

func TestSeveralWaitersAreRemovedForOneReason(t *testing.T) {
	f := newFakeDesk()
	f.stale = 5
	h := deskHandler(t, f)
	post := func(body string) (int, string) {
		w := f.call(t, h, "kim", "POST", "/api/support/integration/remove", body)
		return w.Code, w.Body.String()
	}
	status, text := post(`{"tickets":[4,5,9],"reason":"one address"}`)
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, []string{"remove integration 4", "remove integration 9"}, f.did)
	require.Equal(t, room.Action{Who: "kim", Address: "192.0.2.1", Action: "remove", Reason: "one address"}, f.by)
	require.Contains(t, text, `"ticket":null,"fence":null,"epoch":7,"version":40,"removed":2}`)
	status, text = post(`{"tickets":[5],"reason":"one address"}`)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, text, "stale_ticket")
	many := strings.TrimSuffix(strings.Repeat("7,", 201), ",")
	for _, wrong := range []string{"[]", "null", "7", "[0]", "[1.5]", "[4,null]", `["4"]`, "[" + many + "]",
		`[4],"ticket":4`} {
		status, text = post(`{"tickets":` + wrong + `,"reason":"r"}`)
		require.Equal(t, http.StatusBadRequest, status, wrong)
		require.Contains(t, text, "invalid_ticket")
	}
	require.Len(t, f.did, 2)
}

func TestAddressesWithSeveralWaitersAreListedAndThoseOfOneAreNot(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	list := func(as string) string {
		w := f.call(t, h, as, "GET", "/api/support/integration/addresses", "")
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		return w.Body.String()
	}
	require.JSONEq(t, `{"addresses":[]}`, list("park"))
	for i, address := range "b-acaba-" {
		digest := strings.Trim(strings.Repeat(string(address), 10), "-")
		f.line.Line = append(f.line.Line, room.Waiter{Ticket: int64(i + 1), Address: digest})
	}
	require.JSONEq(t, `{"addresses":[{"address":"aaaaaaaaaa","places":3,"tickets":[3,5,7]},
		{"address":"bbbbbbbbbb","places":2,"tickets":[1,6]}]}`, list("park"))
	f.line.Line = nil
	for i := range 500 {
		f.line.Line = append(f.line.Line, room.Waiter{Ticket: int64(i + 1), Address: "aaaaaaaaaa"})
	}
	require.Contains(t, list("kim"), `"places":500`)
	require.Contains(t, list("kim"), `,199,200]`, "as many as one action removes")
	require.Contains(t, list(""), "not_signed_in")
	f.refuse = room.ErrStore
	require.Contains(t, list("kim"), "store_unavailable")
}

func requireRefused(t *testing.T, f *fakeDesk, name, token, body string, status int, code string,
	headers ...string) {
	t.Helper()
	w := f.call(t, deskHandler(t, f), token, "POST", "/api/support/integration/"+name, body, headers...)
	require.Equal(t, status, w.Code, w.Body.String())
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	require.Contains(t, w.Body.String(), fmt.Sprintf(`"code":%q`, code))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
	require.Empty(t, f.did)
}

func TestWhatTheEngineRefusesHasItsOwnCode(t *testing.T) {
	for err, want := range map[error]struct{ code, action string }{
		room.ErrStaleFence: {"stale_fence", "release"}, room.ErrStaleTicket: {"stale_ticket",
			"move"}, room.ErrLeaseTooLong: {"lease_too_long", "extend"},
		room.ErrAlreadyMatched: {"already_matched", "assign"}, room.ErrNotPossible: {"not_possible",
			"assign"}, sms.ErrRefused: {"not_possible", "assign"}} {
		f := newFakeDesk()
		f.refuse = fmt.Errorf("act: %w", err)
		requireRefused(t, f, want.action, "kim", bodyOf(bodies[want.action].fields, `"reason":"r"`), 409,
			want.code)
	}
	f := newFakeDesk()
	f.refuse = room.ErrNoMessage
	requireRefused(t, f, "assign", "kim", `{"fence":9,"message_id":"m","reason":"r"}`, 404, "no_message")
	f.refuse = room.ErrStore
	requireRefused(t, f, "pause", "kim", `{"reason":"r"}`, 503, "store_unavailable")
}

func TestReasonMayHaveAnyInk(t *testing.T) {
	for _, reason := range []string{"가", "ㄱ", "é", "e\u0301", "\u3164x", "👍🏽", "नि", "⠁", "?", "１"} {
		f := newFakeDesk()
		w := f.call(t, deskHandler(t, f), "kim", "POST", "/api/support/integration/pause",
			`{"reason":"`+reason+`"}`)
		require.Equal(t, http.StatusOK, w.Code, reason)
		require.Equal(t, reason, f.by.Reason)
	}
}

func TestLedgersRefusalsDifferFromWhatNeverHappened(t *testing.T) {
	said := func(err error, lang string) string {
		f := newFakeDesk()
		f.refuse = fmt.Errorf("assign: %w", err)
		w := f.call(t, deskHandler(t, f), "kim", "POST", "/api/support/integration/assign",
			`{"message_id":"m","fence":9,"reason":"r"}`, "Accept-Language", lang)
		require.Equal(t, http.StatusConflict, w.Code)
		require.Contains(t, w.Body.String(), `"code":"not_possible"`)
		return w.Body.String()
	}
	for lang, words := range map[string][]string{"en": {"ledger refused", "belongs to nobody", "has ended"},
		"ko": {"기록", "거절", "누구의 것도 아니에요", "끝났어요"}} {
		for _, word := range words {
			require.Contains(t, said(sms.ErrRefused, lang), word)
			require.NotContains(t, said(room.ErrNotPossible, lang), word)
		}
	}
	require.Contains(t, said(room.ErrNotPossible, "en"), "Nothing was changed")
	require.NotContains(t, said(sms.ErrRefused, "en"), "Nothing was changed")
}

func TestSignInComesBeforeTheRoomAndTheRoomBeforeTheRole(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	for token, code := range map[string]string{"": "not_signed_in", "park": "unknown_room",
		"kim": "unknown_room"} {
		require.Contains(t, f.call(t, h, token, "POST", "/api/support/elsewhere/pause",
			`{"reason":"r"}`).Body.String(), code)
	}
	for _, path := range []string{"/api/support", "/api/support/", "/api/support/lock",
		"/api/support/lock/status", "/api/support/integration/fly",
		"/api/support/ws", "/api/support/integration/ws", "/api/support/integration/history",
		"/api/support/integration/timeline"} {
		w := f.call(t, h, "", "GET", path, "")
		require.Equal(t, http.StatusUnauthorized, w.Code, path)
		require.Contains(t, w.Body.String(), "not_signed_in", path)
	}
	require.Empty(t, f.did)
}

func TestWithoutADeskThereIsNothingThere(t *testing.T) {
	for _, path := range []string{"/support", "/support/sign-in", "/support/integration", "/api/support/ws",
		"/api/support/integration/history"} {
		require.Equal(t, http.StatusNotFound, ask(t, handler(t, web.Config{}), "GET", path).Code, path)
	}
}

func TestReasonIsSupportsReasonAtTheDeskAndTheSellersElsewhere(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	at := f.call(t, h, "kim", "POST", "/api/support/integration/pause", `{}`, "Accept-Language",
		"en").Body.String()
	require.Contains(t, at, "Say why")
	elsewhere := f.call(t, h, "", "DELETE", "/api/integration/lock?reason=x", "", "Accept-Language",
		"en").Body.String()
	require.Contains(t, elsewhere, "reason=completed")
}

func TestRepeatWithTheSameKeyIsTheSameRequestForTheSamePersonAndTarget(t *testing.T) {
	ask := func(name, token, key, body string) string {
		f := newFakeDesk()
		h := deskHandler(t, f)
		w := f.call(t, h, token, "POST", "/api/support/integration/release", body, "Idempotency-Key", key)
		require.Equal(t, http.StatusOK, w.Code, name)
		return f.request
	}
	first := ask("first", "kim", "k", `{"fence":9,"reason":"a"}`)
	require.Equal(t, first, ask("again, worded otherwise", "kim", "k", `{"reason":"b","fence":9}`))
	require.NotEqual(t, first, ask("another key", "kim", "l", `{"fence":9,"reason":"a"}`))
	require.NotEqual(t, first, ask("another person", "choi", "k", `{"fence":9,"reason":"a"}`))
	require.NotEqual(t, first, ask("another fence", "kim", "k", `{"fence":10,"reason":"a"}`))
	require.NotEqual(t, ask("no key", "kim", "", `{"fence":9,"reason":"a"}`),
		ask("no key again", "kim", "", `{"fence":9,"reason":"a"}`))
}
