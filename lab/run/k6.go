package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const k6Version = "v1.8.1"

// The exit code of k6 after a complete run in which thresholds failed.
const thresholdsFailed = 99

// findK6 returns the pinned k6, which is built once for each user of this machine; K6 names another one.
func findK6(ctx context.Context, root string) (string, error) {
	if path := os.Getenv("K6"); path != "" {
		return path, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(root, "bin")
	}
	dir := filepath.Join(cache, "waitroom", "k6-"+k6Version)
	path := filepath.Join(dir, "k6")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	log.Printf("building k6 %s into %s (once; a few minutes)", k6Version, dir)
	// Built elsewhere and then moved: one that was interrupted must not look done.
	tmp, err := os.MkdirTemp("", "k6-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cmd := exec.CommandContext(ctx, "go", "install", "go.k6.io/k6@"+k6Version)
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), "GOBIN="+tmp, "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install go.k6.io/k6@%s: %w\n%s", k6Version, err, out)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return path, move(filepath.Join(tmp, "k6"), path)
}

// move moves a file, also between file systems, in one step.
func move(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", data, 0o755); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

// play runs k6 to its end. After an interrupt k6 still writes its summary. started is called with its
// process.
func play(ctx context.Context, k6 string, c config, started func(pid int)) error {
	args := []string{"run", "--quiet", "--no-usage-report", "--address", "", "--out",
		"csv=" + filepath.Join(c.results, samplesFile)}
	for _, e := range append(c.env, "BASE_URL="+c.base, "RESULTS="+c.results) {
		if name, _, _ := strings.Cut(e, "="); !secretName(name) {
			args = append(args, "--env", e)
		}
	}
	cmd := exec.CommandContext(ctx, k6, append(args, c.script())...)
	cmd.Env = append(os.Environ(), c.env...) // secrets go by the environment, which is in no list of processes
	cmd.Env = append(cmd.Env, "K6_CSV_TIME_FORMAT=rfc3339_nano")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches it by us, once: twice would abort it
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	err := cmd.Start()
	if err == nil {
		started(cmd.Process.Pid)
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == thresholdsFailed {
		return errThresholds
	}
	if err != nil {
		return fmt.Errorf("k6: %w", err)
	}
	return nil
}

var errThresholds = errors.New("thresholds failed")

func secretName(name string) bool {
	return strings.Contains(name, "SECRET") || strings.Contains(name, "PASSWORD")
}
