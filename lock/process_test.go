package lock_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/internal/testproc"
	"github.com/waitroom/waitroom/lock"
)

// roleEnv makes this test binary a contender instead: "ADDR KEY LEASE".
const roleEnv = "LOCK_TEST_ROLE"

// playRole takes the lock, says so, and keeps it until it is killed.
func playRole() int {
	f := strings.Fields(os.Getenv(roleEnv))
	lease, err := time.ParseDuration(f[2])
	if err != nil {
		return 2
	}
	key, err := lock.NewKey(strings.Split(f[1], ":")...)
	if err != nil {
		return 2
	}
	l := lock.New(redis.NewClient(&redis.Options{Addr: f[0]}), lock.Config{})
	held, err := l.TryLock(context.Background(), key, long, lease)
	fmt.Println(held, err)
	select {}
}

// contender starts a process that wants the lock; its first line says that it has it.
func contender(t *testing.T, addr string, key lock.Key, lease time.Duration) (*testproc.Process, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", roleEnv, addr, key, lease))
	said, out := io.Pipe()
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = said.Close()
		process.Kill()
	})
	return process, bufio.NewReader(said)
}

func TestProcessKilledWhileHoldingLosesTheLockAtTheEndOfItsLease(t *testing.T) {
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "killed-holder")
	process, said := contender(t, rdb.Addr(), key, 2*time.Second)
	_, err := said.ReadString('\n')
	require.NoError(t, err)
	dead := fenceOf(t, rdb, key)
	process.Kill()

	held, err := l.TryLock(ctx, key, soon, long)
	require.NoError(t, err)
	require.Greater(t, held.Fence, dead)
	require.NoError(t, l.Unlock(ctx, held))
}

func TestProcessKilledWhileWaitingIsPassedOver(t *testing.T) {
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "killed-waiter")
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	process, _ := contender(t, rdb.Addr(), key, long)
	waiting(t, l, key, 1)
	process.Kill()
	next := make(chan *lock.Lease, 1)
	go func() {
		held, err := l.TryLock(ctx, key, soon, long)
		if err != nil {
			t.Error(err)
		}
		next <- held
	}()
	waiting(t, l, key, 2)
	waiting(t, l, key, 1) // the dead one's place has ended, the living one's has not

	require.NoError(t, l.Unlock(ctx, held))
	second := <-next
	require.NotNil(t, second)
	require.Greater(t, second.Fence, held.Fence)
	require.NoError(t, l.Unlock(ctx, second))
}

// fenceOf reads the fence of the live lease where people read it.
func fenceOf(t *testing.T, s *redistest.Server, key lock.Key) int64 {
	t.Helper()
	var lease struct{ Fence int64 }
	text, err := s.Client().Get(t.Context(), "{lock:"+key.String()+"}:lock").Bytes()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &lease))
	return lease.Fence
}
