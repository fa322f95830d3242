// Command day plays days of leases in minutes, with Redis's clock set ahead between rounds so that everything
// that is kept for a while is really forgotten, and fails where memory, keys, streams, goroutines or open
// files grow once nothing more has to be kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// config has the settings of a run.
type config struct {
	root   string
	hours  int           // by Redis's clock
	rooms  int           // each has a lease every two minutes
	pace   time.Duration // an hour takes at least so long
	broken string        // one of leaks: the product leaks on purpose
}

const (
	pace  = 6500 * time.Millisecond
	limit = 2 * time.Hour // longer than any run takes
)

func main() {
	var c config
	flag.StringVar(&c.root, "root", ".", "the checkout")
	flag.IntVar(&c.hours, "hours", 50, fmt.Sprintf("hours by Redis's clock; the first %d fill what is kept "+
		"and are not judged", warmUp))
	flag.IntVar(&c.rooms, "rooms", 20, "rooms; each has 30 leases an hour")
	flag.DurationVar(&c.pace, "pace", pace,
		"how long an hour takes at least: a replica remembers the end of a place for two to four minutes by "+
			"its own clock, and the warm-up has to be as long")
	flag.StringVar(&c.broken, "broken", "",
		"make the product leak on purpose, which must be noticed: "+strings.Join(leakNames(), ", "))
	all := flag.Bool("check", false, "play each leak and see that it is noticed")
	flag.Parse()
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := run
	if *all {
		do = check
	}
	if err := do(ctx, c); err != nil {
		log.Fatalf("day: %v", err)
	}
}

func run(ctx context.Context, c config) error {
	if c.hours < warmUp+2 {
		return fmt.Errorf("%d hours: give at least %d, of which the first %d are not judged", c.hours, warmUp+2,
			warmUp)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	d, err := open(ctx, c)
	defer d.close()
	if err != nil {
		return err
	}
	hours, err := d.play(ctx)
	if err != nil {
		return err
	}
	last, err := d.quiet(ctx)
	if err != nil {
		return err
	}
	fmt.Print(table(hours))
	fmt.Printf("%s; in %s\n", &d.count, time.Since(began).Round(time.Second))
	return errors.Join(judge(hours), last)
}
