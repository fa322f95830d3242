package faults

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/internal/testproc"
)

// startBalancer puts haproxy before the replicas: every one in turn, as long as it says that it is ready.
func (r *Run) startBalancer() error {
	addr := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(r.tb))
	var b strings.Builder
	fmt.Fprintf(&b, balancerConfig, addr)
	for _, p := range r.replicas {
		fmt.Fprintf(&b, "  server %s %s\n", p.name, p.addr)
	}
	path := filepath.Join(r.dir, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(r.dir, "haproxy.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(testproc.Find(r.tb, "haproxy", "/usr/sbin/haproxy"), "-db", "-f", path)
	cmd.Stdout, cmd.Stderr = log, log
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	r.tb.Cleanup(process.Kill)
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext}
	r.tb.Cleanup(transport.CloseIdleConnections)
	door := &replica{run: r, name: "haproxy", addr: addr, front: r.network.to("haproxy", addr), client: &http.Client{Transport: transport, Timeout: callTimeout}}
	r.doors = []*replica{door}
	return until(patience, door.ready)
}

const balancerConfig = `global
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

// replaceReplicas ends each replica politely in turn and starts it again, as an upgrade does. No request may be dropped
// and nobody may be without a socket for long.
func replaceReplicas() Step {
	return Step{"replicas replaced one by one", func(ctx context.Context, r *Run) error {
		for _, p := range r.replicas {
			since := r.history.Len()
			err := r.fault("SIGTERM "+p.name, nil, func() (string, error) {
				began := time.Now()
				p.process.Stop(syscall.SIGTERM)
				ended := time.Since(began)
				if err := p.start(); err != nil {
					return "", err
				}
				return fmt.Sprintf("gone after %d ms", ended.Milliseconds()), pause(ctx, 2500*time.Millisecond)
			})
			if err != nil {
				return err
			}
			r.heldTogether(p.name, since)
		}
		return nil
	}}
}

// awayFor is how long a replaced replica may keep anybody without a socket.
const awayFor = 2 * time.Second

// heldTogether holds that since the n-th record no request was dropped and no socket was missing for long.
func (r *Run) heldTogether(what string, since int) {
	closed := map[string]int64{}
	dropped, longest := 0, time.Duration(0)
	for _, rec := range r.history.Since(since) {
		switch rec.Kind {
		case KindCall:
			if rec.Error != "" || rec.HTTP >= 500 {
				dropped++
			}
		case KindClose:
			closed[rec.Session] = rec.Ended.Mono
		case KindOpen:
			if at, ok := closed[rec.Session]; ok {
				longest = max(longest, time.Duration(rec.Ended.Mono-at)*time.Microsecond)
			}
		}
	}
	r.history.Note("%s replaced: %d requests dropped, longest without a socket %d ms", what, dropped, longest.Milliseconds())
	if dropped > 0 {
		r.trouble(RequestDropped, "%d requests were dropped while %s was replaced", dropped, what)
	}
	if longest > awayFor {
		r.trouble(SocketBehind, "somebody was without a socket for %s while %s was replaced", longest, what)
	}
}
