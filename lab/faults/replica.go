package faults

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const patience = 60 * time.Second

// replica is one waitroom process. Sellers reach it through its link.
type replica struct {
	run     *Run
	name    string
	program string // that it runs
	addr    string // its own
	front   *link  // from sellers
	back    *link  // to Redis; nil where it has several ways there
	client  *http.Client
	log     string
	env     []string
	process *testproc.Process
}

// newReplica prepares a replica; start runs it.
func newReplica(r *Run, n int, env []string) *replica {
	addr := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(r.tb))
	p := &replica{run: r, name: fmt.Sprint("replica-", n), program: r.program, addr: addr,
		env: append(env, "WAITROOM_ADDR="+addr)}
	p.log = filepath.Join(r.dir, p.name+".log")
	p.front = r.network.to(p.name, addr)
	transport := &http.Transport{MaxIdleConnsPerHost: 64,
		DialContext: (&net.Dialer{Timeout: time.Second}).DialContext}
	r.tb.Cleanup(transport.CloseIdleConnections)
	p.client = &http.Client{Transport: transport, Timeout: callTimeout}
	return p
}

func (p *replica) url() string { return "http://" + p.front.addr }

// start runs the process, again on its address after a kill, and returns when it is ready.
func (p *replica) start() error {
	p.run.beganAgain(p)
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	cmd := exec.Command(p.program, "serve")
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = append(environment(), p.env...), file, file, p.run.dir
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	p.process = process
	p.run.tb.Cleanup(process.Kill)
	return until(patience, func() error {
		select {
		case <-process.Done():
			return fatal{fmt.Errorf("%s ended\n%s", p.name, testproc.LogTail(p.log))}
		default:
			return p.ready()
		}
	})
}

// ready asks the process directly, not through the link.
func (p *replica) ready() error {
	client := http.Client{Timeout: 2 * time.Second}
	resp, err := client.Get("http://" + p.addr + "/readyz")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: readyz answers %s", p.name, resp.Status)
	}
	return nil
}

// environment returns this process's environment without settings of waitroom.
func environment() (mine []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "WAITROOM_") {
			mine = append(mine, e)
		}
	}
	return mine
}

// fatal is an error that waiting cannot repair.
type fatal struct{ error }

// until calls check until it returns nil, for at most a duration.
func until(within time.Duration, check func() error) error {
	deadline := time.After(within)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		if _, ok := err.(fatal); ok {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("still not so after %s: %w", within, err)
		}
	}
}
