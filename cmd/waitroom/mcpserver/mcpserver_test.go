package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/client"
	"github.com/waitroom/waitroom/cmd/waitroom/mcpserver"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/server"
)

const (
	secret = "whsec_c2VjcmV0LW9mLXRoZS1pbnRlZ3JhdGlvbi0xMjM="
	soon   = 50 * time.Millisecond // the patience of tools whose wait is to be cut short
	long   = 60 * time.Second
)

// serve runs a server until the test ends.
func serve(t *testing.T, settings ...string) string {
	cfg, err := server.ParseConfig(append([]string{"--addr", "127.0.0.1:0", "--drain-timeout", "2s", "--rooms",
		"room:*", "--database-url", "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"),
		"--sms-webhook-secret", secret}, settings...))
	require.NoError(t, err)
	s, err := server.New(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return s.URL()
}

// agent is an agent program, connected to the tools.
type agent struct {
	*testing.T
	session  *mcp.ClientSession
	progress chan string
	stop     func()
	signal   func() // ends the process while the agent is connected
	done     chan error
}

type result struct {
	Status   string
	Next     string
	Position int
	Left     int `json:"turn_ends_in_seconds"`
	Code     string
	Outcome  string
	problem  string // of a call that failed
}

func connect(t *testing.T, c mcpserver.Config) *agent {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mcpserver.Run(ctx, c, ours) }()
	a := &agent{T: t, progress: make(chan string, 100), signal: cancel, done: done}
	options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
		r *mcp.ProgressNotificationClientRequest) {
		select {
		case a.progress <- r.Params.Message:
		default: // more than the test reads
		}
	}}
	var err error
	a.session, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).
		Connect(t.Context(), theirs, nil)
	require.NoError(t, err)
	a.stop = func() {
		_ = a.session.Close()
		err := <-done
		done <- nil // the clean-up stops it once more, also after a failure
		require.NoError(t, err)
		cancel()
	}
	t.Cleanup(a.stop)
	return a
}

func withProgress(tool string) *mcp.CallToolParams {
	p := &mcp.CallToolParams{Name: tool}
	p.SetProgressToken("p")
	return p
}

// call calls a tool, and again as long as the server does not answer within the tool's patience.
func (a *agent) call(tool string, arguments map[string]any) result {
	a.Helper()
	for {
		if r := a.once(tool, arguments); !strings.Contains(r.problem, "did not answer in time") {
			return r
		}
	}
}

func (a *agent) once(tool string, arguments map[string]any) (r result) {
	a.Helper()
	p := withProgress(tool)
	p.Arguments = arguments
	got, err := a.session.CallTool(a.Context(), p)
	require.NoError(a, err)
	text := got.Content[0].(*mcp.TextContent).Text
	if got.IsError {
		return result{problem: text}
	}
	require.NoError(a, json.Unmarshal([]byte(text), &r), text)
	require.NotEmpty(a, r.Next, "what to do now")
	return r
}

// until calls a tool again as long as it returns the status `while`, and returns the first other result.
func (a *agent) until(tool, while string) result {
	a.Helper()
	for {
		if r := a.call(tool, nil); r.problem != "" || r.Status != while {
			return r
		}
	}
}

func config(t *testing.T, base, room, seller string, patience time.Duration) mcpserver.Config {
	c, err := client.New(base, client.Config{})
	require.NoError(t, err)
	return mcpserver.Config{Client: c, Room: room, Seller: seller, Patience: patience}
}

// text posts an SMS as the carrier does, with its signature.
func text(t *testing.T, base, room, id, words string) {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	now := time.Now()
	body := fmt.Sprintf(`{"message_id":%q,"from":"15881234","text":%q,"sent_at":%q}`, id, words,
		now.Format(time.RFC3339Nano))
	signature, err := signer.Sign(id, now, []byte(body))
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/"+room+"/sms",
		strings.NewReader(body))
	require.NoError(t, err)
	r.Header = http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
		"Webhook-Signature": {signature}}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Less(t, resp.StatusCode, 300, string(answer))
}

// Gemini knows one type a field, and refuses all requests of an agent that has a tool with more.
func TestEachToolHasItsOwnArgumentsOfOneType(t *testing.T) {
	c, err := client.New("http://127.0.0.1:1", client.Config{})
	require.NoError(t, err)
	a := connect(t, mcpserver.Config{Client: c})
	tools, err := a.session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	got := make(map[string]map[string]any)
	for _, tool := range tools.Tools {
		got[tool.Name] = make(map[string]any)
		for name, field := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
			got[tool.Name][name] = field.(map[string]any)["type"]
		}
	}
	room := map[string]any{"room": "string"}
	require.Equal(t, map[string]map[string]any{
		"join":          {"room": "string", "seller": "string"},
		"wait_for_turn": room,
		"ask_for_code":  {"room": "string", "from": "array"},
		"receive_code":  room, "reject_code": room, "done": room, "leave": room}, got)
}

// Two agents share a number. Each gets its own code, and no tool waits longer than it may.
func TestAgentsTakeTurnsAndReceiveTheirOwnCodes(t *testing.T) {
	base := serve(t, "--sms-completes", "false")
	first := connect(t, config(t, base, "room:1", "s-1", long))
	second := connect(t, config(t, base, "room:1", "s-2", soon))
	require.Equal(t, "your_turn", first.call("join", nil).Status)
	waits := second.call("join", nil)
	require.Equal(t, "waiting", waits.Status)
	require.Equal(t, 1, waits.Position)
	require.Equal(t, 1, second.call("join", nil).Position, "it keeps its place")
	require.Equal(t, "waiting", second.call("wait_for_turn", nil).Status, "the wait was cut short")
	require.Contains(t, second.until("ask_for_code", "number_busy").problem, "wait_for_turn")

	require.Contains(t, first.call("receive_code", nil).problem, "ask_for_code")
	now := first.call("ask_for_code", map[string]any{"from": []string{"15881234"}})
	require.Equal(t, "press_now", now.Status)
	require.Positive(t, now.Left)
	text(t, base, "room:1", "m-1", "[쿠팡] 인증번호 111111")
	require.Equal(t, "111111", first.call("receive_code", nil).Code)
	require.Contains(t, first.call("receive_code", nil).problem, "ask_for_code", "it is returned once")
	done := first.call("done", nil)
	require.Equal(t, []string{"ended", "completed"}, []string{done.Status, done.Outcome})

	require.Equal(t, "your_turn", second.until("wait_for_turn", "waiting").Status)
	require.Contains(t, second.call("receive_code", nil).problem, "ask_for_code",
		"the ask from before the turn was refused, and counts no more")
	require.Equal(t, "press_now", second.until("ask_for_code", "number_busy").Status)
	require.Equal(t, "no_code_yet", second.call("receive_code", nil).Status)
	text(t, base, "room:1", "m-2", "[쿠팡] 인증번호 222222")
	require.Equal(t, "222222", second.until("receive_code", "no_code_yet").Code)
	require.Equal(t, "ended", second.call("leave", nil).Status)
	require.Contains(t, second.call("wait_for_turn", nil).Next, "join")
	require.Equal(t, "your_turn", second.call("join", nil).Status, "a new place")
}

// asks is a transport that counts the asks sent to the server. Repeats of one ask have the same
// Idempotency-Key.
type asks struct {
	mu    sync.Mutex
	keys  map[string]bool
	waits int // calls for messages that follow an accepted ask
}

func (a *asks) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	switch path.Base(r.URL.Path) {
	case "expect":
		a.keys[r.Header.Get("Idempotency-Key")] = true
	case "messages":
		if r.URL.Query().Has("wait") {
			a.waits++
		}
	}
	a.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// The first seller asked and got no code, so the number is busy for the second one until that code cannot
// come any more.
func TestAskForCodeReturnsWhileTheNumberIsBusyAndAsksOnce(t *testing.T) {
	base := serve(t, "--sms-quarantine", "3s")
	first := connect(t, config(t, base, "room:2", "s-1", long))
	asks := &asks{keys: make(map[string]bool)}
	c, err := client.New(base, client.Config{HTTP: &http.Client{Transport: asks}})
	require.NoError(t, err)
	second := connect(t, mcpserver.Config{Client: c, Room: "room:2", Seller: "s-2", Patience: soon})
	first.call("join", nil)
	second.call("join", nil)
	require.Equal(t, "press_now", first.call("ask_for_code", nil).Status)
	first.call("leave", nil)
	require.Equal(t, "your_turn", second.until("wait_for_turn", "waiting").Status)
	require.Equal(t, "number_busy", second.call("ask_for_code", nil).Status)
	testproc.Until(t, long, func() error { // the number becomes free between two calls
		asks.mu.Lock()
		defer asks.mu.Unlock()
		if asks.waits == 0 {
			return errors.New("the number is busy")
		}
		return nil
	})
	require.Equal(t, "press_now", second.call("ask_for_code", nil).Status)
	asks.mu.Lock()
	n := len(asks.keys)
	asks.mu.Unlock()
	require.Equal(t, 1, n, "each call waits for the same ask")
	text(t, base, "room:2", "m-1", "인증번호 333333")
	require.Equal(t, "333333", second.until("receive_code", "no_code_yet").Code)
}

// Each call of the tool asks once more; the server accepts ten asks in a turn.
func TestRefusedAskIsReportedWhileAnEarlierOneWaits(t *testing.T) {
	base := serve(t)
	a := connect(t, config(t, base, "room:10", "s-1", long))
	a.call("join", nil)
	for range 10 {
		require.Equal(t, "press_now", a.call("ask_for_code", nil).Status)
	}
	require.Contains(t, a.call("ask_for_code", nil).problem, "too_many_asks")
	text(t, base, "room:10", "m-1", "인증번호 666666")
	require.Equal(t, "666666", a.call("receive_code", nil).Code, "the earlier ones go on")
}

// An unused turn ends by itself while the agent asks.
func TestAskReturnsThatTheTurnIsOver(t *testing.T) {
	base := serve(t, "--lease", "1s")
	a := connect(t, config(t, base, "room:11", "s-1", time.Second))
	a.call("join", nil)
	testproc.Until(t, long, func() error {
		if r := a.call("wait_for_turn", nil); r.Outcome != "expired" {
			return fmt.Errorf("the turn is %s %s", r.Status, r.problem)
		}
		return nil
	})
	r := a.call("ask_for_code", nil)
	require.Equal(t, []string{"ended", "expired"}, []string{r.Status, r.Outcome})
}

func TestRejectedCodeIsFollowedByTheRightOne(t *testing.T) {
	base := serve(t)
	a := connect(t, config(t, base, "room:3", "s-1", long))
	require.Contains(t, a.call("reject_code", nil).problem, "join")
	a.call("join", nil)
	require.Contains(t, a.call("reject_code", nil).problem, "receive_code")
	a.call("ask_for_code", nil)
	text(t, base, "room:3", "m-1", "인증번호 444444")
	require.Equal(t, "444444", a.call("receive_code", nil).Code)
	rejected := a.call("reject_code", nil)
	require.Equal(t, []string{"rejected", "completed"}, []string{rejected.Status, rejected.Outcome})
	text(t, base, "room:3", "m-2", "인증번호 555555")
	require.Equal(t, "555555", a.call("receive_code", nil).Code)
}

// With a file of sessions, the agent's next process continues the place. Without one, the place is given up
// when the process ends.
func TestPlaceOutlivesItsProcessOnlyWhereItsSessionIsKept(t *testing.T) {
	base := serve(t)
	kept := config(t, base, "room:4", "s-1", long)
	file := filepath.Join(t.TempDir(), "sessions.json")
	kept.Keep = mcpserver.NewFile(file)
	holder := connect(t, config(t, base, "room:4", "s-0", long))
	require.Equal(t, "your_turn", holder.call("join", nil).Status)
	one := connect(t, kept)
	require.Equal(t, "waiting", one.call("join", nil).Status)
	one.stop()
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	again := connect(t, kept)
	require.Contains(t, again.call("wait_for_turn", nil).problem, "join")
	require.Equal(t, "waiting", again.call("join", nil).Status)
	holder.stop()
	require.Equal(t, "your_turn", again.until("wait_for_turn", "waiting").Status, "the holder's process ended")

	kept.Seller = "s-2"
	require.Equal(t, "waiting", connect(t, kept).call("join", nil).Status, "the session is that of one seller")
	for _, wrong := range []string{"{", "[]", "null", `{"room:4 s-2":5}`} {
		require.NoError(t, os.WriteFile(file, []byte(wrong), 0o600))
		require.Contains(t, connect(t, kept).call("join", nil).problem, file, wrong)
	}
	require.NoError(t, os.WriteFile(file, []byte("\n"), 0o600))
	kept.Seller = "s-3"
	require.Equal(t, "waiting", connect(t, kept).call("join", nil).Status, "an empty file has no session yet")
}

// The code ends the turn while no process of the agent runs. The next one receives it, and begins anew once the
// turn is done.
func TestCodeThatCameBetweenTwoProcessesIsReceived(t *testing.T) {
	base := serve(t)
	kept := config(t, base, "room:4", "s-1", long)
	kept.Keep = mcpserver.NewFile(filepath.Join(t.TempDir(), "sessions.json"))
	one := connect(t, kept)
	require.Equal(t, "your_turn", one.call("join", nil).Status)
	require.Equal(t, "press_now", one.until("ask_for_code", "number_busy").Status)
	one.stop()
	text(t, base, "room:4", "m-away", "인증번호 482913")
	untilFree(t, base, "room:4")

	again := connect(t, kept)
	joined := again.call("join", nil)
	require.Equal(t, "ended", joined.Status)
	require.Contains(t, joined.Next, "receive_code")
	require.Equal(t, "482913", again.call("receive_code", nil).Code)
	require.Equal(t, "ended", again.call("done", nil).Status)
	again.stop()
	require.Equal(t, "your_turn", connect(t, kept).call("join", nil).Status, "it is over")
}

// untilFree waits until no session holds the lock of a room.
func untilFree(t *testing.T, base, room string) {
	t.Helper()
	require.Eventually(t, func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/"+room+"/lock/status", nil)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return strings.Contains(string(answer), `"status":"free"`)
	}, time.Minute, 20*time.Millisecond)
}

func TestToolsNeedARoomAndASeller(t *testing.T) {
	base := serve(t)
	a := connect(t, config(t, base, "", "", long))
	require.Contains(t, a.call("join", nil).problem, "name the room")
	require.Contains(t, a.call("join", map[string]any{"room": "room:5"}).problem, "name the seller")
	require.Contains(t, a.call("join", map[string]any{"room": "nowhere", "seller": "s"}).problem, "unknown_room")
	require.Equal(t, "your_turn", a.call("join", map[string]any{"room": "room:5", "seller": "s"}).Status)
	require.Equal(t, "your_turn", a.call("join", map[string]any{"room": "room:6", "seller": "s"}).Status,
		"a place in each room")
	require.Contains(t, a.call("join", map[string]any{"room": "room:5", "seller": "other"}).problem, "leave first",
		"one seller's turn is not another's")
	require.Equal(t, "ended", a.call("leave", map[string]any{"room": "room:5"}).Status)
	require.Equal(t, "your_turn", a.call("join", map[string]any{"room": "room:5", "seller": "other"}).Status)

	away := connect(t, config(t, "http://127.0.0.1:1", "room:7", "s-1", soon))
	require.Contains(t, away.once("join", nil).problem, "check the server's URL")
}

// places returns how many places a room has, with the holder's.
func places(t *testing.T, base, room string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/"+room+"/lock/status", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Status string
		Length int `json:"queue_length"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	if answer.Status == "locked" {
		answer.Length++
	}
	return answer.Length
}

// An agent sends several calls before it reads the first answer.
func TestJoinsAtOnceMakeOnePlaceWhichEndsWithTheProcess(t *testing.T) {
	base := serve(t)
	a := connect(t, config(t, base, "room:12", "s-1", long))
	var joins sync.WaitGroup
	results := make(chan result, 16)
	for n := range cap(results) {
		joins.Go(func() { results <- a.call("join", map[string]any{"seller": fmt.Sprint("s-", n%4)}) })
	}
	joins.Wait()
	close(results)
	counts := make(map[string]int)
	for r := range results {
		if r.problem != "" {
			require.Contains(t, r.problem, "leave first")
		}
		counts[r.Status]++
	}
	require.Equal(t, map[string]int{"your_turn": 4, "": 12}, counts, "those of one seller keep its place")
	require.Equal(t, 1, places(t, base, "room:12"))
	a.stop()
	require.Zero(t, places(t, base, "room:12"))
}

// lossy is a transport that loses the answer to the first join, after which the call hangs.
type lossy struct {
	first sync.Once
	lost  chan struct{} // closed when the server has answered
}

func (l *lossy) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	loses := false
	if r.Method == http.MethodPost && path.Base(r.URL.Path) == "lock" {
		l.first.Do(func() { loses = true })
	}
	if !loses {
		return http.DefaultTransport.RoundTrip(r)
	}
	resp, err = http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if err == nil {
		_ = resp.Body.Close()
	}
	close(l.lost)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// The server has made the place, of which the agent does not know.
func TestPlaceOfAJoinWithoutAnAnswerIsKnown(t *testing.T) {
	base := serve(t)
	for n, then := range []func(*agent){
		func(a *agent) {
			require.Contains(t, a.call("join", map[string]any{"seller": "s-2"}).problem, "leave first")
			require.Equal(t, "your_turn", a.call("join", nil).Status)
		},
		func(a *agent) { require.Equal(t, "cancelled", a.call("leave", nil).Outcome) },
		func(a *agent) {},
	} {
		room := fmt.Sprint("room:no-answer-", n)
		l := &lossy{lost: make(chan struct{})}
		c, err := client.New(base, client.Config{HTTP: &http.Client{Transport: l}})
		require.NoError(t, err)
		a := connect(t, mcpserver.Config{Client: c, Room: room, Seller: "s-1", Patience: long})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: "join"})
			ended <- err
		}()
		<-l.lost
		cancel() // and the agent tells the tools
		require.Error(t, <-ended)
		require.Equal(t, 1, places(t, base, room))
		then(a)
		a.stop()
		require.Zero(t, places(t, base, room), "no process is left that could end it")
	}
}

// A client that asks for progress receives a notification of each change while the tool waits.
// gone is a server that answers one join, and nothing afterwards.
type gone struct{ joined bool }

func (g *gone) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.joined || r.Method != http.MethodPost {
		return nil, syscall.ECONNREFUSED
	}
	g.joined = true
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(
		`{"status":"locked","fence":1,"expires_at":"2100-01-01T00:00:00.000Z"}`))}, nil
}

func TestServerThatCannotBeReachedIsReportedWithinTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := client.New("http://server", client.Config{HTTP: &http.Client{Transport: &gone{}}})
		require.NoError(t, err)
		a := connect(t, mcpserver.Config{Client: c, Room: "room:14", Seller: "s-1"})
		require.Equal(t, "your_turn", a.once("join", nil).Status)
		for _, tool := range []string{"join", "wait_for_turn", "ask_for_code", "done", "leave"} {
			begun := time.Now()
			require.Contains(t, a.once(tool, nil).problem, "connection refused", tool)
			require.LessOrEqual(t, time.Since(begun), 10*time.Second, tool)
		}
	})
}

func TestWaitSendsProgress(t *testing.T) {
	base := serve(t)
	first, second := connect(t, config(t, base, "room:8", "s-1", long)), connect(t, config(t, base, "room:8", "s-2", long))
	first.call("join", nil)
	second.call("join", nil)
	done := make(chan result)
	go func() { done <- second.call("wait_for_turn", nil) }()
	require.Equal(t, "position 1", <-second.progress)
	first.call("leave", nil)
	require.Equal(t, "your_turn", (<-done).Status)
	words := <-second.progress
	for words == "position 1" { // each change sends one, also of another number
		words = <-second.progress
	}
	require.Equal(t, "your turn", words)
}

// The agent program ends its tools by a signal while one of them waits.
func TestSignalEndsTheToolThatWaitsAndThePlace(t *testing.T) {
	base := serve(t)
	connect(t, config(t, base, "room:13", "s-1", long)).call("join", nil)
	a := connect(t, config(t, base, "room:13", "s-2", 10*time.Minute))
	a.call("join", nil)
	go func() {
		_, _ = a.session.CallTool(t.Context(), withProgress("wait_for_turn"))
	}()
	require.Equal(t, "position 1", <-a.progress)
	a.signal()
	select {
	case err := <-a.done:
		require.NoError(t, err)
		a.done <- nil
	case <-time.After(long):
		require.Fail(t, "the tools go on")
	}
	require.Equal(t, 1, places(t, base, "room:13"))
}

// A session is a credential, and an agent's context may be sent anywhere.
func TestNoToolShowsASession(t *testing.T) {
	base := serve(t)
	c := config(t, base, "room:9", "s-1", long)
	file := filepath.Join(t.TempDir(), "sessions.json")
	c.Keep = mcpserver.NewFile(file)
	a := connect(t, c)
	var all []string
	for _, tool := range []string{"join", "wait_for_turn", "ask_for_code", "reject_code", "done", "leave", "join"} {
		got, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		require.NoError(t, err)
		text, err := json.Marshal(got)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	var sessions map[string]string
	require.NoError(t, json.Unmarshal(kept, &sessions))
	require.Len(t, sessions["room:9 s-1"], 36)
	require.NotContains(t, strings.Join(all, ""), sessions["room:9 s-1"])
}
