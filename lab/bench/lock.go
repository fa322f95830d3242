package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

const (
	lockRounds   = 3
	lockSpan     = 2 * time.Second
	oursPrefix   = "**waitroom"
	contended    = "64:0s"
	uncontended  = "1:0s"
	cellsOfPage  = "2:0s,2:1ms,64:0s,64:1ms,512:0s,512:1ms"
	peersCommand = "make bench"
)

// lock runs lab/peers several times in turn to measure lock libraries, and puts the whole table on the page.
func (b *bench) lock(ctx context.Context) error {
	handoffs, pairs := map[string]sample{}, map[string]sample{}
	overtaking := 0
	for round := range lockRounds {
		args := []string{"-cells", contended}
		if round == 0 && b.writes() {
			args = []string{"-cells", cellsOfPage, "-out", b.page(), "-command", peersCommand}
		}
		list, err := b.contend(ctx, args)
		if err != nil {
			return err
		}
		alone, err := b.contend(ctx, []string{"-cells", uncontended})
		if err != nil {
			return err
		}
		for _, r := range append(list, alone...) {
			switch {
			case r.Contenders == 1:
				pairs[r.Library] = append(pairs[r.Library], float64(r.Grants)/b.span(lockSpan).Seconds())
			case r.Contenders == 64 && r.WorkMS == 0:
				handoffs[r.Library] = append(handoffs[r.Library], r.Handoffs)
				if strings.HasPrefix(r.Library, oursPrefix) {
					overtaking += r.Overtaking
				}
			}
		}
	}
	if err := b.lockRow(handoffs, overtaking); err != nil {
		return err
	}
	return b.pairRow(pairs)
}

// libraries returns the rates that are compared, and a list of all.
func libraries(rates map[string]sample) (ours, better, rueidis float64, list string, err error) {
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		s := rates[name]
		list += fmt.Sprintf(" %s %s (%s);", strings.Trim(name, "*"), number(s.median()), s.spread(""))
		switch {
		case strings.HasPrefix(name, oursPrefix):
			ours = s.median()
		case strings.HasPrefix(name, "rueidislock, default"):
			rueidis = s.median()
		case strings.HasPrefix(name, "redsync, default"), strings.HasPrefix(name, "redislock, linear"):
			better = max(better, s.median())
		}
	}
	if ours == 0 || better == 0 || rueidis == 0 {
		return 0, 0, 0, "", errors.New("lab/peers did not measure all libraries")
	}
	return ours, better, rueidis, strings.TrimSuffix(list, ";"), nil
}

// pairRow adds the row about one client that takes and releases an uncontended lock.
func (b *bench) pairRow(rates map[string]sample) error {
	ours, better, _, list, err := libraries(rates)
	if err != nil {
		return err
	}
	b.add(row{what: "`lock`: one client, nobody else wants it, lock + unlock pairs/s",
		bar: "≥ 0.6 × the better of redsync and redislock, which keep no line", checks: []check{
			{"", ours / better, " × redsync or redislock", 0.6, true}},
		how: fmt.Sprintf("Pairs/s, medians of %d rounds in turn:%s.", lockRounds, list)})
	return nil
}

func (b *bench) lockRow(rates map[string]sample, overtaking int) error {
	ours, better, rueidis, list, err := libraries(rates)
	if err != nil {
		return err
	}
	b.add(row{what: "`lock`: 64 contenders on one key, handoffs/s",
		bar: "≥ 3 × the better of redsync and redislock, above rueidislock's default; exactly FIFO",
		checks: []check{
			{"", ours / better, " × redsync or redislock", 3, true}, {"", ours / rueidis, " × rueidislock", 1, true},
			{"", float64(overtaking), " overtaken", 0, false}},
		how: fmt.Sprintf("Handoffs/s, medians of %d rounds in turn:%s. Overtaken: grants to somebody while one "+
			"who had asked over 20 ms earlier still waited; "+
			"that the order is exactly FIFO a test holds (lock/locktest).", lockRounds, list)})
	return nil
}

// rate is one result of lab/peers.
type rate struct {
	Library    string  `json:"library"`
	Contenders int     `json:"contenders"`
	WorkMS     float64 `json:"work_ms"`
	Handoffs   float64 `json:"handoffs_per_second"`
	Overtaking int     `json:"overtaking"`
	Grants     int     `json:"grants"`
}

// contend runs lab/peers once, on a Redis of this benchmark.
func (b *bench) contend(ctx context.Context, args []string) (list []rate, err error) {
	s, err := stack.New("waitroom-bench-")
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	_, addr, err := s.Redis(ctx)
	if err != nil {
		return nil, err
	}
	to := filepath.Join(s.Dir, "rates.json")
	child, err := s.Launch("peers", exec.Command(b.contenders,
		append(args, "-redis", addr, "-json", to, "-length", b.span(lockSpan).String())...))
	if err != nil {
		return nil, err
	}
	if err := child.Wait(ctx); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(to)
	if err != nil {
		return nil, fmt.Errorf("lab/peers: %s", child.Tail())
	}
	return list, json.Unmarshal(text, &list)
}
