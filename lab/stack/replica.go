package stack

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Replica is a waitroom process that can be restarted on its address.
type Replica struct {
	Child
	Addr    string
	program string
	config  []string
}

// URL returns the replica's URL.
func (r *Replica) URL() string { return "http://" + r.Addr }

// Build builds the program of a checkout; args are added to go build's.
func Build(ctx context.Context, root, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", program}, args,
		[]string{"./cmd/waitroom"})...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// Replica starts a replica and returns when it is ready. config has its settings as WAITROOM_NAME=value;
// those in this process's environment are ignored.
func (s *Stack) Replica(ctx context.Context, name, program string, config []string) (*Replica, error) {
	addr, err := Address()
	if err != nil {
		return nil, err
	}
	r := &Replica{Addr: addr, program: program, config: config}
	r.Name, r.Log = name, s.Dir+"/"+strings.ReplaceAll(name, " ", "-")+".log"
	s.Children = append(s.Children, &r.Child)
	return r, s.Serve(ctx, r)
}

// Serve starts a replica, again on its address after a kill, and returns when it is ready.
func (s *Stack) Serve(ctx context.Context, r *Replica) error {
	cmd := exec.Command(r.program, "serve")
	cmd.Env = slices.Concat(environment(), r.config, []string{"WAITROOM_ADDR=" + r.Addr})
	if err := s.launch(&r.Child, cmd); err != nil {
		return err
	}
	return r.Until(ctx, func() error { return Ready(r.URL()) })
}

// Ready returns nil if /readyz answers that the replica is ready.
func Ready(url string) error {
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

// environment returns this process's environment without settings of waitroom.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "WAITROOM_") })
}
