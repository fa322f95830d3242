package server

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/web/signin"
)

// supportArgs returns the arguments of a server on which kim and lee can sign in.
func supportArgs(t *testing.T) []string {
	t.Helper()
	var users []string
	for _, name := range []string{"kim", "lee"} {
		hash, err := bcrypt.GenerateFromPassword([]byte(name+"'s password"), bcrypt.MinCost)
		require.NoError(t, err)
		users = append(users, name+":"+string(hash))
	}
	return []string{"--support-users", strings.Join(users, ",")}
}

// office is two replicas with one store and one ledger.
type office struct{ a, b *replica }

func openOffice(t *testing.T, args ...string) office {
	t.Helper()
	args = append(append(supportArgs(t), "--redis-url", redistest.Lent(t).URL()), args...)
	cfg := config(t, args...)
	return office{start(t, cfg), start(t, cfg)}
}

// newAgent returns an agent of support with a browser that signed in at one replica; the sign-in is valid on
// the others, too.
func newAgent(t *testing.T, base, name string) *seller {
	t.Helper()
	s := newReader(t, base)
	got := s.submit("/support/sign-in", "username", name, "password", name+"'s password", "next",
		"/support/integration")
	require.Equal(t, http.StatusOK, got.StatusCode, got.body)
	require.Equal(t, "/support/integration", got.Request.URL.Path)
	return s
}

// at returns the same browser at another replica.
func (s *seller) at(base string) *seller {
	other := *s
	other.base = base
	return &other
}

func (s *seller) act(action, body string, headers ...string) reply {
	s.t.Helper()
	return s.ask(http.MethodPost, "/api/support/integration/"+action, body,
		append([]string{asJSON, jsonType}, headers...)...)
}

func (s *seller) mustAct(action, body string) reply {
	s.t.Helper()
	got := s.act(action, body)
	require.Equal(s.t, http.StatusOK, got.StatusCode, "%s: %s", action, got.body)
	require.Equal(s.t, "done", got.text("status"))
	return got
}

// history reads the history until an answer fulfils a condition, and returns that answer.
func (s *seller) history(query string, has func(reply) bool) (got reply) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		got = s.ask(http.MethodGet, "/api/support/integration/history"+query, "")
		return got.StatusCode == http.StatusOK && has(got)
	}, patience, 20*time.Millisecond, got.body)
	return got
}

func (r reply) list(name string) []any {
	list, _ := r.json[name].([]any)
	return list
}

func TestEveryActionIsDoneOnAnyReplicaAndIsInTheAudit(t *testing.T) {
	o := openOffice(t)
	a, b, c, d := newSeller(t, o.a.URL(), "a"), newSeller(t, o.a.URL(), "b"), newSeller(t, o.a.URL(), "c"),
		newSeller(t, o.a.URL(), "d")
	first := a.join()
	for _, s := range []*seller{b, c, d} {
		s.join()
	}
	kim := newAgent(t, o.a.URL(), "kim").at(o.b.URL())

	got := kim.mustAct("extend", fmt.Sprintf(`{"fence":%s,"seconds":60,"reason":"the code is slow"}`,
		first.json["fence"]))
	require.Equal(t, first.json["fence"], got.json["fence"])
	require.Greater(t, a.status().me().text("expires_at"), first.text("expires_at"))
	kim.mustAct("move", `{"ticket":4,"position":1,"reason":"waited before"}`)
	require.EqualValues(t, 1, d.status().me().number("queue_position"))
	kim.mustAct("remove", `{"ticket":3,"reason":"asked by telephone"}`)
	require.Equal(t, "removed", c.status().me().text("outcome"))
	for range 2 { // pressed twice: the place is put back once
		got = kim.mustAct("restore", `{"ticket":3,"reason":"another one asked"}`)
		require.EqualValues(t, 5, got.number("ticket"))
	}
	require.EqualValues(t, 1, c.status().me().number("queue_position"))
	require.EqualValues(t, 5, c.status().me().number("ticket"))
	kim.mustAct("remove", `{"ticket":5,"reason":"asked again"}`)
	kim.mustAct("pause", `{"reason":"carrier is down"}`)
	require.Equal(t, true, a.status().json["paused"])
	kim.mustAct("release", fmt.Sprintf(`{"fence":%s,"reason":"=forced()"}`, first.json["fence"]))
	require.Equal(t, "forced", a.status().me().text("outcome"))
	require.Equal(t, "waiting", d.status().me().text("status"), "nobody is granted while paused")
	kim.mustAct("resume", `{"reason":"carrier is back"}`)
	require.Equal(t, "locked", d.status().me().text("status"))

	all := kim.history("", func(r reply) bool { return len(r.list("actions")) == 8 })
	var rows []string
	for _, row := range all.list("actions") {
		row, _ := row.(map[string]any)
		require.Equal(t, "kim", row["who"])
		rows = append(rows, fmt.Sprint(row["action"], ": ", row["reason"]))
	}
	require.Equal(t, []string{"extend: the code is slow", "move: waited before", "remove: asked by telephone",
		"restore: another one asked", "remove: asked again", "pause: carrier is down",
		"release: =forced()", "resume: carrier is back"}, rows)
	for _, s := range []*seller{a, b, c, d} {
		require.NotContains(t, all.body, s.session)
	}
	for _, done := range []string{`"seller_id":"a","seconds":60`,
		`"seller_id":"d","from_position":3,"to_position":1`, `"seller_id":"c"`} {
		require.Contains(t, all.body, done)
		require.Contains(t, kim.ask(http.MethodGet, "/api/support/audit?who=kim", "").body, done)
	}
	moves := kim.ask(http.MethodGet, "/api/support/audit?action=move&room=integration", "").list("actions")
	require.Len(t, moves, 1)
	file := kim.ask(http.MethodGet, "/api/support/audit?format=csv&lang=en&room=integration", "")
	require.Contains(t, file.body, "Moved in the line,integration,d,4,,,3,1,,waited before")
	page := kim.ask(http.MethodGet, "/support/-/audit?lang=en", "").body
	require.Contains(t, page, "carrier is down")
	require.Contains(t, page, "from 3 to 1")
	require.Contains(t, page, "60 s more")
}

// Support removes all places of one address, which it knows by a digest alone.
func TestPlacesOfOneAddressAreRemovedTogetherWithOneReason(t *testing.T) {
	o := openOffice(t, "--trusted-proxies", "127.0.0.1")
	kim := newAgent(t, o.b.URL(), "kim")
	var sellers []*seller
	for i, address := range []string{"198.51.100.1", "203.0.113.7", "198.51.100.2", "203.0.113.7", "203.0.113.7"} {
		s := newSeller(t, o.a.URL(), fmt.Sprint("s-", i))
		got := s.ask(http.MethodPost, lockPath, fmt.Sprintf(`{"seller_id":%q,"session":%q}`, s.id, s.session),
			asJSON, jsonType, "X-Forwarded-For", address)
		require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, got.StatusCode, got.body)
		sellers = append(sellers, s)
	}
	found := kim.ask(http.MethodGet, "/api/support/integration/addresses", "")
	require.Equal(t, http.StatusOK, found.StatusCode, found.body)
	require.NotContains(t, found.body, "203.0.113.7")
	rows := found.list("addresses")
	require.Len(t, rows, 1)
	row, _ := rows[0].(map[string]any)
	require.Equal(t, json.Number("3"), row["places"])
	got := kim.mustAct("remove", `{"tickets":[2,4,5],"reason":"one person in three places"}`)
	require.EqualValues(t, 3, got.number("removed"))
	for i, want := range []string{"locked", "ended", "waiting", "ended", "ended"} {
		require.Equal(t, want, sellers[i].status().me().text("status"))
	}
	require.Equal(t, http.StatusConflict,
		kim.act("remove", `{"tickets":[2,4],"reason":"again"}`).StatusCode)
	all := kim.history("", func(r reply) bool { return len(r.list("actions")) == 3 })
	require.Equal(t, 3, strings.Count(all.body, `"reason":"one person in three places"`))
	for _, seller := range []string{"s-1", "s-3", "s-4"} {
		story := kim.ask(http.MethodGet, "/support/-/sellers/"+seller+"?room=integration&lang=en", "").body
		require.Contains(t, story, "one person in three places", "the timeline of each has it")
	}
}

func TestStaleActionIsRefusedAndChangesNothing(t *testing.T) {
	o := openOffice(t)
	a, b := newSeller(t, o.a.URL(), "a"), newSeller(t, o.a.URL(), "b")
	fence := a.join().number("fence")
	b.join()
	before := b.status()
	kim := newAgent(t, o.a.URL(), "kim")
	for _, tc := range []struct {
		action, body string
		status       int
		code         string
	}{
		{"release", fmt.Sprintf(`{"fence":%d,"reason":"r"}`, fence-1), 409, "stale_fence"},
		{"release", fmt.Sprintf(`{"fence":%d,"reason":"r"}`, fence+1), 409, "stale_fence"},
		{"extend", fmt.Sprintf(`{"fence":%d,"seconds":1,"reason":"r"}`, fence-1), 409, "stale_fence"},
		{"remove", `{"ticket":1,"reason":"r"}`, 409, "stale_ticket"},
		{"remove", `{"ticket":9,"reason":"r"}`, 409, "stale_ticket"},
		{"move", `{"ticket":1,"position":1,"reason":"r"}`, 409, "stale_ticket"},
		{"restore", `{"ticket":1,"reason":"r"}`, 409, "stale_ticket"},
		{"assign", fmt.Sprintf(`{"message_id":"m","fence":%d,"reason":"r"}`, fence), 404, "no_message"},
		{"release", fmt.Sprintf(`{"fence":%d}`, fence), 400, "invalid_reason"},
	} {
		requireProblem(t, kim.act(tc.action, tc.body), tc.status, tc.code)
	}
	stranger := newSeller(t, o.a.URL(), "")
	requireProblem(t, stranger.act("pause", `{"reason":"r"}`), 401, "not_signed_in")
	requireProblem(t, kim.act("pause", `{"reason":"r"}`, "Origin", "https://evil.example"), 403, "cross_site")
	after := b.status()
	require.Equal(t, before.json["version"], after.json["version"])
	require.Equal(t, "waiting", after.me().text("status"))

	for range 4 {
		kim.mustAct("extend", fmt.Sprintf(`{"fence":%d,"seconds":120,"reason":"r"}`, fence))
	}
	requireProblem(t, kim.act("extend", fmt.Sprintf(`{"fence":%d,"seconds":1,"reason":"r"}`, fence)), 409,
		"lease_too_long")
}

func TestRepeatedActionWithItsKeyIsDoneOnce(t *testing.T) {
	o := openOffice(t)
	fence := newSeller(t, o.a.URL(), "a").join().number("fence")
	kim := newAgent(t, o.a.URL(), "kim")
	body := fmt.Sprintf(`{"fence":%d,"reason":"r"}`, fence)
	for _, base := range []string{o.a.URL(), o.b.URL()} {
		require.Equal(t, http.StatusOK, kim.at(base).act("release", body, "Idempotency-Key", "k").StatusCode)
	}
	requireProblem(t, kim.act("release", body), 409, "stale_fence")
	requireProblem(t, newAgent(t, o.a.URL(), "lee").act("release", body, "Idempotency-Key", "k"), 409,
		"stale_fence")
}

func TestSignOutCountsOnEveryReplicaAtOnce(t *testing.T) {
	o := openOffice(t)
	kim := newAgent(t, o.a.URL(), "kim")
	there := kim.at(o.b.URL())
	cookie := cookieIn(t, kim, "waitroom_support")
	require.Equal(t, http.StatusOK, there.ask("GET", "/api/support/integration/history", "").StatusCode)
	out := kim.submit("/support/sign-out")
	require.Equal(t, "/support/sign-in", out.Request.URL.Path)
	requireProblem(t, there.ask("GET", "/api/support/integration/history", "", "Cookie", cookie), 401,
		"not_signed_in")
	form := there.ask("GET", "/support/integration?x=1", "", "Cookie", cookie)
	require.Equal(t, "/support/sign-in", form.Request.URL.Path)
	require.Equal(t, "/support/integration?x=1", form.Request.URL.Query().Get("next"))
}

func TestAdministratorEndsAnotherSignInOnEveryReplicaAtOnce(t *testing.T) {
	o := openOffice(t)
	kim, lee := newAgent(t, o.a.URL(), "kim"), newAgent(t, o.b.URL(), "lee")
	page := lee.ask("GET", "/support/-/sign-ins", "")
	require.Equal(t, http.StatusOK, page.StatusCode)
	_, token, _ := strings.Cut(cookieIn(t, kim, "waitroom_support"), "=")
	end := "/support/-/sign-ins/" + signin.KeyOf(token) + "/end"
	require.Contains(t, page.body, end)
	require.NotContains(t, page.body, token)
	lee.ask("POST", end, "reason=the+laptop+was+stolen", "Content-Type", "application/x-www-form-urlencoded")
	requireProblem(t, kim.ask("GET", "/api/support/integration/history", ""), 401, "not_signed_in")
	require.Equal(t, http.StatusOK, lee.ask("GET", "/api/support/integration/history", "").StatusCode)
	testproc.Until(t, patience, func() error {
		for _, row := range lee.ask("GET", "/api/support/audit?action=sign_in_ended", "").list("actions") {
			row, _ := row.(map[string]any)
			require.Equal(t, "of kim: the laptop was stolen", row["reason"])
			require.Equal(t, "127.0.0.1", row["address"])
			return nil
		}
		return errors.New("the end is not in the audit")
	})
}

func TestSignOutOfASignInThatTheStoreLostClosesItsSockets(t *testing.T) {
	o := openOffice(t)
	kim := newAgent(t, o.a.URL(), "kim")
	cookie := cookieIn(t, kim, "waitroom_support")
	var sockets []*websocket.Conn
	for _, r := range []*replica{o.a, o.b} {
		ws, _, err := websocket.Dial(t.Context(), r.URL()+"/api/support/ws",
			&websocket.DialOptions{HTTPClient: newHTTP(t),
				HTTPHeader: http.Header{"Cookie": {cookie}, "Origin": {r.URL()}}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = ws.CloseNow() })
		require.Equal(t, "rooms", next(t, ws)["type"])
		sockets = append(sockets, ws)
	}
	_, token, _ := strings.Cut(cookie, "=")
	require.EqualValues(t, 1, o.a.store.Client.Del(t.Context(),
		"{waitroom-support}:session:"+signin.KeyOf(token)).Val())
	signedOut := o.b.store.Client.Subscribe(t.Context(), "{waitroom}:signed-out")
	t.Cleanup(func() { _ = signedOut.Close() })
	_, err := signedOut.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, "/support/sign-in", kim.submit("/support/sign-out").Request.URL.Path)
	message, err := signedOut.ReceiveTimeout(t.Context(), patience)
	require.NoError(t, err, "every replica receives the sign-out, without polling")
	require.Equal(t, signin.KeyOf(token), message.(*redis.Message).Payload)
	for _, ws := range sockets {
		require.Equal(t, websocket.StatusCode(4501), closeOf(t, ws))
	}
}

// closeOf reads until the other side closes, and returns the code.
func closeOf(t *testing.T, ws *websocket.Conn) websocket.StatusCode {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := ws.Read(ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// cookieIn returns a cookie of the jar as a header's value.
func cookieIn(t *testing.T, s *seller, name string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.base, nil)
	require.NoError(t, err)
	jar, _ := s.http.Jar.(*cookiejar.Jar)
	for _, c := range jar.Cookies(r.URL) {
		if c.Name == name {
			return c.Name + "=" + c.Value
		}
	}
	require.Fail(t, "no such cookie", name)
	return ""
}

func TestWrongPasswordIsRefusedAndInTheAudit(t *testing.T) {
	o := openOffice(t)
	s := newReader(t, o.a.URL())
	got := s.submit("/support/sign-in", "username", "kim", "password", "guess")
	require.Equal(t, http.StatusUnauthorized, got.StatusCode)
	require.NotContains(t, got.body, "guess")
	require.Empty(t, got.Header.Values("Set-Cookie"))
	kim := newAgent(t, o.b.URL(), "kim")
	require.Eventually(t, func() bool {
		page := kim.ask("GET", "/support/-/audit?who=kim", "").body
		return strings.Contains(page, "비밀번호가 틀림") && strings.Contains(page, "비밀번호로 로그인")
	}, patience, 20*time.Millisecond)
}

func TestOneTimePasswordIsSaidAtTheStartAndWorksOnce(t *testing.T) {
	log := &testproc.Log{}
	cfg := config(t)
	s, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	r := run(t, s)
	var found []string
	require.Eventually(t, func() bool {
		found = regexp.MustCompile(`support signs in at (\S+) .*password=(\S+)`).FindStringSubmatch(log.String())
		return found != nil
	}, patience, time.Millisecond)
	require.Equal(t, r.URL()+"/support/sign-in", found[1])
	form := []string{"username", "support", "password", found[2]}
	require.Equal(t, "/support", newReader(t, r.URL()).submit("/support/sign-in", form...).Request.URL.Path)
	require.Equal(t, http.StatusUnauthorized,
		newReader(t, r.URL()).submit("/support/sign-in", form...).StatusCode)

	quiet := &testproc.Log{}
	s, err = New(t.Context(), config(t, supportArgs(t)...), slog.New(slog.NewTextHandler(quiet, nil)))
	require.NoError(t, err)
	require.NoError(t, run(t, s).stop(t))
	require.NotContains(t, quiet.String(), "password")
}

func TestReportSumsUpTheDaysOfARoom(t *testing.T) {
	o := openOffice(t)
	a, b := newSeller(t, o.a.URL(), "a"), newSeller(t, o.a.URL(), "b")
	fence := a.join().number("fence")
	b.join()
	kim := newAgent(t, o.a.URL(), "kim")
	kim.mustAct("release", fmt.Sprintf(`{"fence":%d,"reason":"test"}`, fence))
	kim.history("", func(r reply) bool {
		return len(r.list("actions")) == 1 && len(r.list("leases")) == 2 && len(r.list("places")) == 2
	})
	const path = "/api/support/integration/report"
	days := kim.ask("GET", path, "").list("days")
	require.Len(t, days, 7)
	sum := map[string]int64{}
	for _, day := range days { // the test may run over midnight
		for name, n := range day.(map[string]any) {
			if n, ok := n.(json.Number); ok {
				count, err := n.Int64()
				require.NoError(t, err)
				sum[name] += count
			}
		}
	}
	require.Equal(t, []int64{2, 1, 0}, []int64{sum["joined"], sum["forced"], sum["completed"]})
	records, err := csv.NewReader(strings.NewReader(kim.ask("GET", path+"?format=csv", "").body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 1+7)
	require.Equal(t, "day", strings.TrimPrefix(records[0][0], "\ufeff"))
	for _, wrong := range []string{"?from=yesterday", "?from=2026-02-02&to=2026-02-01", "?from=2020-01-01"} {
		requireProblem(t, kim.ask("GET", path+wrong, ""), http.StatusBadRequest, "invalid_time")
	}
	page := kim.ask("GET", "/support/integration/report?lang=ko&from=2026-02-01&to=2026-02-28", "")
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Contains(t, page.body, "2026-02-28")
}

func TestExportHasTheRowsOfTheHistory(t *testing.T) {
	o := openOffice(t)
	a, b := newSeller(t, o.a.URL(), "@a"), newSeller(t, o.a.URL(), "-한글")
	fence := a.join().number("fence")
	b.join()
	kim := newAgent(t, o.a.URL(), "kim")
	kim.mustAct("release", fmt.Sprintf(`{"fence":%d,"reason":"=1+1, \"quoted\"\nand a second line"}`, fence))
	has := func(r reply) bool {
		return len(r.list("actions")) == 1 && len(r.list("leases")) == 2 && len(r.list("places")) == 2
	}
	rows := kim.history("", has)
	got := kim.ask("GET", "/api/support/integration/history?format=csv", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "100000", got.Header.Get("X-Row-Limit"))
	records, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 1+5)
	byKind := map[string]int{}
	for _, r := range records[1:] {
		byKind[r[0]]++
	}
	require.Equal(t, map[string]int{"lease": 2, "place": 2, "action": 1}, byKind)
	require.Contains(t, got.body, "'@a")
	require.Contains(t, got.body, "'-한글")
	require.Contains(t, got.body, `"'=1+1, ""quoted""`)
	require.Nil(t, rows.json["next"])
	require.NotContains(t, got.body+rows.body, a.session)

	one := kim.ask("GET", "/api/support/integration/history?format=csv&limit=1", "")
	cut, err := csv.NewReader(strings.NewReader(one.body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, cut, 1+1+1)
	require.Equal(t, "more", cut[2][0])
	rest := kim.ask("GET", "/api/support/integration/history?cursor="+cut[2][1], "")
	// the history may have this action by now
	actions := slices.DeleteFunc(rest.list("actions"),
		func(a any) bool { return a.(map[string]any)["action"] == "exported" })
	require.Len(t, append(append(rest.list("leases"), rest.list("places")...), actions...), 4)
	require.Len(t, kim.ask("GET", "/api/support/integration/history?seller=%40a", "").list("places"), 1)

	kim.history("", func(r reply) bool { return strings.Count(r.body, `"exported"`) == 2 })
	require.Equal(t, 200, kim.ask("GET", "/api/support/integration/timeline?seller=%40a", "").StatusCode)
	require.Eventually(t, func() bool {
		looked := kim.ask("GET", "/api/support/audit?action=looked", "").list("actions")
		return len(looked) == 1 && looked[0].(map[string]any)["reason"] == "room=integration&seller=@a" &&
			looked[0].(map[string]any)["address"] == "127.0.0.1"
	}, patience, 20*time.Millisecond, "the audit has the look, and from where")
	for _, path := range []string{"/api/support/integration/history?format=csv&note=x", "/api/support/audit",
		"/api/support/integration/timeline?seller=a"} {
		requireProblem(t, kim.ask("GET", path, "", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors",
			"Sec-Fetch-Dest", "image"), 403, "cross_site")
	}
	requireProblem(t, kim.ask("GET", "/api/support/integration/history?cursor=nobodys", ""), 400,
		"invalid_cursor")
}

func TestTimelineShowsWhatHappenedBeforeTheLedgerHasIt(t *testing.T) {
	o := openOffice(t)
	a := newSeller(t, o.a.URL(), "판매자")
	fence := a.join().number("fence")
	kim := newAgent(t, o.a.URL(), "kim")
	kim.mustAct("release", fmt.Sprintf(`{"fence":%d,"reason":"the seller asked"}`, fence))
	for _, base := range []string{o.a.URL(), o.b.URL()} {
		got := kim.at(base).ask("GET", "/api/support/integration/timeline?seller=판매자", "")
		require.Equal(t, http.StatusOK, got.StatusCode, got.body)
		var kinds []string
		for _, e := range got.list("events") {
			e, _ := e.(map[string]any)
			kinds = append(kinds, fmt.Sprint(e["kind"]))
		}
		require.Equal(t, []string{"joined", "granted", "action", "ended"}, kinds, got.body)
		require.NotContains(t, got.body, a.session)
		page := kim.at(base).ask("GET", "/support/-/sellers/판매자", "")
		require.Equal(t, http.StatusOK, page.StatusCode)
		require.Contains(t, page.body, "the seller asked")
		require.NotContains(t, page.body, a.session)
	}
}

func TestTimelineShowsRefusedJoinsOfTheSeller(t *testing.T) {
	o := openOffice(t)
	a, b := newSeller(t, o.a.URL(), "판매자"), newSeller(t, o.b.URL(), "판매자")
	a.join()
	answer := b.join()
	requireProblem(t, answer, http.StatusConflict, "seller_has_place")
	require.NotContains(t, answer.body, "ticket", "the caller may be another person")
	a.leave("")
	require.Equal(t, http.StatusOK, b.join().StatusCode)
	kim := newAgent(t, o.a.URL(), "kim")
	var got reply
	refused := func() bool {
		got = kim.ask("GET", "/api/support/integration/timeline?seller=판매자", "")
		return strings.Contains(got.body, `"kind":"refused","times":1`)
	}
	require.Eventually(t, refused, patience, 50*time.Millisecond)
	require.Regexp(t, `"ticket":"?1"?,"fence":[^,]*,"kind":"refused"`, got.body, "the place that refused it")
	require.NotContains(t, got.body, b.session)
	require.NotContains(t, got.body, "127.0.0.1")
	page := kim.ask("GET", "/support/-/sellers/판매자?lang=ko", "")
	require.Contains(t, page.body, "다른 브라우저나 기기에서 같은 판매자 ID로 줄을 서려다 1번 거절됐어요")
}

func TestExportOfManyRowsIsStreamed(t *testing.T) {
	r := start(t, config(t, supportArgs(t)...))
	_, err := r.db.SQL().ExecContext(t.Context(),
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
		INSERT INTO places (room, epoch, ticket, seller, joined_at) SELECT 'integration', 1, i, 's-' || i, 1700000000000 + i / 7 FROM n`)
	require.NoError(t, err)
	kim := newAgent(t, r.URL(), "kim")
	got := kim.ask("GET", "/api/support/integration/history?format=csv", "")
	records, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 5001)
	seen := map[string]bool{}
	for _, row := range records[1:] {
		seen[row[2]] = true
	}
	require.Len(t, seen, 5000, "each once")
}
