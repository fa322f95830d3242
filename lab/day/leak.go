package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/lab/stack"
)

// leak is a change of the product that makes a quantity grow.
type leak struct {
	name, of string // of is the quantity that must be found to grow
	edit     stack.Edit
}

var leaks = []leak{
	{"leases", "ended leases", stack.Change("room/lua/leases.lua",
		"command('ZREMRANGEBYSCORE', LEASES, '-inf', int(NOW - settings.leases_kept))", "")},
	{"outcomes", "places", stack.Change("room/lua/places.lua", "if #old == 0 then return end",
		"if true then return end")},
	{"answers", "keys", stack.Change("room/lua/reply.lua",
		"command('SET', ONCE, text, 'PX', int(ms))", "command('SET', ONCE, text)")},
	{"goroutines", "goroutines", stack.Change("room/join.go", `once := ""`,
		"go func() { select {} }()\nonce := \"\"")},
	{"memory", "heap", stack.Change("room/join.go", `once := ""`,
		"go func() { kept := make([]byte, 8<<10); for i := range kept { kept[i] = 1 }; <-make(chan struct{}); "+
			"println(kept[0]) }()\nonce := \"\"")},
}

func leakNames() (names []string) {
	for _, l := range leaks {
		names = append(names, l.name)
	}
	return names
}

// Hours and rooms that are enough for a leak to show.
const (
	checkHours = warmUp + 6
	checkRooms = 8
)

// check plays every leak and requires that the named quantity reports it.
func check(ctx context.Context, c config) error {
	var missed []error
	for _, l := range leaks {
		c.broken, c.hours, c.rooms, c.pace = l.name, checkHours, checkRooms, 0
		err := run(ctx, c)
		if !errors.Is(err, errGrows) || !strings.Contains(err.Error(), l.of) {
			missed = append(missed, fmt.Errorf("%s was not noticed by %s: %w", l.name, l.of, err))
			continue
		}
		log.Printf("day-check: %s: as it must be: %v", l.name, err)
	}
	return errors.Join(missed...)
}

// build builds the program of the checkout, with a leak if one is named.
func (d *day) build(ctx context.Context) (string, error) {
	program := filepath.Join(d.Dir, "waitroom")
	if d.broken == "" {
		return program, stack.Build(ctx, d.root, program)
	}
	list, err := d.overlay(d.Dir)
	if err != nil {
		return "", err
	}
	return program, stack.Build(ctx, d.root, program, "-overlay", list)
}

func (d *day) overlay(dir string) (list string, err error) {
	i := slices.IndexFunc(leaks, func(l leak) bool { return l.name == d.broken })
	if i < 0 {
		return "", fmt.Errorf("there is no leak %q; there are: %s", d.broken, strings.Join(leakNames(), " "))
	}
	return stack.Overlay(d.root, dir, []stack.Edit{leaks[i].edit})
}
