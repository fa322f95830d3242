package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	watchEvery = time.Second
	clockTicks = 100 // a second, in /proc/PID/stat, on every Linux there is
)

// usage is what a process used at a moment.
type usage struct {
	At  time.Time `json:"at"`
	RSS float64   `json:"rss_mib"`
	CPU float64   `json:"cpu_cores"` // since the sample before
}

// process is what one process used over the run.
type process struct {
	Name    string  `json:"name"`
	Samples []usage `json:"samples"`
	SlopeOf slope   `json:"memory"`
}

// watch samples memory and processor of k6 and of every child until the returned function is called. Without /proc there is nothing to see.
func (s *stack) watch(ctx context.Context, k6 func() int) func() []process {
	ctx, cancel := context.WithCancel(ctx)
	list, pids := []process{{Name: "k6"}}, []func() int{k6}
	for _, c := range s.watched {
		list, pids = append(list, process{Name: c.name}), append(pids, c.pid)
	}
	last := make([]float64, len(list))
	sample := func() {
		for i, pid := range pids {
			u, ticks, ok := look(pid())
			if !ok {
				continue
			}
			if last[i] > 0 {
				u.CPU = max(ticks-last[i], 0) / clockTicks / watchEvery.Seconds()
			}
			last[i] = ticks
			list[i].Samples = append(list[i].Samples, u)
		}
	}
	var done sync.WaitGroup
	done.Go(func() {
		for pause(ctx, watchEvery) {
			sample()
		}
	})
	return func() []process {
		cancel()
		done.Wait()
		return list
	}
}

// look reads a process's memory, and the ticks of processor time it has had.
func look(pid int) (u usage, ticks float64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, 0, false
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			u = usage{At: time.Now(), RSS: kib / 1024}
			ok = err == nil
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || !ok {
		return u, 0, false
	}
	// pid (name) state …: user and system time are the 12th and 13th after the name, which may hold anything
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return u, user + system, true
}

// machine says what the run was on.
func machine() string {
	cpu := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, found := strings.CutPrefix(line, "model name"); found {
				cpu = strings.TrimLeft(strings.TrimSpace(name), ": \t")
				break
			}
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%d × %s, %s; load average at the start %s; k6 ran on the same machine", runtime.NumCPU(), cpu, runtime.GOOS, first)
}
