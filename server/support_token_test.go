package server

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

const historyPath = "/api/support/integration/history"

// makeToken makes an integration's token with the command that operators use.
func makeToken(t *testing.T, name, role string) (token, entry string) {
	t.Helper()
	var out, notes bytes.Buffer
	require.NoError(t, WriteSupportToken(&out, &notes, name, role))
	require.Contains(t, notes.String(), "WAITROOM_SUPPORT_TOKENS")
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 3)
	require.NotContains(t, notes.String()+lines[1], lines[0], "the token is in its own line alone")
	return lines[0], lines[1]
}

// asking returns a client that sends an integration's token.
func asking(t *testing.T, base, token string) *seller {
	s := newSeller(t, base, "")
	s.token = token
	return s
}

func TestTokensAreReadByNameRoleAndHash(t *testing.T) {
	letters, zeros := strings.Repeat("A", 64), strings.Repeat("0", 64)
	c, err := ParseConfig([]string{"--support-tokens",
		"zendesk:act:" + sha + ", zendesk:act:" + letters + "\r\nboard.tv:watch:" + zeros})
	require.NoError(t, err)
	require.Equal(t, []SupportToken{{"zendesk", "act", sha},
		{"zendesk", "act", Secret(strings.ToLower(letters))},
		{"board.tv", "watch", Secret(zeros)}}, c.SupportTokens)
	const form = " is not name:role:sha256; `waitroom support token NAME ROLE` makes one"
	for value, want := range map[string]string{
		"a:act:" + sha + ",hush": "entry 2" + form,
		"a:hush:" + sha:          "entry 1 has a role that is neither watch nor act",
		"a b:act:" + sha:         "entry 1 has a name of other than 1 to 48 letters",
		"a:act:hush, b:watch:hush": "entry 1 does not end in a SHA-256 of 64 hexadecimal digits: " +
			"`waitroom support token NAME ROLE` makes a token and its entry; entry 2 does not end",
		"a:act:" + sha + ",b:act:" + sha:     "entry 2 has the hash of entry 1: give each its own token",
		"hush,a:act:" + sha + ",a:act:hush":  "entry 1" + form + "; entry 3 does not end",
		"a:act:" + sha + ",a:watch:" + zeros: "entry 2 has the name of entry 1 and another role",
	} {
		_, err := ParseConfig([]string{"--support-tokens", value})
		require.ErrorContains(t, err, "WAITROOM_SUPPORT_TOKENS (--support-tokens): "+want)
		require.NotContains(t, err.Error(), "hush")
		require.NotContains(t, err.Error(), "\n")
	}
	long := strings.Repeat("a", 49)
	bad := [][]string{{"a b", "act"}, {"a", "admin"}, {"", "act"}, {"a:act", "act"}, {long, "act"}}
	for _, bad := range bad {
		var out bytes.Buffer
		require.ErrorContains(t, WriteSupportToken(&out, &out, bad[0], bad[1]), fmt.Sprintf("%q", bad[0]))
		require.Empty(t, out.String())
	}
}

func TestIntegrationAsksAndActsOnEveryReplicaAndIsInTheAudit(t *testing.T) {
	token, entry := makeToken(t, "zendesk", "act")
	watching, other := makeToken(t, "board", "watch")
	o := openOffice(t, "--support-tokens", entry+","+other)
	fence := newSeller(t, o.a.URL(), "a").join().number("fence")
	zendesk := asking(t, o.b.URL(), token)
	zendesk.mustAct("extend", fmt.Sprintf(`{"fence":%d,"seconds":60,"reason":"the caller asked"}`, fence))
	got := zendesk.history("", func(r reply) bool { return len(r.list("actions")) == 1 })
	require.Contains(t, got.body, `"who":"token:zendesk"`)
	require.NotContains(t, got.body, token)

	board := asking(t, o.a.URL(), watching)
	requireProblem(t, board.act("pause", `{"reason":"r"}`), http.StatusForbidden, "not_allowed")
	export := board.ask(http.MethodGet, historyPath+"?format=csv", "")
	rows, err := csv.NewReader(strings.NewReader(export.body)).ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(rows), 2)
	zendesk.history("", func(r reply) bool {
		return strings.Contains(r.body, `"who":"token:board","action":"exported"`)
	})
	for _, path := range []string{"/api/support/integration/ws", "/api/support/ws"} {
		for _, headers := range []http.Header{{}, {"Origin": {"https://evil.example"}}, {"Cookie": {"a=b"}}} {
			headers.Set("Authorization", "Bearer "+watching)
			options := &websocket.DialOptions{HTTPClient: newHTTP(t), HTTPHeader: headers}
			ws, _, err := websocket.Dial(t.Context(), o.a.URL()+path, options)
			require.NoError(t, err, headers)
			next(t, ws)
			require.NoError(t, ws.CloseNow())
		}
	}
	page := newAgent(t, o.a.URL(), "kim").ask(http.MethodGet, "/support/-/audit", "")
	require.Contains(t, page.body, "token:zendesk")
}

func TestRemovedTokenIsRefusedAfterTheRestart(t *testing.T) {
	old, entry := makeToken(t, "zendesk", "act")
	newer, replacing := makeToken(t, "zendesk", "act")
	args := append(supportArgs(t), "--redis-url", redistest.Lent(t).URL(), "--support-tokens")
	before := start(t, config(t, append(args, entry+","+replacing)...))
	for _, token := range []string{old, newer} {
		require.Equal(t, http.StatusOK, asking(t, before.URL(), token).act("pause", `{"reason":"r"}`).StatusCode)
	}
	require.NoError(t, before.stop(t))
	after := start(t, config(t, append(args, replacing)...))
	refused := asking(t, after.URL(), old).act("pause", `{"reason":"r"}`)
	requireProblem(t, refused, http.StatusUnauthorized, "not_signed_in")
	require.Equal(t, http.StatusOK, asking(t, after.URL(), newer).act("pause", `{"reason":"r"}`).StatusCode)
}

func TestUnknownTokensAreLimitedWhateverTheyAskFor(t *testing.T) {
	token, entry := makeToken(t, "zendesk", "watch")
	o := openOffice(t, "--support-tokens", entry)
	wrong := asking(t, o.a.URL(), "waitroom_guess")
	for range 50 {
		requireProblem(t, wrong.ask(http.MethodGet, historyPath, ""), http.StatusUnauthorized, "not_signed_in")
	}
	for _, op := range described.Operations() {
		if !strings.HasPrefix(op.Path, "/api/support/") {
			continue
		}
		path := strings.Replace(op.Path, "{room}", "integration", 1)
		got := wrong.at(o.b.URL()).ask(op.Method, path, `{"reason":"r"}`, jsonHeader...)
		requireProblem(t, got, http.StatusTooManyRequests, "too_many_requests")
		require.NotEmpty(t, got.Header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusOK, asking(t, o.a.URL(), token).ask(http.MethodGet, historyPath, "").StatusCode)
	kim := newAgent(t, o.a.URL(), "kim")
	require.Eventually(t, func() bool {
		page := kim.ask(http.MethodGet, "/support/-/audit?room=support", "").body
		return strings.Contains(page, "알 수 없는 토큰") && strings.Contains(page, ">127.0.0.1</td>") &&
			strings.Contains(page, "토큰을 너무 많이 보냄")
	}, patience, 20*time.Millisecond)
}
