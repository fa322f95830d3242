package main

import (
	"errors"
	"fmt"
	"strings"
)

// warmUp is how many hours it takes until everything that is kept for a while has been: leases for 25 hours,
// places of an address and unused rooms for 26. From then on as much is forgotten as comes.
const warmUp = 27

// bound says how much more a quantity may be in the second half of the hours that are judged than in the
// first: that part of it, and so much.
type bound struct {
	part, more float64
}

// bounds are by the name of a quantity, without the replica's number. A leak of one of something for each
// lease in one room, or of half a KiB for each lease, is over them.
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

// judge compares the two halves of the hours after the warm-up; what grew is the error.
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

// idle is how much more may be open after all sellers have gone than before the first came. A replica keeps
// its connections to Redis, 64 at the most (server's pool), for the next rush; they have no goroutines of
// their own.
var idle = map[string]float64{"goroutines": 10, "files": 70, "clients": 130}

// left is the error that something did not end with those whose it was.
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
