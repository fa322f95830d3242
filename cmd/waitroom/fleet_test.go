package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// fleet is some replicas over one store and one database, each a process that the test may kill.
type fleet struct {
	t       *testing.T
	args    []string
	members []*member
	client  *http.Client
	failed  atomic.Int64 // requests that got no answer, or one above 499

	mu      sync.Mutex
	slowest map[string]time.Duration // the slowest request that was answered at once, by method
}

type member struct {
	addr, url, log string
	process        *testproc.Process
}

// startFleet returns when all are ready.
func startFleet(t *testing.T, n int, args ...string) *fleet {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	f := &fleet{t: t, args: args, slowest: map[string]time.Duration{},
		client: &http.Client{Transport: transport, Timeout: patience}}
	for i := range n {
		addr := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t))
		m := &member{addr: addr, url: "http://" + addr, log: filepath.Join(t.TempDir(), fmt.Sprint("log-", i))}
		f.members = append(f.members, m)
		f.start(m)
	}
	return f
}

// start starts a replica, a killed one on its old address, and returns when it is ready.
func (f *fleet) start(m *member) {
	f.t.Helper()
	file, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(f.t, err)
	defer func() { _ = file.Close() }()
	cmd := exec.Command(program, append([]string{"serve", "--addr", m.addr}, f.args...)...)
	cmd.Stderr = file
	m.process, err = testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(f.t, err)
	f.t.Cleanup(m.process.Kill)
	testproc.Until(f.t, patience, func() error {
		r, err := f.ask(f.t.Context(), m.url, call{method: http.MethodGet, path: "/readyz"})
		if err == nil && r.status != http.StatusOK {
			err = fmt.Errorf("readyz: %d %s", r.status, r.body)
		}
		if err != nil {
			return fmt.Errorf("%w\n%s", err, testproc.LogTail(m.log))
		}
		return nil
	})
}

// call is a request that may be repeated.
type call struct {
	method, path, body string
	session            string
	header             func() http.Header // made for each attempt; nil for none
}

// reply is an answer, with the times (unix ms) of its first attempt and its arrival.
type reply struct {
	status          int
	header          http.Header
	body            string
	asked, answered int64
	attempts        int
	lastAttempts    int64 // when the answered attempt began
}

// ask asks one replica, once.
func (f *fleet) ask(ctx context.Context, base string, c call) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, c.method, base+c.path, strings.NewReader(c.body))
	if err != nil {
		return reply{}, err
	}
	if c.header != nil {
		req.Header = c.header()
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		req.Header.Set("X-Session-ID", c.session)
	}
	r := reply{asked: time.Now().UnixMilli(), attempts: 1}
	resp, err := f.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	r.status, r.header, r.body, r.answered = resp.StatusCode, resp.Header, string(text), time.Now().UnixMilli()
	r.lastAttempts = r.asked
	return r, err
}

// insist asks one replica after the other, beginning with the one after members[n], until one answers
// without a server error.
func (f *fleet) insist(ctx context.Context, n int, c call) (reply, error) {
	began := time.Now().UnixMilli()
	for attempt := 1; ; attempt++ {
		r, err := f.ask(ctx, f.members[(n+attempt)%len(f.members)].url, c)
		if err == nil && r.status < http.StatusInternalServerError {
			f.took(c, r)
			r.asked, r.attempts = began, attempt
			return r, nil
		}
		f.failed.Add(1)
		if err := linger(ctx, 2*time.Millisecond); err != nil {
			return reply{}, fmt.Errorf("%s %s: %w", c.method, c.path, err)
		}
	}
}

func (f *fleet) took(c call, r reply) {
	name := c.method + " lock"
	if strings.HasSuffix(c.path, "/sms") {
		name = "POST sms"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slowest[name] = max(f.slowest[name], time.Duration(r.answered-r.asked)*time.Millisecond)
}

// linger waits for the delay of a person or a network.
func linger(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
