package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func report(machine, command string, results []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## The lock beside its peers\n\n%s\n\n", machine)
	fmt.Fprintf(&b, "Made by `%s`, one run, one Redis. Every contender takes the lock, works, releases and "+
		"asks again at once; the\n"+
		"contenders are spread over %d clients, as over %d processes.\n\n", command, replicas, replicas)
	b.WriteString("- handoffs/s: the lock goes from one contender to another. grants/s also counts those " +
		"who take again what they just released.\n" +
		"- wake-up: from the call to release until the next one, who was waiting by then, has the lock. Where " +
		"a library\n" +
		"  polls, that is a poll that happened to come right after a release: in most cases the releaser " +
		"itself was faster (grants/s).\n" +
		"- commands: sent by all clients to Redis, for each handoff; what scripts do inside Redis is not " +
		"counted.\n")
	fmt.Fprintf(&b, "- overtaking: grants to somebody while one who had asked over %d ms earlier still "+
		"waited.\n"+
		"- longest wait: of any contender, those who were still waiting at the end included.\n",
		clearly.Milliseconds())
	for from := 0; from < len(results); {
		to := from
		for to < len(results) && results[to].contenders == results[from].contenders &&
			results[to].work == results[from].work {
			to++
		}
		group := results[from:to]
		fmt.Fprintf(&b, "\n### %d contenders, %s of work inside\n\n", group[0].contenders, group[0].work)
		b.WriteString("| | handoffs/s | grants/s | wake-up p50 | p99 | commands per handoff | overtaking | " +
			"longest wait |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, r := range group {
			b.WriteString(r.row())
		}
		b.WriteString("\n" + verdict(group))
		from = to
	}
	return b.String()
}

func (r result) row() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.library, number(r.handoffRate()),
		number(r.grantRate()),
		span(r.wake(0.5)), span(r.wake(0.99)), ratio(float64(r.commands), r.handoffs),
		percent(r.overtaking, r.grants), span(r.longest))
}

func (r result) handoffRate() float64 { return float64(r.handoffs) / r.took.Seconds() }
func (r result) grantRate() float64   { return float64(r.grants) / r.took.Seconds() }

func (r result) wake(q float64) time.Duration {
	if len(r.wakes) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.wakes))
	return sorted[int(q*float64(len(sorted)-1))]
}

// short returns the name without the meaning of its settings.
func (r result) short() string {
	name, _, _ := strings.Cut(r.library, " (")
	return name
}

// verdict describes how waitroom's lock compares, and where a peer is better.
func verdict(group []result) string {
	mine, peers := group[0], group[1:]
	text := fmt.Sprintf("Handoffs/s against the better of redsync and redislock: %.1f × with their usual "+
		"settings, %.1f × with the tight ones.",
		mine.handoffRate()/bestRate(peers, false), mine.handoffRate()/bestRate(peers, true))
	better := func(what string, is func(p result) bool) {
		var names []string
		for _, p := range peers {
			if p.handoffs > 0 && is(p) {
				names = append(names, p.short())
			}
		}
		if len(names) == len(peers) {
			names = []string{"every peer"}
		}
		if len(names) > 0 {
			text += fmt.Sprintf(" Better at %s: %s.", what, strings.Join(names, "; "))
		}
	}
	better("handoffs/s", func(p result) bool { return p.handoffRate() > mine.handoffRate() })
	better("grants/s", func(p result) bool { return p.grantRate() > mine.grantRate() })
	better("wake-up p50", func(p result) bool { return p.wake(0.5) < mine.wake(0.5) })
	better("wake-up p99", func(p result) bool { return p.wake(0.99) < mine.wake(0.99) })
	better("commands per handoff", func(p result) bool {
		return float64(p.commands)/float64(p.handoffs) < float64(mine.commands)/float64(max(mine.handoffs, 1))
	})
	better("longest wait", func(p result) bool { return p.longest < mine.longest })
	return text + "\n"
}

// bestRate returns the better rate of redsync and redislock.
func bestRate(peers []result, tight bool) float64 {
	best := 0.1
	for _, p := range peers {
		if !strings.HasPrefix(p.library, "rueidislock") && strings.Contains(p.library, "tight") == tight {
			best = max(best, p.handoffRate())
		}
	}
	return best
}

func number(f float64) string {
	if f < 10 {
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.0f", f)
}

func ratio(a float64, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", a/float64(n))
}

func percent(a, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(a)/float64(n))
}

func span(d time.Duration) string {
	switch {
	case d == 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
