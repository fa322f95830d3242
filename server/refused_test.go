package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/describetest"
)

// asked is a request, and whether the server (with 400) and the API's description refuse it.
type asked struct {
	id, query, body string
	refused         bool
}

// inOrder and outOfOrder return requests with valid and with invalid bodies of an operation.
func inOrder(id string, bodies ...string) []asked    { return bodiesOf(id, false, bodies) }
func outOfOrder(id string, bodies ...string) []asked { return bodiesOf(id, true, bodies) }

func bodiesOf(id string, refused bool, bodies []string) (list []asked) {
	for _, body := range bodies {
		list = append(list, asked{id, "", body, refused})
	}
	return list
}

// queries returns requests of an operation with different queries and a valid body, if it has one.
func queries(id string, refused bool, queries ...string) (list []asked) {
	for _, query := range queries {
		list = append(list, asked{id, query, bodies[id], refused})
	}
	return list
}

// long returns a text of n characters that have three bytes each.
func long(n int) string { return strings.Repeat("가", n) }

const (
	p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	auth   = "BTBZMqHH6r4Tts7J_aSIgg"
)

func subscription(endpoint, p256dh, auth string) string {
	return `{"endpoint":"` + endpoint + `","keys":{"p256dh":"` + p256dh + `","auth":"` + auth + `"}}`
}

func brought(fields string) string {
	return `{"message_id":"m-1","from":"1","text":"t",` + fields + `}`
}

func because(reason string) string { return `{"reason":"` + reason + `"}` }

// requests lie just within and just outside of every limit that a schema can express.
var requests = [][]asked{
	inOrder("join", `{"seller_id":"s-1"}`, `{"seller_id":"김.철수@x_1"}`, `{"seller_id":"`+long(64)+`"}`,
		`{"seller_id":"s-2","asks":true,"more":1}`,
		`{"seller_id":"s-3","session_id":"3f1f6d2e-6a2b-4d37-9a54-0f5c8a1b2c3d"}`),
	outOfOrder("join", `{"seller_id":""}`, `{"seller_id":"`+long(65)+`"}`, `{"seller_id":"a b"}`,
		`{"seller_id":"a\n"}`, `{"seller_id":7}`, `[]`, `null`, `"s-1"`, `{`, ``,
		`{"seller_id":"s-1","session_id":"me"}`,
		`{"seller_id":"s-1","session_id":"00000000-0000-0000-0000-000000000000"}`,
		`{"seller_id":"s-1","session_id":"3f1f6d2e6a2b4d379a540f5c8a1b2c3d"}`, `{"seller_id":"s-1","session_id":1}`,
		`{"seller_id":"s-1","asks":"yes"}`),
	inOrder("leave", ``, `{}`),
	outOfOrder("leave", `{"session_id":"me"}`, `[]`),
	queries("leave", false, "reason=completed&fence=1", "reason=cancelled"),
	queries("leave", true, "reason=done", "reason=", "fence=0", "fence=-1", "fence=x", "fence=", "fence=1.5"),
	inOrder("claim", ``, `{}`, `{"fence":9}`),
	outOfOrder("claim", `{"fence":0}`, `{"fence":-1}`, `{"fence":"9"}`, `{"fence":1.5}`, `[]`),
	inOrder("expect", `{"fence":9,"from":["15881234"],"contains":"쿠팡"}`, `{"fence":9,"from":[],"contains":""}`,
		`{"fence":9,"from":["`+long(64)+`"],"contains":"`+long(64)+`"}`,
		`{"fence":9,"from":["1","2","3","4","5","6","7","8","9","0"]}`, `{"fence":9,"message_id":"m-1"}`),
	outOfOrder("expect", `{}`, `{"fence":0}`, `{"fence":"9"}`, `{"fence":9,"from":["`+long(65)+`"]}`,
		`{"fence":9,"contains":"`+long(65)+`"}`, `{"fence":9,"from":[""]}`,
		`{"fence":9,"from":[" \u3000\u00a0\u0085\t"]}`,
		`{"fence":9,"from":["1","2","3","4","5","6","7","8","9","0","1"]}`, `{"fence":9,"from":"1"}`,
		`{"fence":9,"contains":1}`,
		`{"fence":9,"message_id":1}`),
	inOrder("reject", `{"fence":9,"message_id":"m-1"}`),
	outOfOrder("reject", `{"message_id":"m-1"}`, `{"fence":0,"message_id":"m-1"}`, `{"fence":9,"message_id":1}`),
	inOrder("link", ``, `{}`),
	outOfOrder("link", `[]`, `{"session_id":"me"}`),
	inOrder("push", subscription("https://push.example/1", p256dh, auth),
		subscription("https://push.example:443/1?a", p256dh+"=", auth+"=="),
		subscription("https://[2600::1]/1", p256dh, auth)),
	outOfOrder("push", `{}`, `[]`, subscription("http://push.example/1", p256dh, auth),
		subscription("https://push.example:8443/1", p256dh, auth), subscription("push.example", p256dh, auth),
		subscription("https://me@push.example/1", p256dh, auth),
		subscription("https://push.example/1#a", p256dh, auth), subscription("https:///1", p256dh, auth),
		subscription("https://push.example/"+strings.Repeat("a", 2000), p256dh, auth),
		subscription("https://push.example/1", p256dh[1:], auth),
		subscription("https://push.example/1", "A"+p256dh[1:], auth),
		subscription("https://push.example/1", p256dh, auth+"A"),
		subscription("https://push.example/1", p256dh, "")),
	queries("messages", false, "", "wait=0", "wait=30", "wait=1000&after=m-1"),
	queries("messages", true, "wait=-1", "wait=x", "wait=", "wait=1.5", "wait=2147483648"),
	inOrder("receiveSMS", `{"message_id":"m-1","from":"15880000","text":"hello"}`,
		`{"message_id":12,"from":15880000,"text":"hello"}`, `{"message_id":" m 1 ","from":"","text":" t"}`,
		`{"message_id":"`+long(128)+`","from":"1","text":"t"}`, brought(`"sent_at":"2026-11-21T03:00:54.4Z"`),
		brought(`"sent_at":"2026-11-21t12:00:54+09:00"`), brought(`"sent_at":1795230054`),
		brought(`"sent_at":1795230054.25`), brought(`"sent_at":1795230054000`),
		brought(`"ref":1,"parts":255,"part":255`), brought(`"ref":"`+long(128)+`","parts":2,"part":1`),
		brought(`"room":"integration"`)),
	outOfOrder("receiveSMS", `{`, `[]`, `{"from":"1","text":"t"}`, `{"message_id":"","from":"1","text":"t"}`,
		`{"message_id":"  ","from":"1","text":"t"}`,
		`{"message_id":"`+long(129)+`","from":"1","text":"t"}`, `{"message_id":"a\u0000","from":"1","text":"t"}`,
		`{"message_id":"a\u200b","from":"1","text":"t"}`, `{"message_id":true,"from":"1","text":"t"}`,
		`{"message_id":"m-1","from":[],"text":"t"}`, `{"message_id":"m-1","from":"1"}`,
		`{"message_id":"m-1","from":"1","text":""}`, `{"message_id":"m-1","from":"1","text":" \u3000\n"}`,
		`{"message_id":"m-1","from":"1","text":5}`, brought(`"sent_at":"yesterday"`), brought(`"sent_at":""`),
		brought(`"sent_at":"2026-11-21T03:00:54"`), brought(`"sent_at":"2026-11-21T03:00:60Z"`),
		brought(`"sent_at":"2026-13-21T03:00:54Z"`), brought(`"sent_at":-1`), brought(`"sent_at":253402300800000`),
		brought(`"sent_at":true`), brought(`"ref":"a","parts":256,"part":1`),
		brought(`"ref":"a","parts":2,"part":0`), brought(`"ref":"`+long(129)+`","parts":2,"part":1`),
		brought(`"ref":"a","parts":"2","part":1`), brought(`"room":7`)),
	inOrder("pause", because("r"), because(long(200)), because(`two\nlines`), because("1")),
	outOfOrder("pause", `{}`, `[]`, `{"reason":7}`, because(""), because(" "), because(long(201)),
		because(`a\u0000`), because(`a\u0085b`), because(`\u3000\u0301`)),
	inOrder("release", `{"fence":9007199254740992,"reason":"r"}`),
	outOfOrder("release", `{"reason":"r"}`, `{"fence":0,"reason":"r"}`,
		`{"fence":9007199254740993,"reason":"r"}`, `{"fence":null,"reason":"r"}`, `{"fence":"9","reason":"r"}`),
	inOrder("extend", `{"fence":9,"seconds":1,"reason":"r"}`, `{"fence":9,"seconds":120,"reason":"r"}`),
	outOfOrder("extend", `{"fence":9,"reason":"r"}`, `{"fence":9,"seconds":0,"reason":"r"}`,
		`{"fence":9,"seconds":121,"reason":"r"}`, `{"fence":9,"seconds":1.5,"reason":"r"}`),
	inOrder("remove", `{"ticket":99,"reason":"r"}`),
	outOfOrder("remove", `{"reason":"r"}`, `{"ticket":0,"reason":"r"}`,
		`{"ticket":9007199254740993,"reason":"r"}`, `{"tickets":[],"reason":"r"}`, `{"tickets":[0],"reason":"r"}`,
		`{"ticket":99,"tickets":[99],"reason":"r"}`),
	inOrder("remove", `{"tickets":[98,99],"reason":"r"}`),
	inOrder("restore", `{"ticket":99,"reason":"r"}`),
	outOfOrder("restore", `{"reason":"r"}`, `{"ticket":0,"reason":"r"}`),
	inOrder("move", `{"ticket":99,"position":1,"reason":"r"}`),
	outOfOrder("move", `{"ticket":99,"reason":"r"}`, `{"ticket":99,"position":0,"reason":"r"}`,
		`{"ticket":99,"position":9007199254740993,"reason":"r"}`),
	inOrder("assign", `{"message_id":"m-1","fence":9,"reason":"r"}`),
	outOfOrder("assign", `{"fence":9,"reason":"r"}`, `{"message_id":"","fence":9,"reason":"r"}`,
		`{"message_id":"`+long(129)+`","fence":9,"reason":"r"}`),
	queries("history", false, "", "seller=s-1&from=2026-11-21&to=2026-11-21T03:00:54Z&limit=1&format=json",
		"from=1795230054&to=1795230054000", "format=csv&bom=1", "limit=2147483647"),
	queries("history", true, "seller=a%20b", "seller="+long(65), "from=yesterday", "from=17952300",
		"to=2026-13-01", "to=2026-11-21T03:00:54", "limit=0", "limit=-1", "limit=x", "limit=2147483648",
		"format=xml"),
	queries("timeline", false, "seller=s-1", "seller=s-1&from=2026-11-21&limit=5"),
	queries("timeline", true, "", "seller=", "seller=a%20b", "seller=s-1&from=x", "seller=s-1&limit=0"),
}

func TestDescriptionRefusesWhatTheServerRefuses(t *testing.T) {
	r := start(t, config(t, append(supportArgs(t), "--sms-webhook-secret", smsSecret)...))
	kim := newAgent(t, r.URL(), "kim")
	operations := map[string]describetest.Operation{}
	for _, op := range described.Operations() {
		operations[op.ID] = op
	}
	header := http.Header{"Webhook-Id": {"m-1"}, "Webhook-Timestamp": {"1795230054"},
		"Webhook-Signature": {"v1,AAAA"}}
	for _, a := range slices.Concat(requests...) {
		t.Run(a.id, func(t *testing.T) {
			query, err := url.ParseQuery(a.query)
			require.NoError(t, err)
			got := a.ask(t, r.URL(), operations[a.id], kim)
			require.Less(t, got.StatusCode, http.StatusTooManyRequests, got.body)
			require.Equal(t, a.refused, got.StatusCode == http.StatusBadRequest, "the server answers %v with %s", a,
				got.body)
			err = described.Request(a.id, query, header, []byte(a.body))
			require.Equal(t, a.refused, err != nil, "the description says of %v: %v", a, err)
		})
	}
}

// ask sends the request, each time as another client.
func (a asked) ask(t *testing.T, base string, op describetest.Operation, kim *seller) reply {
	path := strings.Replace(op.Path, "{room}", "integration", 1) + "?" + a.query
	if a.id == "receiveSMS" {
		return carrierSays(t, base, "m-1", a.body)
	}
	who := newSeller(t, base, "")
	if strings.HasPrefix(op.Path, "/api/support/") {
		who = kim
	}
	if strings.Contains(a.body, "session_id") {
		who.session = ""
	}
	if op.Method == http.MethodGet || a.body == "" && a.id != "join" {
		return who.ask(op.Method, path, "")
	}
	return who.ask(op.Method, path, a.body, jsonHeader...)
}

func TestLongIdempotencyKeyIsRefusedAsDescribed(t *testing.T) {
	r := start(t, config(t, supportArgs(t)...))
	stranger, kim := newSeller(t, r.URL(), "s-1"), newAgent(t, r.URL(), "kim")
	for key, refused := range map[string]bool{strings.Repeat("k", 64): false, strings.Repeat("k", 65): true} {
		header := http.Header{"Idempotency-Key": {key}}
		for id, got := range map[string]reply{
			"expect": stranger.ask(http.MethodPost, lockPath+"/expect", bodies["expect"],
				append(jsonHeader, "Idempotency-Key", key)...),
			"pause": kim.ask(http.MethodPost, "/api/support/integration/pause", because("r"),
				append(jsonHeader, "Idempotency-Key", key)...),
		} {
			body := map[string]string{"expect": bodies["expect"], "pause": because("r")}[id]
			require.Equal(t, refused, got.StatusCode == http.StatusBadRequest, got.body)
			require.Equal(t, refused, described.Request(id, nil, header, []byte(body)) != nil)
		}
	}
}
