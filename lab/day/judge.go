package main

import (
	"errors"
	"fmt"
	"strings"
)

// warmUp is the number of hours until all retention periods have passed once: 25 for leases, 26 for an
// address's places and for unused rooms. After that, as much expires as is added.
const warmUp = 27

// bound is the growth that a quantity may have from the first to the second half of the judged hours: a share
// and a fixed amount.
type bound struct {
	part, more float64
}

// bounds has the bound of each quantity, by its name without the replica's number. A leak of one item, or of
// half a KiB, for each lease of one room exceeds it.
var bounds = map[string]bound{
	"used":         {0.02, 0.2}, // MiB
	"redis rss":    {0.05, 1},   // MiB
	"keys":         {0.02, 50},
	"streams":      {0.10, 200}, // what the ledger has not yet taken in at that moment
	"ended leases": {0.01, 10},
	"places":       {0.05, 10},
	"inbox":        {0.05, 10},
	"index":        {0.05, 5},
	"clients":      {0.10, 5},
	"goroutines":   {0.05, 5},
	"files":        {0.05, 10},
	"heap":         {0.05, 0.7}, // MiB
	"rss":          {0.10, 2},   // MiB
}

var errGrows = errors.New("grows")

func boundOf(name string) bound { return bounds[strings.TrimRight(name, " 0123456789")] }

// judge compares the two halves of the hours after the warm-up; its error names what grew.
func judge(hours []sample) error {
	hours = hours[min(warmUp, len(hours)):]
	if len(hours) < 2 {
		return errors.New("too few hours to judge")
	}
	first, second := mean(hours[:len(hours)/2]), mean(hours[len(hours)/2:])
	var grew []error
	for _, name := range first.names() {
		b, was, is := boundOf(name), first[name], second[name]
		if is > was*(1+b.part)+b.more {
			grew = append(grew, fmt.Errorf("%s %w: %.1f in the first half of the hours after the %dth, %.1f in "+
				"the second", name, errGrows, was, warmUp, is))
		}
	}
	return errors.Join(grew...)
}

// idle is how much more may be open after all sellers have left than before the first came. A replica keeps
// up to 64 connections to Redis (the pool in package server), which have no goroutines.
var idle = map[string]float64{"goroutines": 10, "files": 70, "clients": 130}

// left returns an error for what is still open after all sellers have left.
func left(before, after sample) error {
	var wrong []error
	for _, name := range after.names() {
		more, ok := idle[strings.TrimRight(name, " 0123456789")]
		if ok && after[name] > before[name]+more {
			wrong = append(wrong, fmt.Errorf("%s: %.0f before the first seller, %.0f after the last has gone", name,
				before[name], after[name]))
		}
	}
	return errors.Join(wrong...)
}
