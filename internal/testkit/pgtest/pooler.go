package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// Pooler puts a pgbouncer in front of the server of a URL until the test ends. It returns the URL of the same
// database behind the pooler. The settings, such as "pool_mode = transaction", are added to its defaults,
// which pool sessions.
func Pooler(tb testing.TB, databaseURL string, settings ...string) string {
	tb.Helper()
	at, err := url.Parse(databaseURL)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	program := testproc.Find(tb, "pgbouncer", "/usr/sbin/pgbouncer")
	who, err := owner() // it refuses root, too
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	dir, err := tempDir(who)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := testproc.FreePort(tb)
	users, config := filepath.Join(dir, "users.txt"), filepath.Join(dir, "pgbouncer.ini")
	lines := append([]string{"[databases]", fmt.Sprintf("* = host=%s port=%s", at.Hostname(), at.Port()),
		"[pgbouncer]", "listen_addr = 127.0.0.1",
		fmt.Sprint("listen_port = ", port), "unix_socket_dir =", "auth_type = trust", "auth_file = " + users},
		settings...)
	for path, text := range map[string]string{users: `"postgres" ""` + "\n", config: strings.Join(lines, "\n") +
		"\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // another user reads it
			tb.Fatalf("pgtest: %v", err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(program, config)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if who != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who.credential()}
	}
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(process.Kill)
	at.Host = fmt.Sprint("127.0.0.1:", port)
	testproc.Until(tb, startWithin, func() error {
		conn, err := pgx.Connect(context.Background(), at.String())
		if err != nil {
			return fmt.Errorf("%w\n%s", err, testproc.LogTail(log.Name()))
		}
		return conn.Close(context.Background())
	})
	return at.String()
}
