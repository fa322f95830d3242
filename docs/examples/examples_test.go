// Package examples runs the examples against a real server.
package examples

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/server"
)

const (
	secret   = "whsec_c2VjcmV0LW9mLXRoZS1pbnRlZ3JhdGlvbi0xMjM="
	patience = 60 * time.Second
)

// language says how the examples of a language are run; ok is false if its tools are not installed, which
// make check reports.
type language struct {
	name                    string
	seller, receiver, robot func(t *testing.T) (command []string, ok bool)
}

func run(tool string, args ...string) func(*testing.T) ([]string, bool) {
	return func(*testing.T) ([]string, bool) {
		path, err := exec.LookPath(tool)
		return append([]string{path}, args...), err == nil
	}
}

func needing(tool string, next func(*testing.T) ([]string, bool)) func(*testing.T) ([]string, bool) {
	return func(t *testing.T) ([]string, bool) {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, false
		}
		return next(t)
	}
}

// webhooks records the webhooks that it receives.
type webhooks struct {
	mu   sync.Mutex
	list []webhook
}

type webhook struct {
	header http.Header
	body   []byte
}

func (h *webhooks) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, webhook{r.Header.Clone(), body})
}

// oneOfEach waits for a webhook of each of these types.
func (h *webhooks) oneOfEach(t *testing.T, types ...string) (each []webhook) {
	testproc.Until(t, patience, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		each = nil
		for _, kind := range types {
			at := slices.IndexFunc(h.list, func(w webhook) bool {
				return bytes.Contains(w.body,
					[]byte(`"type":"`+kind+`"`))
			})
			if at < 0 {
				return fmt.Errorf("no %s among %d webhooks", kind, len(h.list))
			}
			each = append(each, h.list[at])
		}
		return nil
	})
	return each
}

// serve runs a server until the test ends.
func serve(t *testing.T, settings ...string) string {
	cfg, err := server.ParseConfig(append([]string{"--addr", "127.0.0.1:0", "--drain-timeout", "2s", "--rooms",
		"room:*",
		"--database-url", "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db")}, settings...))
	require.NoError(t, err)
	// read all examples, so that go test does not reuse its cached result after one has changed
	for _, pattern := range []string{"*/*", "go/*/*"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			_, err := os.Stat(name)
			require.NoError(t, err)
		}
	}
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

func TestExamplesJoinWaitClaimAndAreDone(t *testing.T) {
	tryExamples(t, append(ofTwoLanguages(t), language{name: "cgi"})...)
}

// ofTwoLanguages returns the languages whose tools most machines have.
func ofTwoLanguages(t *testing.T) []language {
	programs := t.TempDir()
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", programs, "./go/seller", "./go/receiver",
		"./go/robot").CombinedOutput()
	require.NoError(t, err, string(out))
	return []language{
		// curl's receiver is a CGI program
		{"curl", needing("curl", run("bash", "curl/seller.sh")), nil,
			needing("curl", run("bash", "curl/robot.sh"))},
		{"go", run(filepath.Join(programs, "seller")), run(filepath.Join(programs, "receiver")),
			run(filepath.Join(programs, "robot"))},
	}
}

func tryExamples(t *testing.T, languages ...language) {
	hooks := &webhooks{}
	receiver := httptest.NewServer(hooks)
	t.Cleanup(receiver.Close)
	base := serve(t, "--webhook-url", receiver.URL, "--webhook-secret", secret, "--claim-within", "20s")
	t.Run("languages", func(t *testing.T) {
		for _, l := range languages {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				if l.seller == nil {
					return
				}
				if command, ok := l.seller(t); ok {
					takeTurn(t, base, l.name, command)
				}
			})
		}
	})
	events := hooks.oneOfEach(t, "lock.granted", "lock.ended")
	for _, l := range languages {
		t.Run("receiver/"+l.name, func(t *testing.T) {
			t.Parallel()
			if address, ok := listen(t, l); ok {
				tryReceiver(t, address, events)
			}
		})
	}
}

func tryReceiver(t *testing.T, address string, events []webhook) {
	for _, e := range events {
		require.Equal(t, http.StatusNoContent, post(t, address, e.header, e.body), "as it came")
		require.Equal(t, http.StatusUnauthorized, post(t, address, e.header, append([]byte(" "), e.body...)),
			"another body")
		for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
			other := e.header.Clone()
			other.Set(name, "1"+other.Get(name))
			require.Equal(t, http.StatusUnauthorized, post(t, address, other, e.body), "another "+name)
		}
		several := e.header.Clone()
		several.Set("Webhook-Signature", "v1,AAAA "+several.Get("Webhook-Signature"))
		require.Equal(t, http.StatusNoContent, post(t, address, several, e.body), "one of several signatures")
	}
}

// takeTurn lets an example wait behind a seller, and requires that it finishes once that seller is done.
func takeTurn(t *testing.T, base, name string, command []string) {
	room := base + "/api/room:" + name
	require.Equal(t, http.StatusOK, lock(t, http.MethodPost, room+"/lock"))
	cmd := exec.Command(command[0], append(command[1:], "example")...)
	cmd.Env = append(os.Environ(), "WAITROOM="+base, "ROOM=room:"+name)
	lines := output(t, cmd)
	require.Equal(t, "waiting 1", lines.next())
	require.Equal(t, http.StatusOK, lock(t, http.MethodDelete, room+"/lock"))
	line := lines.next()
	for line == "waiting 1" { // each poll prints it once more
		line = lines.next()
	}
	require.Regexp(t, `^locked \d+$`, line)
	require.Equal(t, "completed", lines.next())
}

// first is the session that holds the lock before an example does.
const first = "3f1f6d2e-6a2b-4d37-9a54-0f5c8a1b2c3d"

func lock(t *testing.T, method, url string) int {
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(`{"seller_id":"first"}`))
	require.NoError(t, err)
	r.Header = http.Header{"X-Session-Id": {first}, "Content-Type": {"application/json"}}
	return send(t, r)
}

func post(t *testing.T, address string, header http.Header, body []byte) int {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(body))
	require.NoError(t, err)
	for name := range header {
		if strings.HasPrefix(name, "Webhook-") {
			r.Header.Set(name, header.Get(name))
		}
	}
	return send(t, r)
}

func send(t *testing.T, r *http.Request) int {
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// listen starts a receiver.
func listen(t *testing.T, l language) (address string, ok bool) {
	if l.name == "cgi" {
		script, err := filepath.Abs("curl/receiver.sh")
		require.NoError(t, err)
		s := httptest.NewServer(&cgi.Handler{Path: script, Env: []string{"WAITROOM_WEBHOOK_SECRET=" + secret},
			Stderr: io.Discard})
		t.Cleanup(s.Close)
		_, err = exec.LookPath("openssl")
		return s.URL, err == nil
	}
	if l.receiver == nil {
		return "", false
	}
	command, ok := l.receiver(t)
	if !ok {
		return "", false
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "WAITROOM_WEBHOOK_SECRET="+secret, "PORT=0", "ADDR=127.0.0.1:0")
	line := output(t, cmd).next()
	port, found := strings.CutPrefix(line, "listening ")
	require.True(t, found, line)
	return "http://127.0.0.1:" + port, true
}

// reading has the lines that a program writes.
type reading struct {
	t     *testing.T
	lines chan string
	cmd   *exec.Cmd
	wrong *bytes.Buffer
}

// end waits until a program has ended, and returns its exit code and its error output.
func (r reading) end() (code int, wrong string) {
	r.t.Helper()
	select {
	case line, more := <-r.lines:
		require.False(r.t, more, "it says %s", line)
	case <-time.After(patience):
		require.Fail(r.t, "it does not end")
	}
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode(), r.wrong.String()
}

func (r reading) next() string {
	r.t.Helper()
	select {
	case line, ok := <-r.lines:
		require.True(r.t, ok, "it has ended")
		return line
	case <-time.After(patience):
		require.Fail(r.t, "it says nothing")
		return ""
	}
}

// output starts a program, which is killed when the test ends.
func output(t *testing.T, cmd *exec.Cmd) reading {
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	require.NoError(t, cmd.Start())
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(wrong.String())
		}
	})
	return reading{t, lines, cmd, &wrong}
}
