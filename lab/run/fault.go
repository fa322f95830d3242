package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/lab/stack"
)

// fault is a change of the product that breaks a promise. Go builds it by an overlay, so the checkout stays
// as it is.
type fault struct {
	name      string
	edits     []stack.Edit
	scenario  string // that must notice
	threshold string // by this metric
}

// leak is code that leaks 1 MiB each time it is reached.
const leak = "go func() { kept := make([]byte, 1<<20); for i := range kept { kept[i] = 1 }; <-make(chan " +
	"struct{}); println(kept[0]) }()\n"

var faults = []fault{
	{"two-holders", []stack.Edit{stack.Change("room/lua/verb/join.lua", "if leases.held() or room.paused then",
		"if (leases.held() and room.tickets % 5 ~= 0) or room.paused then")}, "smoke", "two_holders"},
	// Every second lease that ended is still shown to its holder: at versions at which the next one holds.
	{"stale-holder", []stack.Edit{
		stack.Change("hub/mirror/apply.go", "m.reseat(j.Session, Seat{Status: wire.Ended",
			"if j.Fence%2 == 1 { continue }\nm.reseat(j.Session, Seat{Status: wire.Ended"),
		stack.Change("hub/frame.go", "if st.Fence != m.Lease.Fence {", "if false {"),
	}, "smoke", "two_holders"},
	{"overtaking", []stack.Edit{stack.Change("room/lua/line.lua",
		"local waiters = command('ZRANGE', QUEUE, int(from), int(from + step - 1), 'WITHSCORES')",
		"local waiters = command('ZREVRANGE', QUEUE, from, from + step - 1, 'WITHSCORES')")}, "smoke",
		"overtaken"},
	{"lost-place", []stack.Edit{stack.Change("room/lua/verb/join.lua", "if leases.held() or room.paused then",
		"if leases.held() and room.tickets % 5 == 0 then places.put(args.session, nil, false) elseif "+
			"leases.held() or room.paused then")}, "smoke", "lost_places"},
	{"blind-desk", []stack.Edit{stack.Change("hub/desk/room.go", "r.feed.send(frame)",
		"if r.roster.Version%7 != 0 { r.feed.send(frame) }")}, "desk", "desk_wrong"},
	{"replica-leak", []stack.Edit{stack.Change("room/join.go", "once := \"\"",
		leak+"once := \"\"")}, "soak", memoryRule},
	{"redis-leak", []stack.Edit{stack.Change("room/lua/verb/leave.lua", "if holds then",
		"command('APPEND', STATE .. ':leak', string.rep('x', 1048576))\nif holds then")}, "soak", memoryRule},
}

func faultNames() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

// build builds the program of the checkout, with a fault if one is named.
func build(ctx context.Context, root, dir, broken string) (string, error) {
	program := filepath.Join(dir, "waitroom")
	var args []string
	if broken != "" {
		overlay, err := overlay(root, dir, broken)
		if err != nil {
			return "", err
		}
		args = []string{"-overlay", overlay}
	}
	return program, stack.Build(ctx, root, program, args...)
}

func overlay(root, dir, broken string) (string, error) {
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == broken })
	if i < 0 {
		return "", fmt.Errorf("there is no fault %q; there are: %s", broken, strings.Join(faultNames(), " "))
	}
	list, err := stack.Overlay(root, dir, faults[i].edits)
	if err != nil {
		return "", fmt.Errorf("fault %s: %w", broken, err)
	}
	return list, nil
}

// shortened are the scenarios that would take too long for a check.
//
// In so short a run a correct build still warms up, so the limit for memory is higher; the leaks exceed it
// too, and a test checks the normal limit.
var shortened = map[string][]string{
	"desk": {"DURATION=12s"},
	"soak": {"DURATION=24s", "ROOMS=4", "SELLERS=10", "HOLD=400"},
}

const checkFlatMiB = 600

// checkChecks runs each scenario on a correct build, on which all thresholds have to hold, and on builds with
// its faults, on which the fault's threshold has to fail.
func checkChecks(ctx context.Context, c config) error {
	if err := checkReferee(ctx, c.root); err != nil {
		return err
	}
	c.flatMiB = checkFlatMiB
	c.env = append(c.env, "HANDOFF_P99=60000", "JOIN_P99=60000", "BACK_P99=60000") // a slow machine is no fault
	var wrong []error
	for _, f := range checked() {
		failed, err := tryFault(ctx, c, f)
		if err != nil {
			return err
		}
		switch {
		case f.threshold == "" && len(failed) > 0:
			wrong = append(wrong, fmt.Errorf("%s: a sound build fails: %v", f.name, failed))
		case f.threshold != "" && !slices.Contains(failed, f.threshold):
			wrong = append(wrong, fmt.Errorf("%s was not noticed: %s held (failed: %v)", f.name, f.threshold, failed))
		default:
			log.Printf("load-check: %s: as it must be (failed: %v)", f.name, failed)
		}
	}
	return errors.Join(wrong...)
}

// checked returns the faults, and before the first of each scenario a correct build.
func checked() (list []fault) {
	for i, f := range faults {
		if i == 0 || faults[i-1].scenario != f.scenario {
			list = append(list, fault{name: "sound-" + f.scenario, scenario: f.scenario})
		}
		list = append(list, f)
	}
	return list
}

// tryFault runs a fault's scenario and returns the thresholds that failed.
func tryFault(ctx context.Context, c config, f fault) ([]string, error) {
	c.scenario, c.results = f.scenario, filepath.Join(c.results, f.name)
	c.env = append(slices.Clone(c.env), shortened[f.scenario]...)
	if f.threshold != "" {
		c.broken = f.name
	}
	if err := os.MkdirAll(c.results, 0o755); err != nil {
		return nil, err
	}
	r, err := run(ctx, c)
	if r == nil {
		return nil, err
	}
	return r.failed(), nil
}

// checkReferee gives wrong frames to the code that judges them, without a server.
func checkReferee(ctx context.Context, root string) error {
	k6, err := findK6(ctx, root)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, k6, "run", "--quiet", "--no-usage-report", "--address", "",
		filepath.Join(root, "lab", "k6", "check", "referee.js")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the referee is wrong: %w\n%s", err, out)
	}
	log.Print("load-check: the referee notices every lie")
	return nil
}
