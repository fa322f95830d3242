package lockredis_test

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

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
)

// roleEnv is the variable that makes this test binary a contender for a lock: "ADDR KEY LEASE ROLE".
const roleEnv = "LOCK_TEST_ROLE"

const (
	holds   = "holds"   // and lets the lease run
	extends = "extends" // extends it once, by as much again
	renews  = "renews"  // renews it as KeepAlive does
)

// playRole takes the lock, prints its token, and keeps it until it is killed.
func playRole() int {
	f := strings.Fields(os.Getenv(roleEnv))
	lease, err := time.ParseDuration(f[2])
	if err != nil {
		return 2
	}
	key, err := lock.ParseKey(f[1])
	if err != nil {
		return 2
	}
	ctx := context.Background()
	l := lockredis.New(redis.NewClient(&redis.Options{Addr: f[0]}), lockredis.Config{})
	if f[3] == renews {
		r := &renewed{Locker: l}
		_ = lock.Do(ctx, r, key, long, lease, func(ctx context.Context, _ int64) error { <-ctx.Done(); return nil },
			lock.KeepAlive)
		return 2 // it could not renew it
	}
	held, err := l.Lock(ctx, key, lease)
	if err == nil && f[3] == extends {
		err = l.Extend(ctx, held, lease)
	}
	if err != nil {
		return 2
	}
	fmt.Println(held.Token())
	select {}
}

// renewed is a Locker that prints the lease's token after the second renewal.
type renewed struct {
	lock.Locker
	times int
}

func (r *renewed) Extend(ctx context.Context, lease *lock.Lease, by time.Duration) error {
	err := r.Locker.Extend(ctx, lease, by)
	if r.times++; r.times == 2 && err == nil {
		fmt.Println(lease.Token())
	}
	return err
}

// contender starts a process that takes the lock. Its first line is the token of its lease; it prints none if
// it ends before.
func contender(t *testing.T, addr string, key lock.Key, lease time.Duration, role string) (*testproc.Process,
	*bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %s", roleEnv, addr, key, lease, role))
	output, out := io.Pipe()
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = output.Close()
		process.Kill()
	})
	go func() {
		<-process.Done()
		_ = out.Close()
	}()
	return process, bufio.NewReader(output)
}

// died kills a process that holds the lock, in its role. If the lease ended before that on a slow machine,
// died tries again with a longer one.
func died(ctx context.Context, t *testing.T, l *lockredis.Locker, addr, role string) *lock.Lease {
	t.Helper()
	for lease := 1200 * time.Millisecond; ; lease *= 2 {
		process, output := contender(t, addr, newKey(t, "order", "killed:"+role), lease, role)
		token, err := output.ReadString('\n')
		process.Kill()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			require.NoError(t, ctx.Err())
			continue
		}
		held, err := l.Resume(ctx, strings.TrimSpace(token))
		if err == nil {
			return held
		}
		require.ErrorIs(t, err, lock.ErrNotHeld, role)
	}
}

func TestProcessKilledWhileHoldingLosesTheLockAtTheEndOfItsLease(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, dead := newLocker(t, rdb.Client()), map[string]*lock.Lease{}
	for _, role := range []string{extends, renews, holds} { // the longest first
		dead[role] = died(ctx, t, l, rdb.Addr(), role)
	}
	for role, lost := range dead {
		held, err := l.Lock(ctx, lost.Key, long)
		require.NoError(t, err, role)
		require.False(t, time.Now().Before(lost.ExpiresAt), "that %s: not a moment earlier", role)
		require.Greater(t, held.Fence, lost.Fence)
		require.ErrorIs(t, l.Unlock(ctx, lost), lock.ErrNotHeld)
		require.NoError(t, l.Unlock(ctx, held))
	}
}

func TestLeaseOfAKilledProcessIsResumedByAnother(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "resumed")
	process, output := contender(t, rdb.Addr(), key, long, holds)
	token, err := output.ReadString('\n')
	require.NoError(t, err)
	process.Kill()
	held, err := l.Resume(ctx, strings.TrimSpace(token))
	require.NoError(t, err)
	require.NoError(t, l.Extend(ctx, held, long))
	require.NoError(t, l.Unlock(ctx, held))
}

func TestProcessKilledWhileWaitingIsPassedOver(t *testing.T) {
	t.Parallel()
	ctx := within(t)
	rdb := redistest.Start(t)
	l, key := newLocker(t, rdb.Client()), newKey(t, "order", "killed-waiter")
	held, err := l.TryLock(ctx, key, 0, long)
	require.NoError(t, err)
	process, _ := contender(t, rdb.Addr(), key, long, holds)
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

// fenceOf reads the fence of the live lease from its key in Redis.
func fenceOf(t *testing.T, s *redistest.Server, key lock.Key) int64 {
	t.Helper()
	var lease struct{ Fence int64 }
	text, err := s.Client().Get(t.Context(), "{lock:"+key.String()+"}:lock").Bytes()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &lease))
	return lease.Fence
}
