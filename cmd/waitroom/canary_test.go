package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testproc"
	"github.com/waitroom/waitroom/room"
)

// canary is the code that must not be found; every message carries it.
const canary = "73190284"

// receiver keeps what the integration is told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bodies = append(r.bodies, fmt.Sprint(req.Header, string(body)))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.bodies, "\n")
}

// get is an answer to a session.
func (s *single) get(session, path string) string {
	s.t.Helper()
	r, err := s.fleet.insist(s.t.Context(), 0, call{method: http.MethodGet, path: path, session: session})
	require.NoError(s.t, err)
	return r.body
}

// posts sends what no carrier would, and returns the answers.
func (s *single) posts(paths map[string]string) (answers string) {
	for path, body := range paths {
		m := &message{room: oneRoom, id: "bad", body: body}
		c := s.carrier.call(m)
		c.path = path
		r, err := s.fleet.insist(s.t.Context(), 0, c)
		require.NoError(s.t, err)
		answers += fmt.Sprintln(r.status, r.body)
		c.header = nil // not signed
		r, err = s.fleet.insist(s.t.Context(), 0, c)
		require.NoError(s.t, err)
		answers += fmt.Sprintln(r.status, r.body)
	}
	return answers
}

// sendCanary sends a message whose code is the canary, three times.
func (s *single) sendCanary(at time.Time, how stamp) *message {
	m, over := s.carrier.write(oneRoom, at, how), newPace()
	over.finish()
	m.body = strings.ReplaceAll(m.body, m.code, canary)
	require.NoError(s.t, s.carrier.deliver(s.t.Context(), m, route{twins: true, again: true}, over))
	return m
}

// A code goes through the whole server, well and badly; then everything that is not its holder's is searched for it.
func TestCodeIsNowhereButBeforeItsHolder(t *testing.T) {
	integration := newReceiver(t)
	url, dsn := sqliteFile(t)
	s := newSingle(t, "sqlite", url, dsn, "--webhook-url", integration.URL, "--webhook-secret", smsSecret,
		"--log-level", "debug", "--log-format", "json")
	published := s.subscribe()
	a, socket := s.join("a")
	b, others := s.join("b")
	c, _ := s.join("c")
	first := s.status(a)
	require.Equal(t, "matched", s.sendCanary(time.Now(), milliseconds).answer.Result)
	require.Equal(t, "late", s.sendCanary(first.GrantedAt, milliseconds).answer.Result)
	require.Equal(t, "unmatched", s.sendCanary(first.GrantedAt.Add(-time.Hour), milliseconds).answer.Result)
	require.Equal(t, "unmatched", s.sendCanary(first.GrantedAt, wholeSecond).answer.Result)
	out := map[string]string{}
	out["answers to what is wrong"] = s.posts(map[string]string{
		"/api/" + oneRoom + "/sms":       `{"message_id":"bad","text":"` + canary + `","sent_at":"` + canary + `"}`,
		"/api/" + oneRoom + "/sms?q=1":   `{"text":"` + canary,
		"/api/other/sms":                 `{"message_id":"bad","text":"` + canary + `"}`,
		"/api/" + oneRoom + "/sms?big=1": `{"message_id":"bad","text":"` + strings.Repeat(canary+" ", 4096) + `"}`,
		"/api/" + oneRoom + "/lock":      `{"message_id":"bad","text":"` + canary + `"}`,
	})

	s.awaitFrame(socket, canary)
	require.Contains(t, s.page(a), canary, "its holder sees it on reload")
	testproc.Until(t, patience, func() error { // granted, ended and matched of a
		if n := count(t, s.db, `SELECT COUNT(*) FROM outbox_tasks WHERE phase = 'done'`); n < 3 {
			return fmt.Errorf("%d tasks are done", n)
		}
		return nil
	})
	for name, session := range map[string]string{"the next holder": b, "a waiter": c, "nobody": ""} {
		out["page of "+name] = s.page(session)
		out["status for "+name] = s.get(session, "/api/"+oneRoom+"/lock/status")
	}
	for _, f := range others.frames() {
		out["frames of the next holder"] += f.raw + "\n"
	}
	out["metrics"] = s.get("", "/metrics")
	out["readyz"] = s.get("", "/readyz")
	out["webhooks"] = integration.told()
	require.Contains(t, out["webhooks"], "sms.matched")
	out["events"] = published()
	keys := s.keys()
	require.Contains(t, keys["{"+oneRoom+"}:inbox"], canary)
	delete(keys, "{"+oneRoom+"}:inbox")
	out["keys"] = fmt.Sprint(keys)
	s.fleet.members[0].process.Stop(syscall.SIGTERM)
	out["log"] = s.file(s.fleet.members[0].log)
	require.Contains(t, out["log"], `"level":"DEBUG"`)
	for _, path := range s.databaseFiles(url) {
		out[path] = s.file(path)
	}
	require.NotEmpty(t, s.databaseFiles(url))
	for where, content := range out {
		require.NotEmpty(t, content, where)
		requireNone(t, where, content, canary)
		if where != "keys" && where != "events" { // which never leave the store and the replicas
			requireNone(t, where, content, a)
			requireNone(t, where, content, strings.TrimPrefix(smsSecret, "whsec_"))
		}
	}
}

func requireNone(t *testing.T, where, content, secret string) {
	t.Helper()
	at := strings.Index(content, secret)
	require.Negative(t, at, "it is in %s: %.300q", where, content[max(0, at-200):])
}

// awaitFrame returns when a socket was told something.
func (s *single) awaitFrame(socket *socket, text string) {
	s.t.Helper()
	testproc.Until(s.t, patience, func() error {
		for _, f := range socket.frames() {
			if strings.Contains(f.raw, text) {
				return nil
			}
		}
		return fmt.Errorf("%d frames", len(socket.frames()))
	})
}

// subscribe collects all that is published until the returned function is called.
func (s *single) subscribe() func() string {
	sub := s.rdb.PSubscribe(s.t.Context(), "*")
	_, err := sub.Receive(s.t.Context())
	require.NoError(s.t, err)
	all := make(chan string, 1)
	go func() {
		var got strings.Builder
		for m := range sub.Channel(redis.WithChannelSize(10_000)) {
			got.WriteString(m.Channel + " " + m.Payload + "\n")
		}
		all <- got.String()
	}()
	return func() string {
		require.NoError(s.t, sub.Close())
		return <-all
	}
}

// keys reads every key of the store.
func (s *single) keys() map[string]string {
	s.t.Helper()
	ctx := s.t.Context()
	names, err := s.rdb.Keys(ctx, "*").Result()
	require.NoError(s.t, err)
	require.Contains(s.t, names, room.LockKey(oneRoom))
	found := map[string]string{}
	for _, name := range names {
		value, err := s.rdb.Do(ctx, "DUMP", name).Text()
		require.NoError(s.t, err)
		found[name] = name + value + s.plain(name)
	}
	return found
}

// plain is a key's value as commands tell it; DUMP may have compressed it.
func (s *single) plain(name string) string {
	ctx := s.t.Context()
	switch s.rdb.Type(ctx, name).Val() {
	case "string":
		return s.rdb.Get(ctx, name).String()
	case "hash":
		return s.rdb.HGetAll(ctx, name).String()
	case "zset":
		return s.rdb.ZRangeWithScores(ctx, name, 0, -1).String()
	case "stream":
		return s.rdb.XRange(ctx, name, "-", "+").String()
	}
	return ""
}

func (s *single) file(path string) string {
	s.t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(s.t, err)
	return string(content)
}

// databaseFiles are SQLite's file and what it keeps beside it, as bytes: every table, and what was deleted.
func (s *single) databaseFiles(url string) []string {
	found, err := filepath.Glob(strings.TrimPrefix(url, "sqlite:") + "*")
	require.NoError(s.t, err)
	var kept []string
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			kept = append(kept, path)
		}
	}
	return kept
}
