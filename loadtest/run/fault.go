package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// fault is one line of a script changed so that the product breaks a promise. Go builds it by an overlay: the checkout stays as it is.
type fault struct {
	name      string
	file      string // of room/lua
	from, to  string // the line and what becomes of it
	threshold string // the metric that must notice
}

var faults = []fault{
	{"two-holders", "join.lua", "if held() or S.paused then", "if (held() and S.tickets % 5 ~= 0) or S.paused then", "two_holders"},
	{"overtaking", "lease.lua", "local line = redis.call('ZRANGE', QUEUE, from, from + step - 1, 'WITHSCORES')",
		"local line = redis.call('ZREVRANGE', QUEUE, from, from + step - 1, 'WITHSCORES')", "overtaken"},
	{"lost-place", "join.lua", "if held() or S.paused then", "if held() and S.tickets % 5 == 0 then redis.call('HDEL', PLACES, SESSION) elseif held() or S.paused then", "lost_places"},
}

func faultNames() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

// build makes the program of the checkout, with a fault where one is named.
func build(ctx context.Context, root, dir, broken string) (string, error) {
	program := filepath.Join(dir, "waitroom")
	args := []string{"build", "-o", program}
	if broken != "" {
		overlay, err := overlay(root, dir, broken)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/waitroom")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

func overlay(root, dir, broken string) (string, error) {
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == broken })
	if i < 0 {
		return "", fmt.Errorf("there is no fault %q; there are: %s", broken, strings.Join(faultNames(), " "))
	}
	f := faults[i]
	path := filepath.Join(root, "room", "lua", f.file)
	script, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if bytes.Count(script, []byte(f.from)) != 1 {
		return "", fmt.Errorf("%s has changed: fault %s looks once for %q", path, f.name, f.from)
	}
	changed := filepath.Join(dir, f.file)
	if err := os.WriteFile(changed, bytes.Replace(script, []byte(f.from), []byte(f.to), 1), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	return at, os.WriteFile(at, list, 0o600)
}

// checkChecks plays the scenario on a sound build, which must hold all thresholds, and on each fault, which must fail its own.
func checkChecks(ctx context.Context, c config) error {
	if err := checkReferee(ctx, c.root); err != nil {
		return err
	}
	var wrong []error
	results := c.results
	c.env = append(c.env, "HANDOFF_P99=60000", "JOIN_P99=60000", "BACK_P99=60000") // a slow machine is no fault
	for _, f := range append([]fault{{name: "sound"}}, faults...) {
		c.results = filepath.Join(results, f.name)
		if err := os.MkdirAll(c.results, 0o755); err != nil {
			return err
		}
		c.broken = f.name
		if f.threshold == "" {
			c.broken = ""
		}
		r, err := run(ctx, c)
		if r == nil {
			return err
		}
		failed := r.failed()
		switch {
		case f.threshold == "" && err != nil:
			wrong = append(wrong, fmt.Errorf("a sound build fails: %v: %w", failed, err))
		case f.threshold != "" && !slices.Contains(failed, f.threshold):
			wrong = append(wrong, fmt.Errorf("%s was not noticed: %s held (failed: %v)", f.name, f.threshold, failed))
		default:
			log.Printf("load-check: %s: as it must be (failed: %v)", f.name, failed)
		}
	}
	return errors.Join(wrong...)
}

// checkReferee plays lies to what judges the frames, without any server.
func checkReferee(ctx context.Context, root string) error {
	k6, err := findK6(ctx, root)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, k6, "run", "--quiet", "--no-usage-report", "--address", "", filepath.Join(root, "loadtest", "k6", "check", "referee.js")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the referee is wrong: %w\n%s", err, out)
	}
	log.Print("load-check: the referee notices every lie")
	return nil
}
