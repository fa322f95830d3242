package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// processes are the clients that run in processes of their own.
func processes(name string, command ...string) language {
	start := func(ctx context.Context, t *testing.T, first map[string]any) (robot, error) {
		r := startProcess(t, command)
		a, err := r.do(ctx, first)
		r.id = a.Session
		return r, err
	}
	return language{name: name, command: command,
		kept: func(ctx context.Context, t *testing.T, url, room, seller, dir string) (robot, error) {
			return start(ctx, t, map[string]any{"do": "join", "url": url, "room": room, "seller": seller,
				"keep": dir})
		},
		join: func(ctx context.Context, t *testing.T, url, room, seller string) (robot, error) {
			return start(ctx, t, map[string]any{"do": "join", "url": url, "room": room, "seller": seller})
		},
		resume: func(ctx context.Context, t *testing.T, url, room, session string) (robot, error) {
			return start(ctx, t, map[string]any{"do": "resume", "url": url, "room": room, "session": session})
		},
		proven: func(ctx context.Context, t *testing.T, url, room, portal string) (robot, error) {
			return start(ctx, t, map[string]any{"do": "proven", "url": url, "room": room, "portal": portal})
		},
		within: func(ctx context.Context, t *testing.T, url, room string, patience time.Duration) error {
			_, err := start(ctx, t, map[string]any{"do": "join", "url": url, "room": room, "seller": "a",
				"patience": patience.Milliseconds()})
			return err
		}}
}

// processRobot is a turn in a process that testdata/driver.* runs.
type processRobot struct {
	id   string // the session
	kill func() // ends the process at once, as by kill -9

	mu      sync.Mutex
	in      *json.Encoder
	next    int
	answers map[int]chan processAnswer
	shown   []int
}

type processAnswer struct {
	ID        int    `json:"id"`
	Asks      bool   `json:"asks"` // the marketplace may be asked
	Error     string `json:"error"`
	Session   string `json:"session"`
	Code      string `json:"code"`
	Late      bool   `json:"late"`
	Positions []int  `json:"positions"`
}

func startProcess(t *testing.T, command []string) *processRobot {
	path, err := filepath.Abs("testdata")
	require.NoError(t, err)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Stderr = path, t.Output()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := &processRobot{in: json.NewEncoder(in), answers: map[int]chan processAnswer{}}
	r.kill = func() {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.read(bufio.NewScanner(out))
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		<-over
		_ = cmd.Wait()
	})
	return r
}

func (r *processRobot) read(lines *bufio.Scanner) {
	for lines.Scan() {
		var a processAnswer
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			continue
		}
		r.mu.Lock()
		to := r.answers[a.ID]
		r.mu.Unlock()
		to <- a
	}
}

func (r *processRobot) send(command map[string]any) (int, chan processAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	command["id"] = r.next
	r.answers[r.next] = make(chan processAnswer, 2)
	_ = r.in.Encode(command)
	return r.next, r.answers[r.next]
}

func (r *processRobot) do(ctx context.Context, command map[string]any) (processAnswer, error) {
	_, answers := r.send(command)
	return result(ctx, answers)
}

func result(ctx context.Context, answers chan processAnswer) (processAnswer, error) {
	select {
	case <-ctx.Done():
		return processAnswer{}, ctx.Err()
	case a := <-answers:
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	}
}

func (r *processRobot) wait(ctx context.Context) error {
	a, err := r.do(ctx, map[string]any{"do": "wait"})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = append(r.shown, a.Positions...)
	return err
}

func (r *processRobot) code(ctx context.Context, from string, late time.Duration, sent func()) (string, bool,
	error) {
	id, answers := r.send(map[string]any{"do": "code", "from": from, "late": late.Milliseconds()})
	a, err := result(ctx, answers)
	if err == nil && a.Asks {
		sent()
		r.mu.Lock()
		_ = r.in.Encode(map[string]any{"do": "go", "id": id})
		r.mu.Unlock()
		a, err = result(ctx, answers)
	}
	return a.Code, a.Late, err
}

func (r *processRobot) simple(ctx context.Context, what string) error {
	_, err := r.do(ctx, map[string]any{"do": what})
	return err
}

func (r *processRobot) reject(ctx context.Context) error { return r.simple(ctx, "reject") }
func (r *processRobot) done(ctx context.Context) error   { return r.simple(ctx, "done") }
func (r *processRobot) leave(ctx context.Context) error  { return r.simple(ctx, "leave") }

func (r *processRobot) hurry(ctx context.Context, patience time.Duration) error {
	_, err := r.do(ctx, map[string]any{"do": "hurry", "patience": patience.Milliseconds()})
	return err
}

func (r *processRobot) session() string { return r.id }

func (r *processRobot) positions() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}
