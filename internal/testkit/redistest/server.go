// Package redistest starts the Redis that a test needs. There are one server, a server with sentinels, a
// cluster, the embedded one, and a proxy that fails as networks fail. Everything is on 127.0.0.1, keeps
// nothing unless a test wants it, and is gone with the test or with the test binary.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const startWithin = 60 * time.Second

var errGone = errors.New("redis-server ended")

// Config lists the differences from a plain server without persistence.
type Config struct {
	// Args are more arguments of redis-server, such as "--notify-keyspace-events", "Kgx" or
	// "--rename-command", "CONFIG", "".
	Args []string
	// Clock is the server's wall clock; nil = the machine's.
	Clock *Clock
}

// Server is one redis-server. Only the test's own goroutine may call its methods.
type Server struct {
	tb      testing.TB
	program string
	dir     string
	port    int
	args    []string
	env     []string // beside ours
	process *testproc.Process
	client  *redis.Client
}

// Start runs a plain redis-server until the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	return StartWith(tb, Config{})
}

// StartWith runs a redis-server until the test ends.
func StartWith(tb testing.TB, c Config) *Server {
	tb.Helper()
	s := launchServer(tb, tb.TempDir(), c)
	tb.Cleanup(s.Kill)
	return s
}

func launchServer(tb testing.TB, dir string, c Config) *Server {
	tb.Helper()
	s := &Server{tb: tb, program: testproc.Find(tb, "redis-server"), dir: dir, args: c.Args}
	if c.Clock != nil {
		s.env = c.Clock.Env()
	}
	const attempts = 5 // another process can take a free port first
	for attempt := 1; ; attempt++ {
		s.port = testproc.FreePort(tb)
		err := s.start()
		if err == nil {
			break
		}
		if attempt == attempts || !errors.Is(err, errGone) {
			tb.Fatalf("redistest: %v", err)
		}
	}
	return s
}

// Addr is host:port.
func (s *Server) Addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Dir returns the directory of the server's files: its log, and its data if it persists any.
func (s *Server) Dir() string { return s.dir }

// URL returns the REDIS_URL.
func (s *Server) URL() string { return "redis://" + s.Addr() }

// Client returns the server's one client, which the end of the test closes.
func (s *Server) Client() *redis.Client {
	if s.client == nil {
		s.client = newClient(s.tb, s.Addr())
	}
	return s.client
}

// Stop ends the server by SIGTERM; the port stays reserved for Restart.
func (s *Server) Stop() { s.process.Stop(syscall.SIGTERM) }

// Kill ends the server at once (SIGKILL).
func (s *Server) Kill() { s.process.Kill() }

// Pause freezes the server: connections stay open and nothing answers until Resume.
func (s *Server) Pause() { s.process.Signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (s *Server) Resume() { s.process.Signal(syscall.SIGCONT) }

// Restart kills the server if it still runs, and starts it on the same port and in the same directory. With
// "--appendonly", "yes" it has its data again, otherwise it is empty.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Kill()
	if err := s.start(); err != nil {
		s.tb.Fatalf("redistest: restart: %v", err)
	}
}

// start returns when the server answers.
func (s *Server) start() error {
	args := append([]string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--save", "", "--dir", s.dir},
		s.args...)
	process, logPath, err := launch(s.program, s.dir, args, s.env...)
	if err != nil {
		return err
	}
	s.process = process
	if err := s.untilAnswers(); err != nil {
		process.Kill()
		return fmt.Errorf("%w\n%s", err, testproc.LogTail(logPath))
	}
	return nil
}

// untilAnswers checks the process id of the server that answers, since another server may have the same port.
func (s *Server) untilAnswers() error {
	client := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	mine := fmt.Sprintf("process_id:%d\r\n", s.process.Pid())
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.listens(ctx)
		if err == nil { // the client would wait long after each refused dial
			var info string
			if info, err = client.Info(ctx, "server").Result(); err == nil && strings.Contains(info, mine) {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-s.process.Done():
			return errGone
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", s.Addr(), errors.Join(err, ctx.Err()))
		}
	}
}

func (s *Server) listens(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return err
	}
	return conn.Close()
}

// launch starts a Redis program whose output goes to a log beside its data.
func launch(program, dir string, args []string, env ...string) (*testproc.Process, string, error) {
	logPath := filepath.Join(dir, "redis.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = log.Close() }() // the child has its own copy
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), env...)
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	return process, logPath, err
}

func newClient(tb testing.TB, addr string) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: addr})
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// StartEmbedded runs the in-process store that the product uses by default, with TTLs that follow the clock.
func StartEmbedded(tb testing.TB) *miniredis.Miniredis {
	tb.Helper()
	m := miniredis.RunT(tb)
	m.ClockTTL(true)
	return m
}
