package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// shown is a demo in a process of its own.
type shown struct {
	process   *testproc.Process
	cmd       *exec.Cmd
	lines     *bufio.Scanner
	temporary string
}

const programName = "demo"

// TestMain is the demo itself if the binary was started under its name, so that the tests need not build it
// again.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs a demo. It occupies the usual port if that is free, since several demos that start at once would
// all try it.
func start(t *testing.T, env ...string) *shown {
	if usual, err := net.Listen("tcp", usual); err == nil {
		t.Cleanup(func() { _ = usual.Close() })
	}
	self, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), programName)
	require.NoError(t, os.Symlink(self, program))
	s := &shown{cmd: exec.Command(program), temporary: t.TempDir()}
	s.cmd.Env = append(append(os.Environ(), "TMPDIR="+s.temporary), env...)
	s.cmd.Stderr = os.Stderr
	read, write, err := os.Pipe()
	require.NoError(t, err)
	s.cmd.Stdout = write
	s.process, err = testproc.Start(s.cmd, syscall.SIGKILL)
	require.NoError(t, err)
	require.NoError(t, write.Close())
	t.Cleanup(func() { s.process.Kill(); _ = read.Close() })
	s.lines = bufio.NewScanner(read)
	return s
}

// until reads until a line matches, and returns the pattern's groups.
func (s *shown) until(t *testing.T, pattern string) []string {
	re := regexp.MustCompile(pattern)
	for s.lines.Scan() {
		if m := re.FindStringSubmatch(s.lines.Text()); m != nil {
			return m
		}
	}
	require.Fail(t, "the demo has gone without a word of "+pattern)
	return nil
}

// ends requires that the demo has ended well and left nothing behind.
func (s *shown) ends(t *testing.T, url string) {
	go func() {
		for s.lines.Scan() {
		}
	}()
	select {
	case <-s.process.Done():
	case <-time.After(2 * time.Minute):
		require.Fail(t, "the demo does not end")
	}
	require.Zero(t, s.cmd.ProcessState.ExitCode())
	_, err := http.Get(url)
	require.Error(t, err, "the server goes on")
	left, err := os.ReadDir(s.temporary)
	require.NoError(t, err)
	require.Empty(t, left, "the data stays")
}

func TestTheDemoShowsALivingLineAndEndsByItself(t *testing.T) {
	t.Parallel()
	s := start(t, "DEMO_FOR=15s", "WAITROOM_LEASE=nonsense for another server")
	page := s.until(t, `(http://127\.0\.0\.1:\d+)(/rooms/integration)`)
	desk := s.until(t, `(http://\S+/support) +user (\S+), password (\S+)`)
	for _, address := range []string{page[0], desk[1]} {
		resp, err := http.Get(address)
		require.NoError(t, err)
		_ = resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode, address)
	}
	s.until(t, `sockets`)
	testproc.Until(t, time.Minute, func() error { // the first word of the sockets may be of none
		resp, err := http.Get(page[1] + "/api/integration/lock/status")
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		status, err := io.ReadAll(resp.Body)
		if err == nil && !strings.Contains(string(status), `"status":"locked"`) {
			err = errors.New(string(status))
		}
		return err
	})
	s.ends(t, page[1])
}

func TestTheDemoEndsAtCtrlC(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := s.until(t, `(http://127\.0\.0\.1:\d+)(/rooms/integration)`)
	s.until(t, `sockets`)
	s.process.Signal(os.Interrupt.(syscall.Signal))
	s.ends(t, page[1])
}

// A person joins by the page, waits for a turn, asks for a code and gets it.
func TestAPersonInTheDemoGetsTheCodeThatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := s.until(t, `(http://127\.0\.0\.1:\d+)(/rooms/integration)`)
	go func() {
		for s.lines.Scan() {
		}
	}()
	const session = "7c9a6a8e-4e0f-4f0c-9a35-3f1f8c1f7b11"
	ask := func(method, path, body string) string {
		req, err := http.NewRequest(method, page[1]+"/api/musinsa"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("X-Session-ID", session)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "the one ask")
		resp, err := http.DefaultClient.Do(req)
		if err != nil { // it says why it ends
			select {
			case <-s.process.Done():
			case <-time.After(time.Minute):
			}
		}
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		text := new(strings.Builder)
		_, err = bufio.NewReader(resp.Body).WriteTo(text)
		require.NoError(t, err)
		return text.String()
	}
	ask(http.MethodPost, "/lock", `{"seller_id":"person","asks":true}`)
	testproc.Until(t, 2*time.Minute, func() error {
		status := ask(http.MethodGet, "/lock/status", "")
		if fence := regexp.MustCompile(
			`"me":\{"status":"locked".*"fence":(\d+)`).FindStringSubmatch(status); fence != nil {
			ask(http.MethodPost, "/lock/expect", `{"fence":`+fence[1]+`}`)
		}
		if !strings.Contains(status, `"outcome":"completed"`) {
			return errors.New(status)
		}
		return nil
	})
}
