package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// Texts that must not leak. Every message has this code, as a reader writes it, and once more in its tail.
const (
	canary       = "7319028" // and a digit of the message's own: the same code is another seller's
	canaryText   = "7319-028"
	canaryWide   = "７３１９０２８"
	canaryTail   = "QXZVKW"
	canarySender = "02-7319-5566"
)

// secrets may appear to the holder alone; the others are no secret in the store, but may not leave it.
var (
	secrets = []string{canary, canaryText, canaryWide, canaryTail, canarySender,
		strings.ReplaceAll(canarySender, "-", ""), "7319-5566", smsSecret, rawSecret}
	rawSecret = strings.TrimPrefix(smsSecret, "whsec_")
)

// receiver keeps the events that the integration received.
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

func (r *receiver) received() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.bodies, "\n")
}

// get returns the answer to a session.
func (s *single) get(session, path string) string {
	s.t.Helper()
	r, err := s.fleet.insist(s.t.Context(), 0, call{method: http.MethodGet, path: path, session: session})
	require.NoError(s.t, err)
	return r.body
}

// posts sends malformed messages, and returns the answers.
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

// canaryContent returns a message with the canary as its code, and the word that only this message has.
func (s *single) canaryContent(digit string) (l content, word string) {
	word = s.carrier.word()
	return content{sender: canarySender, code: canary + digit, text: "[" + word + "] 인증번호는 [" + canaryText + digit +
		"] 입니다. (" + canaryWide + digit + ")\n" +
		"@seller.example.com #" + canary + digit + " " + canaryTail}, word
}

// sendCanary sends a message with the canary three times, requires the answer `want`, and returns the
// message's own word.
func (s *single) sendCanary(digit, want string, at time.Time, how stamp) (*message, string) {
	s.t.Helper()
	l, word := s.canaryContent(digit)
	m := s.bring(s.carrier.compose(oneRoom, l, at, how), route{twins: true, again: true})
	require.Equal(s.t, want, strings.TrimSpace(m.answer.Result+" "+m.answer.Reason))
	return m, word
}

// A code takes every successful and every failing way through the server. Then the test searches for it in
// everything but its holder's own view.
func TestCodeIsNowhereButBeforeItsHolder(t *testing.T) {
	t.Parallel()
	integration := newReceiver(t)
	url, dsn := sqliteFile(t)
	store := redistest.StartWith(t,
		redistest.Config{Args: []string{"--appendonly", "yes", "--rdbcompression", "no",
			"--slowlog-log-slower-than", "0", "--slowlog-max-len", "1000000"}})
	monitored := monitor(t, store.Addr())
	rooms := filepath.Join(t.TempDir(), "rooms.yaml") // the senders of a room without a list are shown to support
	require.NoError(t, os.WriteFile(rooms, []byte(oneRoom+": {sms_from: ["+canarySender+"]}\n"), 0o600))
	s := newSingleOn(t, store, "sqlite", url, dsn, "--rooms-file", rooms, "--webhook-url", integration.URL, "--webhook-secret",
		smsSecret,
		"--log-level", "debug", "--log-format", "json", "--support-users", supportUsers(t))
	agent := newAgent(t, s.fleet.members[0].url)
	roomDesk, allRooms := agent.watch("/api/support/"+oneRoom+"/ws"), agent.watch("/api/support/ws")
	published := s.subscribe()
	a, ofA := s.join("a")
	b, ofB := s.join("b")
	c, ofC := s.join("c")
	d, ofD := s.join("d")
	first := s.status(a)
	s.expect(a, first.Fence, `,"from":["`+canarySender+`"]`)
	asked := time.UnixMilli(s.expect(a, first.Fence, ""))
	if asked.Nanosecond() == 0 {
		// avoid a time that counts as a whole second, which would reach into the next lease
		asked = asked.Add(time.Millisecond)
	}
	m, toA := s.sendCanary("1", "matched", asked, milliseconds)
	s.awaitFrame(ofA, toA)
	within := time.Now().Add(time.Millisecond - time.Duration(time.Now().Nanosecond())%time.Millisecond)
	require.NoError(t, linger(t.Context(), 10*time.Millisecond))
	require.Equal(t, http.StatusOK, s.do(http.MethodDelete, a, "/lock?reason=completed", "").status)
	_, lateToA := s.sendCanary("2", "late", within, milliseconds) // it answers a's second ask
	s.awaitFrame(ofA, lateToA)
	again := s.bring(s.carrier.compose(oneRoom, m.content, time.Now(), milliseconds), route{again: true})
	require.Equal(t, answer{"matched", "", first.Ticket, first.Fence, true}, again.answer)
	_, toB := s.sendCanary("3", "matched", time.Now(), milliseconds)
	s.awaitFrame(ofB, toB)
	// a message without a time may be older than it seems by the difference of the clocks
	require.NoError(t, linger(t.Context(), clocksDiffer*time.Millisecond))
	m, toC := s.sendCanary("4", "matched", time.Now(), noTime)
	s.awaitFrame(ofC, toC)
	s.reject(c, m)
	stray, unmatched := s.sendCanary("5", "unmatched no_lease", first.GrantedAt.Add(-time.Hour), milliseconds)
	other, anybodys := s.sendCanary("6", "unmatched ambiguous", first.GrantedAt, clockAhead)
	roomDesk.await(t, `"ambiguous"`) // before it is assigned
	out := map[string]string{}
	out["answers to what is wrong"] = s.posts(map[string]string{
		"/api/" + oneRoom + "/sms":     `{"message_id":"bad","text":"` + canary + `","sent_at":"` + canary + `"}`,
		"/api/" + oneRoom + "/sms?q=1": `{"text":"` + canary,
		"/api/" + oneRoom + "/sms?q=2": `{"message_id":"bad","from":"` + canarySender + `","text":"` + canary +
			`","ref":"` + canary + `","part":3,"parts":2}`,
		"/api/other/sms":                 `{"message_id":"bad","text":"` + canary + `"}`,
		"/api/" + oneRoom + "/sms?big=1": `{"message_id":"bad","text":"` + strings.Repeat(canary+" ", 4096) + `"}`,
		"/api/" + oneRoom + "/lock":      `{"message_id":"bad","text":"` + canary + `"}`,
	})

	require.Contains(t, s.page(a), canary, "its holder sees it on reload")
	integration.await(t, "lock.granted", "sms.matched", "lock.ended", "message_rejected")
	for socket, own := range map[*socket][]string{ofA: {toA, lateToA}, ofB: {toB}, ofC: {toC}, ofD: nil} {
		requireOnly(t, framesOf(socket), own, []string{toA, lateToA, toB, toC, unmatched, anybodys})
	}
	for name, session := range map[string]string{"a holder": d, "who rejected it": c, "nobody": ""} {
		out["page of "+name] = s.page(session)
		out["status for "+name] = s.get(session, "/api/"+oneRoom+"/lock/status")
	}
	out["status for its holder"] = s.get(a, "/api/"+oneRoom+"/lock/status")
	out["frames of the next holder"] = framesOf(ofD)
	out["desk: assign"] = agent.act("/api/support/"+oneRoom+"/assign",
		fmt.Sprintf(`{"message_id":%q,"fence":%d,"reason":"the seller says so"}`, other.id, first.Fence))
	require.Contains(t, out["desk: assign"], `"result":"late"`)
	roomDesk.await(t, `"type":"desk"`, `"ambiguous"`, `"no_lease"`, `"rejected"`, `"message_refused"`, "minutes")
	allRooms.await(t, `"nobodys"`)
	for where, content := range agent.seen("a", first.Fence, stray.id) {
		out[where] = content
	}
	out["desk: room's socket"], out["desk: all rooms' socket"] = roomDesk.text(), allRooms.text()
	require.Contains(t, out["desk: room's socket"], "["+unmatched+"]", "the text is there, masked")
	out["metrics"] = s.get("", "/metrics")
	out["readyz"] = s.get("", "/readyz")
	out["webhooks"] = integration.received()
	s.searchStore(store, out, published, monitored)
	s.fleet.members[0].process.Stop(syscall.SIGTERM)
	out["log"] = s.file(s.fleet.members[0].log)
	require.Contains(t, out["log"], `"level":"DEBUG"`)
	for _, path := range s.databaseFiles(url) {
		out["database "+path] = s.file(path)
	}
	require.NotEmpty(t, s.databaseFiles(url))
	sizes := map[string]int{}
	for where, content := range out {
		sizes[where] = len(content)
		require.NotEmpty(t, content, where)
		for _, secret := range append(secrets, agentPassword, agent.token()) {
			requireNone(t, where, content, secret)
		}
		// and each session has its own code
		if !strings.HasPrefix(where, "store: ") && !strings.HasPrefix(where, "status for ") {
			for _, session := range []string{a, b, c, d} {
				requireNone(t, where, content, session)
			}
		}
	}
	t.Logf("searched, in bytes: %v", sizes)
}

// searchStore adds everything readable in Redis: keys, publishes, the slow log, the monitor, and every file.
func (s *single) searchStore(store *redistest.Server, out map[string]string, published func() string,
	monitored func() string) {
	s.t.Helper()
	keys := s.keys()
	require.NotEmpty(s.t, keys["{"+oneRoom+"}:texts"], "they are there, and sealed")
	out["store: keys"] = fmt.Sprint(keys)
	slow, err := s.rdb.SlowLogGet(s.t.Context(), -1).Result()
	require.NoError(s.t, err)
	require.NoError(s.t, s.rdb.Save(s.t.Context()).Err())
	out["store: slow log"], out["store: published"], out["store: monitor"] = fmt.Sprintf("%+v", slow),
		published(), monitored()
	for _, verb := range []string{"fcall", "hset", "zadd", "xadd", "publish"} { // commands of scripts, too
		require.Contains(s.t, strings.ToLower(out["store: monitor"]), `"`+verb+`"`)
	}
	require.Contains(s.t, strings.ToLower(out["store: slow log"]), "fcall")
	files := map[string]bool{}
	require.NoError(s.t, filepath.WalkDir(store.Dir(), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if content := s.file(path); content != "" {
				out["store: file "+entry.Name()] = content
				files[filepath.Ext(path)] = files[filepath.Ext(path)] || strings.Contains(content, "{"+oneRoom+"}:texts")
			}
		}
		return err
	}))
	require.Subset(s.t, files, map[string]bool{".aof": true, ".rdb": true}, "both have the messages, sealed")
}

// monitor collects every command that Redis receives, until the returned function is called.
func monitor(t *testing.T, addr string) func() string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte("MONITOR\r\n"))
	require.NoError(t, err)
	ok := make([]byte, len("+OK\r\n"))
	_, err = io.ReadFull(conn, ok)
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n", string(ok))
	all := make(chan string, 1)
	go func() {
		got, _ := io.ReadAll(conn) // its end is the close
		all <- string(got)
	}()
	return func() string {
		require.NoError(t, conn.SetReadDeadline(time.Now()))
		return <-all
	}
}

// reject reports that a message is not the session's.
func (s *single) reject(session string, m *message) {
	s.t.Helper()
	r := s.do(http.MethodPost, session, "/lock/reject", fmt.Sprintf(`{"fence":%d,"message_id":"%s"}`,
		m.answer.Fence, m.id))
	require.Equal(s.t, http.StatusOK, r.status, r.body)
}

// await waits until the integration has received all these words.
func (r *receiver) await(t *testing.T, words ...string) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		received := r.received()
		for _, word := range words {
			if !strings.Contains(received, word) {
				return fmt.Errorf("it did not receive %s", word)
			}
		}
		return nil
	})
}

func framesOf(socket *socket) string {
	var all strings.Builder
	for _, f := range socket.frames() {
		all.WriteString(f.raw + "\n")
	}
	return all.String()
}

// requireOnly requires some of the words in a text, and none of the others.
func requireOnly(t *testing.T, text string, own, all []string) {
	t.Helper()
	for _, word := range all {
		if slices.Contains(own, word) {
			require.Contains(t, text, "["+word+"]")
		} else {
			require.NotContains(t, text, "["+word+"]")
		}
	}
}

func requireNone(t *testing.T, where, content, secret string) {
	t.Helper()
	at := strings.Index(content, secret)
	require.Negative(t, at, "it is in %s: %.300q", where, content[max(0, at-200):])
}

// awaitFrame waits until a socket has received a text.
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

// subscribe collects every publish until the returned function is called.
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

// plain returns a key's value by its type's own command; DUMP may have compressed it.
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

// databaseFiles returns the bytes of SQLite's file and its side files: every table, and deleted rows.
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
