package main

import (
	"context"
	"sync"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

const watchEvery = time.Second

// usage is what a process used at one time.
type usage struct {
	At  time.Time `json:"at"`
	RSS float64   `json:"rss_mib"`
	CPU float64   `json:"cpu_cores"` // since the sample before
}

// process is what one process used during the run.
type process struct {
	Name    string  `json:"name"`
	Samples []usage `json:"samples"`
	SlopeOf slope   `json:"memory"`
}

// watch samples memory and processor time of k6 and of every child until the returned function is called. It
// needs /proc.
func watch(ctx context.Context, k6 func() int, children []*stack.Child) func() []process {
	ctx, cancel := context.WithCancel(ctx)
	list, pids := []process{{Name: "k6"}}, []func() int{k6}
	for _, c := range children {
		list, pids = append(list, process{Name: c.Name}), append(pids, c.Pid)
	}
	last := make([]stack.Usage, len(list))
	sample := func() {
		for i, pid := range pids {
			u, ok := stack.Look(pid())
			if !ok {
				continue
			}
			now := usage{At: u.At, RSS: u.RSS}
			if !last[i].At.IsZero() {
				now.CPU = u.Cores(last[i])
			}
			last[i] = u
			list[i].Samples = append(list[i].Samples, now)
		}
	}
	var done sync.WaitGroup
	done.Go(func() {
		for stack.Pause(ctx, watchEvery) {
			sample()
		}
	})
	return func() []process {
		cancel()
		done.Wait()
		return list
	}
}

// machine describes the machine of the run.
func machine() string {
	return stack.Machine() + "; load average at the start " + stack.Load() + "; k6 ran on the same machine"
}
