// Command estimates simulates rooms of many kinds and compares ways to estimate a waiter's remaining wait.
// It writes its tables into lab/estimates.md and its plots beside it.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	seeds := flag.Int("seeds", 5, "how often each world is played")
	first := flag.Int("first", 1, "the first seed")
	alone := flag.Bool("firsts", false, "print the table of first estimates alone")
	out := flag.String("out", "", "the directory to write to, besides printing the ranking")
	flag.Parse()
	log.SetFlags(log.Ltime)
	if *alone {
		fmt.Print(firstsTable(*first, openingsEach**seeds))
		return
	}
	if err := run(*first, *seeds, *out); err != nil {
		log.Fatal(err)
	}
}

func run(first, seeds int, out string) error {
	began := time.Now()
	f := findings{seeds: seeds, estimators: catalogue()}
	f.outcomes = playAll(worlds(), f.estimators, first, seeds, runtime.GOMAXPROCS(0))
	f.judge()
	f.firsts = firstsTable(first, openingsEach*seeds)
	for i, s := range f.ranked {
		fmt.Printf("%3d %s\n", i+1, s)
	}
	log.Printf("%d views in %s; %d waits over their maximum", f.views(), time.Since(began).Round(time.Second),
		f.overMax())
	if out != "" {
		if err := f.write(out); err != nil {
			return err
		}
	}
	if f.overMax() > 0 {
		return fmt.Errorf("%d waits were longer than their maximum", f.overMax())
	}
	if by := choose(f.ranked).name; by != chosen {
		return fmt.Errorf("the rule chooses %q, docs/decisions/0011 has %q", by, chosen)
	}
	return nil
}

func (f *findings) write(dir string) error {
	images := filepath.Join(dir, "images", "estimates")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	for name, text := range f.plots() {
		if err := os.WriteFile(filepath.Join(images, name+".svg"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return put(filepath.Join(dir, "estimates.md"), f.report())
}

func (s score) String() string {
	return fmt.Sprintf("%-75s %.4f symmetric %.4f median %.3f p90 %.3f bias %+.3f jumps %.2f by %.0f s, "+
		"keeps %d tells %d %s %s", s.name, s.Score,
		s.Symmetric, s.Median, s.P90, s.Bias, s.Jumps, s.Jumped, s.cost.kept, s.cost.sent,
		cmp.Or(s.cost.mirror, "-"), s.fault)
}
