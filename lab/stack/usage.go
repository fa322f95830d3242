package stack

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const clockTicks = 100 // a second, in /proc/PID/stat, on every Linux there is

// Usage is what a process has used so far.
type Usage struct {
	At  time.Time
	RSS float64       // resident, in MiB
	CPU time.Duration // since its start, user and system
}

// Cores returns how many processors it used since an earlier look, on average.
func (u Usage) Cores(before Usage) float64 {
	return max(u.CPU-before.CPU, 0).Seconds() / u.At.Sub(before.At).Seconds()
}

// Look reads what a process has used; false if it has ended or there is no /proc.
func Look(pid int) (u Usage, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, false
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			u.RSS, ok = kib/1024, err == nil
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || !ok {
		return u, false
	}
	// pid (name) state …: user and system time are the 12th and 13th after the name, which may hold anything
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	u.At, u.CPU = time.Now(), time.Duration((user+system)/clockTicks*float64(time.Second))
	return u, true
}

// Machine describes this machine.
func Machine() string {
	cpu := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, found := strings.CutPrefix(line, "model name"); found {
				cpu = strings.TrimLeft(strings.TrimSpace(name), ": \t")
				break
			}
		}
	}
	return fmt.Sprintf("%d × %s, %s, %s", runtime.NumCPU(), cpu, runtime.GOOS, runtime.Version())
}

// Load returns the load average of the last minute; "" if it is unknown.
func Load() string {
	load, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(load), " ")
	return first
}
