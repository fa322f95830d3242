// Command run plays a k6 scenario against waitroom: on replicas that it starts itself, with Redis, PostgreSQL
// and a balancer, or on any deployment. It leaves a text, JSON and a page with plots, and nothing else.
// docs/load-testing.md has the rest.
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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

// config has a run's flags.
type config struct {
	root     string // of the checkout
	scenario string
	replicas int
	base     string // a deployment to use instead of starting one
	results  string
	broken   string // a fault to build into the replicas
	limit    time.Duration
	flatMiB  float64  // that a soak may add in ten minutes
	env      []string // more for k6
}

func main() {
	var c config
	var check bool
	flag.StringVar(&c.root, "root", ".", "the checkout")
	flag.StringVar(&c.scenario, "scenario", "smoke", "which of lab/k6")
	flag.IntVar(&c.replicas, "replicas", 3, "how many to start")
	flag.StringVar(&c.base, "base", "", "URL of a deployment to use; nothing is started then")
	flag.StringVar(&c.results, "results", "",
		"directory for what the run leaves (default results/SCENARIO-TIME)")
	flag.StringVar(&c.broken, "broken", "",
		"build this fault into the replicas: "+strings.Join(faultNames(), ", "))
	flag.DurationVar(&c.limit, "limit", 30*time.Minute, "how long it may take in all")
	flag.BoolVar(&check, "check", false, "check the checks: each fault must fail its own threshold, and a "+
		"sound build none")
	flag.Parse()
	c.flatMiB = flatMiB
	log.SetFlags(log.Ltime)
	if err := start(c, check); err != nil {
		log.Fatalf("load: %v", err)
	}
}

// start ends on the first SIGINT or SIGTERM by stopping everything in order. The second signal ends it at
// once, and the kernel ends its children.
func start(c config, check bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	ctx, cancel := context.WithTimeoutCause(ctx, c.limit, fmt.Errorf("it took longer than %s", c.limit))
	defer cancel()
	if err := c.complete(); err != nil {
		return err
	}
	if check {
		return checkChecks(ctx, c)
	}
	_, err := run(ctx, c)
	return err
}

// complete checks the flags and fills in defaults.
func (c *config) complete() (err error) {
	if c.root, err = filepath.Abs(c.root); err != nil {
		return err
	}
	if _, err := os.Stat(c.script()); err != nil {
		all, _ := filepath.Glob(filepath.Join(c.root, "lab/k6/*.js"))
		for i := range all {
			all[i] = strings.TrimSuffix(filepath.Base(all[i]), ".js")
		}
		return fmt.Errorf("there is no scenario %q; there are: %s", c.scenario, strings.Join(all, " "))
	}
	if c.replicas < 1 || c.replicas > 20 {
		return errors.New("replicas: 1 to 20")
	}
	if c.results == "" {
		c.results = filepath.Join(c.root, "results", c.scenario+"-"+time.Now().Format("20060102-150405"))
	}
	if c.results, err = filepath.Abs(c.results); err != nil {
		return err
	}
	return os.MkdirAll(c.results, 0o755)
}

func (c *config) script() string {
	return filepath.Join(c.root, "lab", "k6", filepath.Base(c.scenario)+".js")
}

// run runs the scenario once. It returns the report also with an error for thresholds that failed.
func run(ctx context.Context, c config) (*report, error) {
	k6, err := findK6(ctx, c.root)
	if err != nil {
		return nil, err
	}
	d := &deployment{Stack: &stack.Stack{}}
	defer d.stop()
	if c.base == "" {
		if err := d.start(ctx, c); err != nil {
			return nil, err
		}
		c.base, c.env = d.url, append(c.env, d.env...)
	}
	r := &report{Scenario: c.scenario, Base: c.base, Began: time.Now(), Machine: machine(),
		Replicas: len(d.replicas), Fault: c.broken}
	if c.scenario == "failover" {
		c.env = append(c.env, "DURATION="+failoverFor().String())
		chaos, end := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { d.killOne(chaos, r, failoverFor()/2) })
		defer done.Wait() // before the stack is stopped: it may be starting a replica
		defer end()
	}
	var pid atomic.Int64
	watched := watch(ctx, func() int { return int(pid.Load()) }, d.Children)
	failed := play(ctx, k6, c, func(p int) { pid.Store(int64(p)) })
	r.Processes = watched()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := r.read(c.results, c.flatMiB); err != nil {
		return nil, errors.Join(failed, err)
	}
	if c.scenario == "soak" {
		failed = errors.Join(failed, r.flat())
	}
	if err := r.write(c.results); err != nil {
		return nil, err
	}
	log.Printf("see %s", filepath.Join(c.results, "index.html"))
	return r, failed
}
