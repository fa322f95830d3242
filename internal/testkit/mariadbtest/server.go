package mariadbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// server is one data directory and the process that serves it on a socket in it.
type server struct {
	dir       string
	process   *testproc.Process
	databases atomic.Int64
}

// start returns when the server answers. Also after an error, the caller calls remove.
func (s *server) start() error {
	bin, err := findBin()
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("/tmp", "my"); err != nil { // a socket's path has room for about 100 bytes
		return err
	}
	if err := os.Mkdir(s.data(), 0o700); err != nil {
		return err
	}
	log, err := os.Create(s.logPath())
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	// Without accounts there are no system tables to make, which would take longer than the start itself.
	cmd := exec.Command(bin, "--no-defaults", "--datadir="+s.data(), "--socket="+s.socket(), "--skip-networking",
		"--skip-grant-tables",
		"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0",
		"--innodb-fast-shutdown=2",
		"--character-set-server=utf8mb4", "--max-connections=200", "--tmpdir="+s.dir)
	if os.Geteuid() == 0 {
		cmd.Args = append(cmd.Args, "--user=root") // it refuses root without this
	}
	cmd.Stdout, cmd.Stderr = log, log
	if s.process, err = testproc.Start(cmd, syscall.SIGKILL); err != nil {
		return err
	}
	if err := s.untilAnswers(); err != nil {
		return fmt.Errorf("%w\n%s", err, testproc.LogTail(s.logPath()))
	}
	return nil
}

func (s *server) untilAnswers() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.exec(ctx, "DO 1")
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.process.Done():
			return errors.New("mariadbd ended")
		case <-ctx.Done():
			return fmt.Errorf("mariadbd does not answer: %w", errors.Join(err, ctx.Err()))
		}
	}
}

func (s *server) exec(ctx context.Context, query string) error {
	db, err := sql.Open("mysql", s.dsn(""))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, query)
	return err
}

// remove kills the server and deletes its data.
func (s *server) remove() {
	if s.process != nil {
		s.process.Kill()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

func (s *server) data() string    { return filepath.Join(s.dir, "data") }
func (s *server) socket() string  { return filepath.Join(s.dir, "s") }
func (s *server) logPath() string { return filepath.Join(s.dir, "mariadb.log") }

func (s *server) dsn(database string) string {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", s.socket(), database
	c.Logger = &mysql.NopLogger{} // until it answers, it would log each refused dial
	return c.FormatDSN()
}

// findBin finds the server's program, which Debian installs outside of most users' PATH.
func findBin() (string, error) {
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("mariadb is not installed: run `make setup`")
}
