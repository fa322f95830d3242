// Package stack starts what load tests and benchmarks measure: Redis, replicas of waitroom and whatever
// stands beside them, as children on free ports of loopback that end with this process. It also measures
// what a process uses.
package stack

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// Stack is a group of children with all their files in one directory.
type Stack struct {
	Dir      string
	Children []*Child // in the order in which they were started
	undo     []func() // in the order in which it was done
}

// New makes the directory. The caller has to call Stop.
func New(prefix string) (*Stack, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	s := &Stack{Dir: dir}
	s.Undo(func() { _ = os.RemoveAll(dir) })
	return s, nil
}

// Undo adds a function that Stop calls.
func (s *Stack) Undo(f func()) { s.undo = append(s.undo, f) }

// Stop ends what was started, the last first.
func (s *Stack) Stop() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
	s.undo = nil
}

// Launch starts a program with its output in a file. The program also ends when this process ends in any way.
func (s *Stack) Launch(name string, cmd *exec.Cmd) (*Child, error) {
	c := &Child{Name: name, Log: filepath.Join(s.Dir,
		filepath.Base(cmd.Path)+"-"+fmt.Sprint(len(s.Children)+1)+".log")}
	if err := s.launch(c, cmd); err != nil {
		return nil, err
	}
	s.Children = append(s.Children, c)
	return c, nil
}

func (s *Stack) launch(c *Child, cmd *exec.Cmd) error {
	out, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, s.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us, who stop in order
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	s.Undo(func() { process.Stop(syscall.SIGTERM) })
	c.run(process)
	return nil
}

// Find finds a program, also in the directories for root's programs. setup names what would install it,
// for the error.
func Find(name, setup string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if path, err := exec.LookPath("/usr/sbin/" + name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not installed: run `%s` (Debian, Ubuntu), or install it with this system's "+
		"own package manager", name, setup)
}

// Address returns a free address of loopback.
func Address() (string, error) {
	port, err := testproc.Port()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// Random returns a text that cannot be guessed.
func Random(prefix string, bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return prefix + base64.StdEncoding.EncodeToString(b)
}
