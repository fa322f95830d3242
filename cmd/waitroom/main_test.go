package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

const patience = time.Minute // no test depends on its length; it ends one that hangs

var program string // this binary under the program's name: see TestMain

// TestMain runs the program itself when started by its name, so that the tests need not build it again.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		main()
	}
	os.Exit(named(m))
}

const programName = "waitroom"

func named(m *testing.M) int {
	dir, err := os.MkdirTemp("", "waitroom")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err == nil {
		program = filepath.Join(dir, programName)
		err = os.Symlink(self, program)
	}
	if err != nil {
		panic(err)
	}
	return pgtest.Main(m)
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
	return startAs(t, exec.Command(program), args...)
}

// startAs is startReplica by a command of the program.
func startAs(t *testing.T, cmd *exec.Cmd, args ...string) *replica {
	t.Helper()
	addr := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t))
	logPath := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(logPath)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	cmd.Args = append(append(cmd.Args, "serve", "--addr", addr, "--database-url",
		"sqlite:"+filepath.Join(t.TempDir(), "waitroom.db")), args...)
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

// grants returns the store's new leases, from now on, each once.
func grants(t *testing.T, rdb *redis.Client) (next func() *room.EventLease) {
	t.Helper()
	sub := rdb.Subscribe(t.Context(), room.Channel("integration"))
	t.Cleanup(func() { _ = sub.Close() })
	_, err := sub.Receive(t.Context())
	require.NoError(t, err)
	published, last := sub.Channel(), int64(0)
	return func() *room.EventLease {
		t.Helper()
		for end := time.After(patience); ; {
			select {
			case m := <-published:
				e, err := room.ParseEvent(m.Payload)
				require.NoError(t, err)
				if e.Lease != nil && e.Lease.Fence > last {
					last = e.Lease.Fence
					return e.Lease
				}
			case <-end:
				require.FailNow(t, "nobody is granted the lock")
			}
		}
	}
}

func TestAC03_OtherReplicaHandsOffWhenTheOneThatGrantedIsKilledAndNoSellerIsConnected(t *testing.T) {
	t.Parallel()
	store := redistest.Start(t)
	args := []string{"--redis-url", store.URL(), "--lease", "3s"} // three join within one lease
	granting, other := startReplica(t, args...), startReplica(t, args...)
	next := grants(t, store.Client())
	sessions := []string{room.NewSession(), room.NewSession(), room.NewSession()}
	require.Equal(t, "locked", granting.join(sessions[0], "a"))
	require.Equal(t, "waiting", granting.join(sessions[1], "b"))
	require.Equal(t, "waiting", granting.join(sessions[2], "c"))
	before := next()
	require.Equal(t, sessions[0], before.Session)
	granting.Kill()

	for i, session := range sessions[1:] {
		now := next()
		require.Equal(t, session, now.Session)
		require.EqualValues(t, i+2, now.Ticket, "the line keeps its order")
		require.GreaterOrEqual(t, now.GrantedAt, before.ExpiresAt, "two leases overlap")
		t.Logf("ticket %d: granted %d ms after the lease before was over", now.Ticket,
			now.GrantedAt-before.ExpiresAt)
		before = now
	}
	other.Stop(syscall.SIGTERM)
}

func TestFirstSignalDrainsAndEndsWell(t *testing.T) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // children would inherit what nohup has this process ignore
	defer signal.Stop(hangups)
	for name, sig := range map[string]syscall.Signal{"terminated": syscall.SIGTERM,
		"the terminal is gone": syscall.SIGHUP} {
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
	t.Parallel()
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
	require.Contains(t, out.String(), "support token NAME ROLE")

	out.Reset()
	require.Zero(t, run([]string{"version"}, nil, &out, &problems))
	require.Contains(t, out.String(), "waitroom ")

	require.Equal(t, 1, run([]string{"fly"}, nil, &out, &problems))
	require.Contains(t, problems.String(), `"fly"`)
}

func TestSupportTokenPrintsATokenAndItsEntry(t *testing.T) {
	var out, problems bytes.Buffer
	require.Zero(t, run([]string{"support", "token", "zendesk", "act"}, nil, &out, &problems))
	lines := strings.Split(out.String(), "\n")
	sum := sha256.Sum256([]byte(lines[0]))
	require.Equal(t, []string{lines[0], "zendesk:act:" + hex.EncodeToString(sum[:]), ""}, lines)
	require.Contains(t, problems.String(), "WAITROOM_SUPPORT_TOKENS")
	for want, args := range map[string][]string{
		"usage: waitroom support token NAME watch|act": {"support"},
		"usage: waitroom support token":                {"support", "token", "zendesk"},
		"usage: waitroom support":                      {"support", "tokens", "zendesk", "act"},
		"neither watch nor act":                        {"support", "token", "zendesk", "admin"},
		`"a b"`:                                        {"support", "token", "a b", "act"},
	} {
		out.Reset()
		problems.Reset()
		require.Equal(t, 1, run(args, nil, &out, &problems))
		require.Contains(t, problems.String(), want)
		require.Empty(t, out.String())
	}
}

func TestHashPasswordReadsOneLineAndPrintsItsHash(t *testing.T) {
	var out, problems bytes.Buffer
	require.Zero(t, run([]string{"hash-password"}, strings.NewReader("correct horse\n"), &out, &problems))
	require.NoError(t, bcrypt.CompareHashAndPassword(bytes.TrimSpace(out.Bytes()), []byte("correct horse")))
	for _, bad := range []string{"", "\n", "a", "nine char", "아홉글자입니다요요", strings.Repeat("x", 73)} {
		require.Equal(t, 1, run([]string{"hash-password"}, strings.NewReader(bad), &out, &problems))
	}
}
