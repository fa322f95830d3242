package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const startWithin = time.Minute

// lab is a Redis, a PostgreSQL and one replica of the checkout, to be measured.
type lab struct {
	dir, url, key string
	signer        *webhooks.Webhook // as the carrier
	rdb           *redis.Client
	db            *pgx.Conn
	program       string
	replica       int // process id
	stop          func()
	postmaster    int
	undo          []func()
}

// openLab returns when the replica is ready. The caller calls Close, also after an error.
func openLab(ctx context.Context, root string) (l *lab, err error) {
	l = &lab{}
	if l.dir, err = os.MkdirTemp("", "waitroom-growth-"); err != nil {
		return l, err
	}
	l.undo = append(l.undo, func() { _ = os.RemoveAll(l.dir) })
	if err := l.stores(ctx); err != nil {
		return l, err
	}
	l.program = filepath.Join(l.dir, "waitroom")
	build := exec.CommandContext(ctx, "go", "build", "-o", l.program, "./cmd/waitroom")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return l, fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := l.carrier(); err != nil {
		return l, err
	}
	return l, l.serve(ctx)
}

func (l *lab) close() {
	for _, undo := range slices.Backward(l.undo) {
		undo()
	}
}

func (l *lab) stores(ctx context.Context) error {
	addr, err := l.launchRedis()
	if err != nil {
		return err
	}
	l.rdb = redis.NewClient(&redis.Options{Addr: addr})
	l.undo = append(l.undo, func() { _ = l.rdb.Close() })
	if err := until(ctx, func() error { return l.rdb.Ping(ctx).Err() }); err != nil {
		return err
	}
	url, stop, err := pgtest.Serve()
	if err != nil {
		return err
	}
	l.undo = append(l.undo, stop)
	if l.db, err = pgx.Connect(ctx, url); err != nil {
		return err
	}
	l.undo = append(l.undo, func() { _ = l.db.Close(ctx) })
	var backend int
	if err := l.db.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return err
	}
	l.postmaster = parentOf(backend)
	return nil
}

// serve starts the replica, or replaces it by a new one, whose memory is unaffected by what came before.
func (l *lab) serve(ctx context.Context) (err error) {
	if l.stop != nil {
		l.stop()
	}
	l.url, l.replica, l.stop, err = l.another(ctx)
	return err
}

// another starts a further replica, with a lease so long that none ends during the measurement.
func (l *lab) another(ctx context.Context) (url string, pid int, stop func(), err error) {
	addr, err := address()
	if err != nil {
		return "", 0, nil, err
	}
	cmd := exec.Command(l.program, "serve")
	cmd.Env = append(os.Environ(), "WAITROOM_ADDR="+addr, "WAITROOM_REDIS_URL=redis://"+l.rdb.Options().Addr,
		"WAITROOM_DATABASE_URL="+l.db.Config().ConnString(), "WAITROOM_ROOMS=integration,growth:*",
		"WAITROOM_LEASE=10m",
		"WAITROOM_SMS_WEBHOOK_SECRET="+l.key, "WAITROOM_LOG_LEVEL=warn",
		"WAITROOM_RATE_LIMIT=0", "WAITROOM_PLACES_PER_IP=0", "WAITROOM_SOCKETS_PER_IP=0", "WAITROOM_ROOM_LIMIT=0",
		"WAITROOM_PLACES_PER_IP=0", "WAITROOM_SOCKETS_PER_IP=0")
	if pid, stop, err = l.start(cmd); err != nil {
		return "", 0, nil, err
	}
	url = "http://" + addr
	return url, pid, stop, until(ctx, func() error { _, err := get(url + "/readyz"); return err })
}

// carrier makes the secret with which the carrier signs.
func (l *lab) carrier() (err error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	l.key = "whsec_" + base64.StdEncoding.EncodeToString(secret)
	l.signer, err = webhooks.NewWebhook(l.key)
	return err
}

// launchRedis starts a redis-server on a free port and returns its address.
func (l *lab) launchRedis(args ...string) (addr string, err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", err
	}
	if addr, err = address(); err != nil {
		return "", err
	}
	port := addr[strings.LastIndexByte(addr, ':')+1:]
	_, _, err = l.start(exec.Command(path, append([]string{"--bind", "127.0.0.1", "--port", port, "--save", "",
		"--dir", l.dir}, args...)...))
	return addr, err
}

func (l *lab) start(cmd *exec.Cmd) (pid int, stop func(), err error) {
	out, err := os.OpenFile(filepath.Join(l.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, l.dir
	p, err := testproc.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return 0, nil, err
	}
	stop = func() { p.Stop(syscall.SIGTERM) }
	l.undo = append(l.undo, stop)
	return p.Pid(), stop, nil
}

func address() (string, error) {
	port, err := testproc.Port()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

func until(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// used is the processor time of each process, in µs.
type used struct{ redis, replica, db float64 }

func (u used) minus(v used, share float64) used {
	return used{u.redis - v.redis*share, u.replica - v.replica*share, u.db - v.db*share}
}

func (l *lab) used(ctx context.Context) (u used, err error) {
	if u.redis, err = redisUsed(ctx, l.rdb); err != nil {
		return u, err
	}
	u.replica = worked(l.replica)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats { // PostgreSQL has a process for each connection
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); pid == l.postmaster ||
			parentOf(pid) == l.postmaster {
			u.db += worked(pid)
		}
	}
	return u, nil
}

func redisUsed(ctx context.Context, rdb *redis.Client) (float64, error) {
	info, err := rdb.InfoMap(ctx, "cpu").Result()
	if err != nil {
		return 0, err
	}
	system, _ := strconv.ParseFloat(info["CPU"]["used_cpu_sys"], 64)
	user, _ := strconv.ParseFloat(info["CPU"]["used_cpu_user"], 64)
	return (system + user) * 1e6, nil
}

// stat returns the fields of /proc/PID/stat after the process's name, which may contain anything.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return make([]string, 16)
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

func parentOf(pid int) int {
	parent, _ := strconv.Atoi(stat(pid)[1])
	return parent
}

// worked returns the processor time of a process's threads in µs. /proc/PID/stat has only hundredths of a
// second.
func worked(pid int) (µs float64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path) // one that ended meanwhile is left out
		ns, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseFloat(ns, 64)
		µs += n / 1e3
	}
	return µs
}

// resident returns a process's resident memory in KiB.
func resident(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib
		}
	}
	return 0
}
