package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/internal/pgtest"
	"github.com/waitroom/waitroom/internal/testproc"
)

const (
	startWithin = 60 * time.Second
	lease       = 10 * time.Second // short, so that leases that nobody ends are seen to expire
	supportName = "load"
)

// stack is what a run starts: Redis, PostgreSQL, replicas and haproxy, on free ports of loopback, with everything in one directory.
type stack struct {
	dir      string
	program  string
	url      string   // of the balancer
	env      []string // for k6
	config   []string // of the replicas
	replicas []*replica
	watched  []*child // in the order in which they are shown
	undo     []func() // in the order in which it was done
}

// child is a process of the stack.
type child struct {
	name string
	log  string

	mu      sync.Mutex
	process *testproc.Process // another one when it came back
}

func (c *child) pid() int { return c.running().Pid() }

func (c *child) running() *testproc.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

func (c *child) run(p *testproc.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process = p
}

// replica is a child that can come back on its address.
type replica struct {
	child
	addr string
}

// start returns when the balancer sends requests to every replica. What it started is to be stopped also beside an error.
func (s *stack) start(ctx context.Context, c config) (err error) {
	haproxy, err := find("haproxy")
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "waitroom-load-"); err != nil {
		return err
	}
	s.undo = append(s.undo, func() { _ = os.RemoveAll(s.dir) })
	log.Printf("building waitroom %s", c.broken)
	if s.program, err = build(ctx, c.root, s.dir, c.broken); err != nil {
		return err
	}
	log.Printf("starting redis, postgresql, %d replicas and haproxy", c.replicas)
	if err := s.configure(ctx); err != nil {
		return err
	}
	for i := range c.replicas {
		if err := s.addReplica(ctx, i+1); err != nil {
			return err
		}
	}
	return s.balance(ctx, haproxy)
}

// stop ends what was started, the last first.
func (s *stack) stop() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
	s.undo = nil
}

// configure starts what the replicas share and makes their settings.
func (s *stack) configure(ctx context.Context) error {
	redis, err := s.redis(ctx)
	if err != nil {
		return err
	}
	database, stop, err := pgtest.Serve()
	if err != nil {
		return err
	}
	s.undo = append(s.undo, stop)
	secret, password := random("whsec_", 32), random("", 18)
	hash := exec.CommandContext(ctx, s.program, "hash-password")
	hash.Stdin = strings.NewReader(password + "\n")
	hashed, err := hash.Output()
	if err != nil {
		return fmt.Errorf("waitroom hash-password: %w", err)
	}
	s.env = []string{"SMS_SECRET=" + secret, "SUPPORT_USER=" + supportName, "SUPPORT_PASSWORD=" + password}
	s.config = []string{
		"WAITROOM_REDIS_URL=redis://" + redis, "WAITROOM_DATABASE_URL=" + database,
		"WAITROOM_ROOMS=integration,load:*", "WAITROOM_LEASE=" + lease.String(),
		"WAITROOM_SMS_WEBHOOK_SECRET=" + secret, "WAITROOM_SUPPORT_USERS=" + supportName + ":" + strings.TrimSpace(string(hashed)),
		"WAITROOM_TRUSTED_PROXIES=127.0.0.1", "WAITROOM_LOG_LEVEL=warn",
		// All sellers come from one address here. What a replica does not know it says and goes on.
		"WAITROOM_RATE_LIMIT=0", "WAITROOM_PLACES_PER_IP=0", "WAITROOM_SOCKETS_PER_IP=0",
	}
	return nil
}

func (s *stack) redis(ctx context.Context) (addr string, err error) {
	program, err := find("redis-server")
	if err != nil {
		return "", err
	}
	if addr, err = address(); err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(addr)
	c, err := s.launch("redis", exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", s.dir), syscall.SIGTERM)
	if err != nil {
		return "", err
	}
	s.watched = append(s.watched, c)
	return addr, c.until(ctx, func() error {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

func (s *stack) addReplica(ctx context.Context, n int) error {
	addr, err := address()
	if err != nil {
		return err
	}
	r := &replica{child: child{name: fmt.Sprint("replica ", n)}, addr: addr}
	s.replicas, s.watched = append(s.replicas, r), append(s.watched, &r.child)
	return s.serve(ctx, r)
}

// serve starts a replica, again on its address where it was killed, and returns when it is ready.
func (s *stack) serve(ctx context.Context, r *replica) error {
	cmd := exec.Command(s.program, "serve")
	cmd.Env = append(environment(), s.config...)
	cmd.Env = append(cmd.Env, "WAITROOM_ADDR="+r.addr)
	c, err := s.launch(strings.ReplaceAll(r.name, " ", "-"), cmd, syscall.SIGTERM)
	if err != nil {
		return err
	}
	r.run(c.process)
	r.log = c.log
	return r.until(ctx, func() error { return ready("http://" + r.addr) })
}

// balance starts haproxy: every replica in turn, whoever asks, as long as it says that it is ready.
func (s *stack) balance(ctx context.Context, program string) error {
	addr, err := address()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, haproxyConfig, addr)
	for i, r := range s.replicas {
		fmt.Fprintf(&b, "  server r%d %s\n", i+1, r.addr)
	}
	path := filepath.Join(s.dir, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return err
	}
	c, err := s.launch("haproxy", exec.Command(program, "-db", "-f", path), syscall.SIGTERM)
	if err != nil {
		return err
	}
	s.watched = append(s.watched, c)
	s.url = "http://" + addr
	return c.until(ctx, func() error { return ready(s.url) })
}

const haproxyConfig = `global
  maxconn 9000
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
  timeout check 3s
  option forwardfor
  option redispatch
  retries 3
  retry-on conn-failure
frontend all
  bind %s
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
`

// launch starts a program with its output in a file. It is gone when we are, however we end.
func (s *stack) launch(name string, cmd *exec.Cmd, polite syscall.Signal) (*child, error) {
	path := filepath.Join(s.dir, name+".log")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us, who stop in order
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	s.undo = append(s.undo, func() { process.Stop(polite) })
	return &child{name: name, process: process, log: path}, nil
}

// until waits for a child to be as it should.
func (c *child) until(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.running().Done():
			return fmt.Errorf("%s ended: %s", c.name, testproc.LogTail(c.log))
		case <-ctx.Done():
			return fmt.Errorf("%s: %w, %w; %s", c.name, ctx.Err(), err, testproc.LogTail(c.log))
		}
	}
}

func ready(url string) error {
	client := http.Client{Timeout: 2 * time.Second}
	resp, err := client.Get(url + "/readyz")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("readyz: %s", resp.Status)
	}
	return nil
}

// find looks for a program also where Debian keeps those of root.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if path, err := exec.LookPath("/usr/sbin/" + name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not installed: run `scripts/setup.sh load` (Debian, Ubuntu), or install it with this system's own package manager", name)
}

func address() (string, error) {
	port, err := testproc.Port()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// environment is ours without the settings of another waitroom.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "WAITROOM_") })
}

func random(prefix string, n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return prefix + base64.StdEncoding.EncodeToString(b)
}
