// Command bench measures what waitroom must reach, in one run on one machine, with its peers beside it, and
// prints a table of bars and values. Everything is measured from outside: waitroom, Redis, PostgreSQL and the
// peers are processes of their own. lab/benchmarks.md is what it writes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/lab/stack"
)

// bench is one run.
type bench struct {
	root       string // of the checkout
	out        string // directory of the page; "" = nothing is written
	only       string
	scale      float64
	centrifugo string // its program, where there is one
	program    string // a waitroom that is built already; "" = the checkout's
	before     string // a commit to measure beside the checkout's; "" = none

	dir        string // for what is built
	waitroom   string
	peers      string
	contenders string // the peers' program with the lock that is measured
	rows       []row
	figures    []figure
	began      time.Time
	load       string // average at the start
	commit     string // then, too
}

// figure is a plot of the page.
type figure struct{ name, alt, svg string }

func main() {
	if len(os.Args) == 3 && os.Args[1] == othersArg {
		beOthers(os.Args[2], os.Stdin, os.Stdout)
		return
	}
	b := &bench{centrifugo: os.Getenv("CENTRIFUGO_BIN")}
	limit := flag.Duration("limit", 40*time.Minute, "how long it may take in all")
	flag.StringVar(&b.root, "root", ".", "the checkout")
	flag.StringVar(&b.out, "out", "", "directory to write benchmarks.md and its plots into")
	flag.StringVar(&b.only, "only", "", "measure only these, with commas between: "+strings.Join(names(), " ")+
		"; nothing is written then")
	flag.StringVar(&b.program, "program", "",
		"a waitroom that is built already, such as another version, instead of the checkout's; nothing is "+
			"written then")
	flag.StringVar(&b.before, "before", "",
		"a commit: measure each thing with its program, too, in turn, and write a table of both instead")
	flag.Float64Var(&b.scale, "scale", 1, "part of the sizes, to see that it works: the values mean nothing "+
		"below 1")
	flag.Parse()
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one ends it at once, and the kernel what it started
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("it took longer than %s", *limit))
	defer cancel()
	if err := b.run(ctx); err != nil {
		log.Printf("bench: %v", err)
		cancel()
		os.Exit(1)
	}
}

// run runs all measurements. Its error means that something could not be measured; a missed bar is no error.
func (b *bench) run(ctx context.Context) error {
	list, err := chosen(b.only)
	if err != nil {
		return err
	}
	if err := b.complete(ctx); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if err := b.build(ctx); err != nil {
		return err
	}
	if b.before != "" {
		return b.compare(ctx, list)
	}
	for i, m := range list {
		log.Printf("%d of %d: %s: %s", i+1, len(list), m.name, m.what)
		if err := b.measure(ctx, m); err != nil {
			return err
		}
	}
	fmt.Println("\n" + table(b.rows) + "\n" + hows(b.rows))
	if b.writes() {
		if err := b.write(); err != nil {
			return err
		}
	}
	if n := unmeasured(b.rows); n > 0 {
		return fmt.Errorf("%d rows could not be measured", n)
	}
	return nil
}

// complete checks the flags and fills in the defaults.
func (b *bench) complete(ctx context.Context) (err error) {
	if b.scale <= 0 || b.scale > 1 {
		return errors.New("-scale: over 0, at most 1")
	}
	if b.root, err = filepath.Abs(b.root); err != nil {
		return err
	}
	if b.before != "" && b.program != "" {
		return errors.New("-before and -program: one of them")
	}
	if b.out != "" {
		if b.out, err = filepath.Abs(b.out); err != nil {
			return err
		}
		if err := os.MkdirAll(b.images(), 0o755); err != nil {
			return err
		}
	}
	b.began, b.load, b.commit = time.Now(), stack.Load(), commit(ctx, b.root)
	b.dir, err = os.MkdirTemp("", "waitroom-bench-")
	return err
}

// writes reports whether the page is written. A run of some measurements only does not write it.
func (b *bench) writes() bool {
	return b.out != "" && b.only == "" && b.program == "" && b.before == ""
}

func (b *bench) page() string   { return filepath.Join(b.out, "benchmarks.md") }
func (b *bench) images() string { return filepath.Join(b.out, "images", "benchmarks") }

// measure runs one measurement. If it fails, its row says why, and the error ends the run at the end.
func (b *bench) measure(ctx context.Context, m measure) error {
	began := time.Now()
	err := m.run(b, ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		log.Printf("  %s: %v", m.name, err)
		b.rows = append(b.rows, row{what: m.what, err: err})
	}
	log.Printf("  it took %s", time.Since(began).Round(time.Second))
	return nil
}

// build builds waitroom and the peers of this checkout.
func (b *bench) build(ctx context.Context) error {
	log.Print("building waitroom and its peers")
	b.peers = filepath.Join(b.dir, "peers")
	b.contenders = b.peers
	if err := b.buildWaitroom(ctx); err != nil {
		return err
	}
	return buildPeers(ctx, b.root, b.peers)
}

func buildPeers(ctx context.Context, root, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./peers")
	cmd.Dir = filepath.Join(root, "lab")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./peers in lab: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) buildWaitroom(ctx context.Context) (err error) {
	if b.program != "" {
		b.waitroom, err = filepath.Abs(b.program)
		return err
	}
	b.waitroom = filepath.Join(b.dir, "waitroom")
	return stack.Build(ctx, b.root, b.waitroom)
}

// n returns a full-size count, scaled by the flag -scale.
func (b *bench) n(full int) int { return max(int(float64(full)*b.scale), min(full, 10)) }

// span returns a full-length duration, scaled by the flag -scale.
func (b *bench) span(full time.Duration) time.Duration {
	return max(time.Duration(float64(full)*b.scale), min(full, time.Second))
}

func (b *bench) add(r row) {
	b.rows = append(b.rows, r)
	log.Printf("  %s: %s (bar %s): %s", r.what, r.value(), r.bar, r.verdict())
}
