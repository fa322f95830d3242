package main

import (
	"context"
	"fmt"
	"log"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/lab/section"
	"github.com/waitroom/waitroom/lab/stack"
)

// incomparable are measurements that cannot compare two commits: they start no server, or draw a plot.
var incomparable = []string{"carriers", "load"}

// buildBefore builds waitroom, and the peers with its lock, at another commit.
func (b *bench) buildBefore(ctx context.Context) (old *bench, err error) {
	tree := filepath.Join(b.dir, "before")
	for _, args := range [][]string{{"clone", "--quiet", "--shared", "--no-checkout", b.root, tree},
		{"-C", tree, "checkout", "--quiet", "--detach", b.before}} {
		if out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("-before %s: git %s: %w\n%s", b.before, strings.Join(args, " "), err, out)
		}
	}
	then := *b
	then.commit = commit(ctx, tree)
	then.waitroom, then.contenders = filepath.Join(b.dir, "waitroom-before"),
		filepath.Join(b.dir, "peers-before")
	if err := stack.Build(ctx, tree, then.waitroom); err != nil {
		return nil, err
	}
	return &then, buildPeers(ctx, tree, then.contenders)
}

// compare runs each measurement on the earlier commit and right after it on this one.
func (b *bench) compare(ctx context.Context, list []measure) error {
	old, err := b.buildBefore(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(m measure) bool { return slices.Contains(incomparable, m.name) })
	for i, m := range list {
		log.Printf("%d of %d: %s: %s", i+1, len(list), m.name, m.what)
		for _, one := range []*bench{old, b} {
			log.Printf("  %s", one.commit)
			if err := one.measure(ctx, m); err != nil {
				return err
			}
		}
	}
	text := b.beside(old)
	fmt.Println("\n" + text)
	if b.out == "" || b.only != "" {
		return nil
	}
	return section.Put(b.page(), "Benchmarks", "before", "make bench BEFORE="+b.before, text)
}

// beside returns the page's part that compares two commits.
func (b *bench) beside(old *bench) string {
	var p strings.Builder
	fmt.Fprintf(&p, "## Beside the version of before\n\nMade by `make bench BEFORE=%s` in %s, on %s: each "+
		"row was measured with the program of commit %s and right after with that of %s, by the same clients, "+
		"on the same machine (%s; load average at the start: %s).\n",
		b.before, time.Since(b.began).Round(time.Minute), b.began.UTC().Format(time.DateOnly), old.commit, b.commit,
		stack.Machine(), b.load)
	if b.scale < 1 {
		fmt.Fprintf(&p, "\n**Made with sizes of %s: this only shows that it works.**\n", number(b.scale))
	}
	fmt.Fprintf(&p, "\n%s\n### How, before\n\n%s\n### How, now\n\n%s", columns(old.rows, b.rows),
		failures(old.rows)+hows(old.rows), hows(b.rows))
	return p.String()
}

// failures returns why rows could not be measured.
func failures(rows []row) string {
	var s strings.Builder
	for _, r := range rows {
		if r.err != nil {
			fmt.Fprintf(&s, "- **%s**: %s\n", r.what, r.verdict())
		}
	}
	return s.String()
}

// columns returns a table with both commits' values, in the order of the new rows. A dash stands for a value
// that could not be measured.
func columns(before, now []row) string {
	var t strings.Builder
	t.WriteString("| what | bar | before | now | holds now? |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range now {
		then := row{err: errUnmeasured}
		if i := slices.IndexFunc(before, func(o row) bool { return o.what == r.what }); i >= 0 {
			then = before[i]
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s |\n", r.what, r.bar, then.value(), r.value(), r.verdict())
	}
	return t.String()
}
