package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// answers counts an attack's answers by status; 0 = none came.
type answers map[int]int

// result is what sellers and attackers saw. It is safe for concurrent use.
type result struct {
	mu       sync.Mutex
	loud     bool
	windows  int                // of attacks, begun or ended so far
	joins    [2][]time.Duration // without and with attacks
	turns    int
	lost     []string
	attacks  map[string]*answers
	redisMiB float64
}

func (r *result) begin() { r.turn(true) }
func (r *result) end()   { r.turn(false) }

func (r *result) turn(loud bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loud, r.windows = loud, r.windows+1
}

func (r *result) window() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.windows
}

// joined counts a join, unless the attacks began or ended meanwhile.
func (r *result) joined(window int, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if window != r.windows {
		return
	}
	i := 0
	if r.loud {
		i = 1
	}
	r.joins[i] = append(r.joins[i], took)
}

func (r *result) completed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns++
}

func (r *result) lose(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = append(r.lost, fmt.Sprintf(format, args...))
}

func (r *result) answered(attack string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.attacks[attack]
	if a == nil {
		a = &answers{}
		r.attacks[attack] = a
	}
	(*a)[status]++
}

func p95(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)*95/100]
}

// slack is what a join may take longer in any case: the attackers' own work is done on the same machine.
const slack = 5 * time.Millisecond

// judge returns an error if a seller lost a turn.
func (r *result) judge() error {
	var wrong []error
	if len(r.lost) > 0 {
		wrong = append(wrong, fmt.Errorf("%d turns were lost: %s", len(r.lost), r.lost[0]))
	}
	if r.turns == 0 || len(r.joins[0]) == 0 || len(r.joins[1]) == 0 {
		wrong = append(wrong, errors.New("no seller had a turn, or no join was measured"))
	}
	return errors.Join(wrong...)
}

// slow returns an error if a join takes twice as long with the attacks.
func (r *result) slow() error {
	if before, now := p95(r.joins[0]), p95(r.joins[1]); now > 2*before+slack {
		return fmt.Errorf("p95 of a join is %s with the attacks and %s without", now, before)
	}
	return nil
}

func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "turns completed %d, lost %d\n", r.turns, len(r.lost))
	for i, name := range []string{"without attacks", "with attacks"} {
		fmt.Fprintf(&b, "joins %s: %d, p95 %s\n", name, len(r.joins[i]),
			p95(r.joins[i]).Round(10*time.Microsecond))
	}
	fmt.Fprintf(&b, "Redis has %.1f MiB\n", r.redisMiB)
	for _, name := range slices.Sorted(maps.Keys(r.attacks)) {
		fmt.Fprintf(&b, "  %-28s", name)
		for _, status := range slices.Sorted(maps.Keys(*r.attacks[name])) {
			fmt.Fprintf(&b, " %d: %d", status, (*r.attacks[name])[status])
		}
		b.WriteString("\n")
	}
	return b.String()
}
