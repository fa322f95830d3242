package faults

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/haproxytest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// startBalancer starts haproxy in front of the replicas, with the documented configuration.
func (r *Run) startBalancer() error {
	addr := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(r.tb))
	var addrs []string
	for _, p := range r.replicas {
		addrs = append(addrs, p.addr)
	}
	config, err := haproxytest.Config("../..", addr, addrs)
	if err != nil {
		return err
	}
	path := filepath.Join(r.dir, "haproxy.cfg")
	if err := os.WriteFile(path, config, 0o600); err != nil {
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
	transport := &http.Transport{MaxIdleConnsPerHost: 64,
		DialContext: (&net.Dialer{Timeout: time.Second}).DialContext}
	r.tb.Cleanup(transport.CloseIdleConnections)
	door := &replica{run: r, name: "haproxy", addr: addr, front: r.network.to("haproxy", addr),
		client: &http.Client{Transport: transport, Timeout: callTimeout}}
	r.doors = []*replica{door}
	return until(patience, door.ready)
}
