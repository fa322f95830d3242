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

// language is how its examples are run; ok is false where its tool is not here, which make check says.
type language struct {
	name             string
	seller, receiver func(t *testing.T) (command []string, ok bool)
}

func run(tool string, args ...string) func(*testing.T) ([]string, bool) {
	return func(*testing.T) ([]string, bool) {
		path, err := exec.LookPath(tool)
		return append([]string{path}, args...), err == nil
	}
}

var languages = []language{
	{"curl", needing("curl", run("bash", "curl/seller.sh")), nil}, // its receiver is a CGI program
	{"go", built("./go/seller"), built("./go/receiver")},
	{"python", run("python3", "python/seller.py"), run("python3", "python/receiver.py")},
	{"typescript", node("typescript/seller.ts"), node("typescript/receiver.ts")},
	{"java", run("java", "java/Seller.java"), run("java", "java/Receiver.java")},
}

func needing(tool string, next func(*testing.T) ([]string, bool)) func(*testing.T) ([]string, bool) {
	return func(t *testing.T) ([]string, bool) {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, false
		}
		return next(t)
	}
}

func built(path string) func(*testing.T) ([]string, bool) {
	return func(t *testing.T) ([]string, bool) {
		program := filepath.Join(t.TempDir(), filepath.Base(path))
		out, err := exec.Command("go", "build", "-o", program, path).CombinedOutput()
		require.NoError(t, err, string(out))
		return []string{program}, true
	}
}

// node runs TypeScript as it is where Node can; an older one is given what the script makes of it.
func node(source string) func(*testing.T) ([]string, bool) {
	return func(t *testing.T) ([]string, bool) {
		prepared := filepath.Join(t.TempDir(), "program.mjs")
		cmd := exec.Command("bash", "typescript/prepare.sh", source, prepared)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		return strings.Fields(string(out)), err == nil && len(out) > 0
	}
}

// webhooks keeps what it is sent.
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

// atLeast waits for so many, and returns the first of them.
func (h *webhooks) atLeast(t *testing.T, n int) (list []webhook) {
	testproc.Until(t, patience, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.list) < n {
			return fmt.Errorf("%d webhooks have come", len(h.list))
		}
		list = h.list[:n]
		return nil
	})
	return list
}

// serve runs a server until the test ends. Where leases can be claimed, they have to be.
func serve(t *testing.T, webhook string) string {
	args := []string{"--addr", "127.0.0.1:0", "--drain-timeout", "2s", "--rooms", "room:*", "--database-url", "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"),
		"--webhook-url", webhook, "--webhook-secret", secret}
	cfg, err := server.ParseConfig(append(args, "--claim-within", "20s"))
	if err != nil {
		cfg, err = server.ParseConfig(args)
	}
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

func TestExamplesJoinWaitClaimAndAreDone(t *testing.T) {
	told := &webhooks{}
	receiver := httptest.NewServer(told)
	t.Cleanup(receiver.Close)
	base := serve(t, receiver.URL)
	t.Run("languages", func(t *testing.T) {
		for _, l := range languages {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				if command, ok := l.seller(t); ok {
					takeTurn(t, base, l.name, command)
				}
			})
		}
	})
	// A lease granted, one ended: of the one that was there first, and of the example.
	events := told.atLeast(t, 4)
	for _, l := range append(languages, language{name: "cgi"}) {
		t.Run("receiver/"+l.name, func(t *testing.T) {
			t.Parallel()
			address, ok := listen(t, l)
			if !ok {
				return
			}
			for _, e := range events {
				require.Equal(t, http.StatusNoContent, post(t, address, e.header, e.body), "as it came")
				require.Equal(t, http.StatusUnauthorized, post(t, address, e.header, append([]byte(" "), e.body...)), "another body")
				for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
					other := e.header.Clone()
					other.Set(name, "1"+other.Get(name))
					require.Equal(t, http.StatusUnauthorized, post(t, address, other, e.body), "another "+name)
				}
				several := e.header.Clone()
				several.Set("Webhook-Signature", "v1,AAAA "+several.Get("Webhook-Signature"))
				require.Equal(t, http.StatusNoContent, post(t, address, several, e.body), "one of several signatures")
			}
		})
	}
}

// takeTurn has an example wait behind somebody, and sees that it is done when that one is.
func takeTurn(t *testing.T, base, name string, command []string) {
	room := base + "/api/room:" + name
	require.Equal(t, http.StatusOK, lock(t, http.MethodPost, room+"/lock"))
	cmd := exec.Command(command[0], append(command[1:], "example")...)
	cmd.Env = append(os.Environ(), "WAITROOM="+base, "ROOM=room:"+name)
	lines := output(t, cmd)
	require.Equal(t, "waiting 1", lines.next())
	require.Equal(t, http.StatusOK, lock(t, http.MethodDelete, room+"/lock"))
	line := lines.next()
	for line == "waiting 1" { // who asks again and again is told so again and again
		line = lines.next()
	}
	require.Regexp(t, `^locked \d+$`, line)
	require.Equal(t, "completed", lines.next())
}

// first is the session of whoever holds the lock before an example does.
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
		s := httptest.NewServer(&cgi.Handler{Path: script, Env: []string{"WAITROOM_WEBHOOK_SECRET=" + secret}, Stderr: io.Discard})
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

// reading is what a program writes, by the line.
type reading struct {
	t     *testing.T
	lines chan string
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

// output starts a program, which is ended with the test.
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
	return reading{t, lines}
}
