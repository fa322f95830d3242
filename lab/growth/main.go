// Command growth computes how many servers a number of waiting sellers needs, from the constants in one file.
// It compares its formulas with simulations of small worlds, and writes its tables into lab/growth.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	playFor = 300 // s that each large world is played
	seed    = 1
)

func main() {
	root := flag.String("root", ".", "the checkout")
	write := flag.Bool("write", false, "write the tables into lab/growth.md")
	again := flag.Bool("measure", false, "measure the constants anew on this machine and write them down "+
		"(four minutes)")
	set := flag.String("set", "", "write down values from elsewhere, such as make bench: NAME=VALUE,NAME=VALUE")
	flag.Parse()
	log.SetFlags(log.Ltime)
	if err := run(*root, *write, *again, *set); err != nil {
		log.Fatalf("growth: %v", err)
	}
}

func run(root string, write, again bool, set string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path := filepath.Join(root, "lab", "growth", "constants.json")
	c, err := readConstants(path)
	if err != nil {
		return err
	}
	if again {
		if err := c.measure(ctx, root); err != nil {
			return err
		}
	}
	if set != "" {
		if err := c.set(set); err != nil {
			return err
		}
	}
	if again || set != "" {
		if err := c.write(path); err != nil {
			return err
		}
	}
	played := playAll(c.numbers())
	text := report(c, played)
	if !write {
		fmt.Print(text)
		return wrong(played)
	}
	err = errors.Join(put(filepath.Join(root, "lab", "growth.md"), text), wrong(played))
	if err == nil {
		log.Printf("lab/growth.md is written; %d worlds were played and the formulas agree", len(played))
	}
	return err
}

// measure measures every constant of that kind and replaces its value.
func (c *constants) measure(ctx context.Context, root string) error {
	values, err := measure(ctx, root)
	if err != nil {
		return err
	}
	for i, k := range c.List {
		if k.Kind != measured {
			continue
		}
		value, ok := values[k.Name]
		if !ok {
			return fmt.Errorf("%s was not measured", k.Name)
		}
		c.List[i].Value = rounded(value)
	}
	c.Machine = fmt.Sprintf("%d × %s, %s, %s", runtime.NumCPU(), processor(), runtime.GOOS,
		time.Now().UTC().Format(time.DateOnly))
	return nil
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, found := strings.CutPrefix(line, "model name"); found {
			return strings.TrimLeft(strings.TrimSpace(name), ": \t")
		}
	}
	return runtime.GOARCH
}

// played is a world and the comparison of its simulation with the formulas.
type played struct {
	world
	list []compared
}

func playAll(n numbers) (all []played) {
	for _, w := range large {
		all = append(all, played{w, compare(sound, w, n, playFor, seed)})
	}
	return all
}

func wrong(all []played) error {
	var errs []error
	for _, p := range all {
		if err := disagreements(p.list); err != nil {
			errs = append(errs, fmt.Errorf("%.0f sellers in %.0f rooms: %w", p.sellers, p.rooms, err))
		}
	}
	return errors.Join(errs...)
}
