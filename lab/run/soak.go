package main

import (
	"errors"
	"fmt"
	"log"
	"strings"
)

// Memory is flat when, at the pace of the last two thirds of the run, ten minutes add no more than this, or
// than this part of the mean. The first third is for caches and pools to fill. Redis remembers each lease for
// a day and each ended place for ten minutes, by the contract.
const (
	flatMiB  = 8 // unless the run sets another
	flatPart = 0.10
	tenMin   = 600
)

// slope is the growth of a process's memory over the last two thirds of a run.
type slope struct {
	Mean   float64 `json:"mean_mib"`
	PerTen float64 `json:"mib_in_ten_minutes"`
	Flat   bool    `json:"flat"`
}

// memoryRule is the name of the rule about memory among the thresholds.
const memoryRule = "memory"

// slopeOf fits a line by least squares; allowed is the MiB that ten minutes may add.
func slopeOf(samples []usage, allowed float64) slope {
	samples = samples[len(samples)/3:]
	if len(samples) < 2 {
		return slope{Flat: true}
	}
	n, from := float64(len(samples)), samples[0].At
	var t, m, tt, tm float64
	for _, u := range samples {
		x := u.At.Sub(from).Seconds()
		t, m, tt, tm = t+x, m+u.RSS, tt+x*x, tm+x*u.RSS
	}
	s := slope{Mean: m / n}
	if d := n*tt - t*t; d > 0 {
		s.PerTen = (n*tm - t*m) / d * tenMin
	}
	s.Flat = s.PerTen <= max(allowed, flatPart*s.Mean)
	return s
}

// flat prints the growth of memory, and returns an error if it is too high.
func (r *report) flat() error {
	var wrong []error
	for _, p := range r.Processes {
		m := p.SlopeOf
		log.Printf("memory of %-10s mean %6.1f MiB, %+6.2f MiB in ten minutes", p.Name, m.Mean, m.PerTen)
		if p.grew() {
			wrong = append(wrong, fmt.Errorf("memory of %s grows by %.1f MiB in ten minutes", p.Name, m.PerTen))
		}
	}
	return errors.Join(wrong...)
}

// judged reports whether a process may not grow: haproxy and k6 are not checked.
func (p process) judged() bool { return p.Name == "redis" || strings.HasPrefix(p.Name, "replica") }

func (p process) grew() bool { return p.judged() && !p.SlopeOf.Flat }
