package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// server is one data directory and the process that serves it.
type server struct {
	bin       string // directory of initdb and postgres
	dir       string
	port      int
	owner     *account // nil: the user of the test
	settings  []string // more of name=value
	process   *testproc.Process
	databases atomic.Int64
	kept      string // the template of the data directory; "" = none
	version   int    // as server_version_num has it
	admin     admin
}

// newServer returns one without a data directory. Also after an error, the caller calls remove.
func newServer() (_ *server, err error) {
	s := &server{}
	if s.bin, err = findBin(); err != nil {
		return s, err
	}
	if s.owner, err = owner(); err != nil {
		return s, err
	}
	if s.port, err = testproc.Port(); err != nil {
		return s, err
	}
	s.dir, err = tempDir(s.owner)
	return s, err
}

// start returns when the server answers; it does nothing if the server already runs.
func (s *server) start() error {
	if s.process != nil {
		return nil
	}
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.port),
		"-h", "127.0.0.1", "-k", s.dir,
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
		"-c", "max_connections=200", "-c", "shared_buffers=32MB"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	cmd := s.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	// SIGQUIT makes postgres end at once and still take its children and shared memory with it.
	if s.process, err = testproc.Start(cmd, syscall.SIGQUIT); err != nil {
		return err
	}
	if err := s.untilAnswers(); err != nil {
		return fmt.Errorf("%w\n%s", err, testproc.LogTail(s.logPath()))
	}
	return nil
}

// untilAnswers checks the data directory of the server that answers, since another server may have the same
// port.
func (s *server) untilAnswers() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.ready()
		if err == nil {
			err = s.ask(ctx)
		}
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.process.Done():
			return errors.New("postgres ended")
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w", errors.Join(err, ctx.Err()))
		}
	}
}

// ready reads the server's own status file, which costs less than a refused connection.
func (s *server) ready() error {
	const stateLine = 7
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) <= stateLine || strings.TrimSpace(lines[stateLine]) != "ready" {
		return fmt.Errorf("postmaster.pid: %q", lines)
	}
	return nil
}

func (s *server) ask(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var data string
	if err := conn.QueryRow(ctx, "SELECT current_setting('data_directory'), "+
		"current_setting('server_version_num')::int").Scan(&data, &s.version); err != nil {
		return err
	}
	if data != s.data() {
		return errors.New("another server has the port: " + data)
	}
	return nil
}

// stop breaks every connection and waits until the server is gone.
func (s *server) stop() { s.end(syscall.SIGINT) }

func (s *server) end(sig syscall.Signal) {
	if s.process == nil {
		return
	}
	s.admin.close()
	s.process.Stop(sig)
	s.process = nil
}

// remove kills the server and deletes its data.
func (s *server) remove() {
	s.end(syscall.SIGQUIT)
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

func (s *server) data() string    { return filepath.Join(s.dir, "data") }
func (s *server) logPath() string { return filepath.Join(s.dir, "postgres.log") }

func (s *server) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

func (s *server) nextDatabase() string { return fmt.Sprintf("test_%d", s.databases.Add(1)) }

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	if s.owner != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner.credential()}
	}
	return cmd
}

// findBin finds the newest version's programs, which Debian installs outside of PATH.
func findBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, byVersion)), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errors.New("postgresql is not installed: run `make setup`")
}

func byVersion(a, b string) int { return version(a) - version(b) }

func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}
