package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

const patience = 30 * time.Second

var program string // the built binary

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "waitroom")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "waitroom")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build: %v\n%s", err, out))
	}
	return m.Run()
}

// replica is a server in a process of its own.
type replica struct {
	*testproc.Process
	t    *testing.T
	url  string
	addr string
	log  string
}

// startReplica starts `waitroom serve` and returns when it is ready.
func startReplica(t *testing.T, args ...string) *replica {
	t.Helper()
	addr := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t))
	logPath := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(logPath)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	cmd := exec.Command(program, append([]string{"serve", "--addr", addr,
		"--database-url", "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db")}, args...)...)
	cmd.Stderr = file
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(t, err)
	t.Cleanup(process.Kill)
	r := &replica{Process: process, t: t, url: "http://" + addr, addr: addr, log: logPath}
	testproc.Until(t, patience, func() error {
		resp, err := http.Get(r.url + "/readyz")
		if err != nil {
			return fmt.Errorf("%w\n%s", err, testproc.LogTail(logPath))
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz: %s", resp.Status)
		}
		return nil
	})
	return r
}

// join presses 준비 완료 and returns the session's status.
func (r *replica) join(session, seller string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/api/integration/lock",
		strings.NewReader(`{"seller_id":"`+seller+`"}`))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Session-ID", session)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Status string }
	require.NoError(r.t, json.NewDecoder(resp.Body).Decode(&answer))
	return answer.Status
}

// holder is what {room}:lock says. Reading the key moves nothing, as asking a server would.
type holder struct {
	Session   string    `json:"session_id"`
	Ticket    int64     `json:"ticket"`
	Fence     int64     `json:"fence"`
	LockedAt  time.Time `json:"locked_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// awaitHolder returns when the session holds the lock.
func awaitHolder(t *testing.T, rdb *redis.Client, session string) (h holder) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		text, err := rdb.Get(t.Context(), room.LockKey("integration")).Bytes()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &h); err != nil {
			return err
		}
		if h.Session != session {
			return fmt.Errorf("ticket %d holds the lock", h.Ticket)
		}
		return nil
	})
	return h
}

func TestAC03_OtherReplicaHandsOffWhenTheOneThatGrantedIsKilledAndNobodyIsConnected(t *testing.T) {
	store := redistest.Start(t)
	args := []string{"--redis-url", store.URL(), "--lease", "2s"} // each lease has to be seen
	granting, other := startReplica(t, args...), startReplica(t, args...)
	sessions := []string{room.NewSession(), room.NewSession(), room.NewSession()}
	require.Equal(t, "locked", granting.join(sessions[0], "a"))
	require.Equal(t, "waiting", granting.join(sessions[1], "b"))
	require.Equal(t, "waiting", granting.join(sessions[2], "c"))
	before := awaitHolder(t, store.Client(), sessions[0])
	granting.Kill()

	for i, session := range sessions[1:] {
		now := awaitHolder(t, store.Client(), session)
		require.EqualValues(t, i+2, now.Ticket, "the line keeps its order")
		require.Greater(t, now.Fence, before.Fence)
		require.False(t, now.LockedAt.Before(before.ExpiresAt), "two leases overlap")
		t.Logf("ticket %d: granted %s after the lease before was over", now.Ticket, now.LockedAt.Sub(before.ExpiresAt))
		before = now
	}
	other.Stop(syscall.SIGTERM)
}

func TestFirstSignalDrainsAndEndsWell(t *testing.T) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // what nohup has this process ignore, its children would, too
	defer signal.Stop(hangups)
	for name, sig := range map[string]syscall.Signal{"terminated": syscall.SIGTERM, "the terminal is gone": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			r := startReplica(t)
			require.Equal(t, "locked", r.join(room.NewSession(), "a"))
			r.Signal(sig)
			select {
			case <-r.Done():
			case <-time.After(patience):
				t.Fatal("the server does not end")
			}
			require.Contains(t, testproc.LogTail(r.log), "waitroom is open at "+r.url)
			require.Contains(t, testproc.LogTail(r.log), "shutting down")
		})
	}
}

func TestHealthcheckFollowsTheServer(t *testing.T) {
	r := startReplica(t)
	var out, problems bytes.Buffer
	require.Zero(t, run([]string{"healthcheck", "--addr", r.addr}, nil, &out, &problems), problems.String())
	r.Kill()
	require.Equal(t, 1, run([]string{"healthcheck", "--addr", r.addr}, nil, &out, &problems))
	require.Contains(t, problems.String(), r.addr)
}

func TestWrongSettingEndsTheStartWithItsName(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), "WAITROOM_LEASE=3h")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Contains(t, string(out), `WAITROOM_LEASE (--lease) is "3h"`)
}

func TestCommandsThatNeedNoServer(t *testing.T) {
	var out, problems bytes.Buffer
	require.Zero(t, run([]string{"--help"}, nil, &out, &problems))
	require.Contains(t, out.String(), "WAITROOM_REDIS_URL")
	require.Contains(t, out.String(), "hash-password")

	out.Reset()
	require.Zero(t, run([]string{"version"}, nil, &out, &problems))
	require.Contains(t, out.String(), "waitroom ")

	require.Equal(t, 1, run([]string{"fly"}, nil, &out, &problems))
	require.Contains(t, problems.String(), `"fly"`)
}

func TestHashPasswordReadsOneLineAndPrintsItsHash(t *testing.T) {
	var out, problems bytes.Buffer
	require.Zero(t, run([]string{"hash-password"}, strings.NewReader("correct horse\n"), &out, &problems))
	require.NoError(t, bcrypt.CompareHashAndPassword(bytes.TrimSpace(out.Bytes()), []byte("correct horse")))
	for _, bad := range []string{"", "\n", strings.Repeat("x", 73)} {
		require.Equal(t, 1, run([]string{"hash-password"}, strings.NewReader(bad), &out, &problems))
	}
}
