package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/waitroom/waitroom/lab/section"
	"github.com/waitroom/waitroom/lab/stack"
)

// write writes this program's part of the page, and the plots.
func (b *bench) write() error {
	for _, f := range b.figures {
		if err := os.WriteFile(filepath.Join(b.images(), f.name+".svg"), []byte(f.svg), 0o644); err != nil {
			return err
		}
	}
	return section.Put(b.page(), "Benchmarks", "bench", "make bench", b.text(stack.Machine()))
}

func (b *bench) text(machine string) string {
	var p strings.Builder
	fmt.Fprintf(&p, "Made by `make bench` in %s, on %s, commit %s. Machine: %s; everything ran on it, "+
		"clients and peers included, and shared it (load average at the start: %s).\n",
		time.Since(b.began).Round(time.Minute), b.began.UTC().Format(time.DateOnly), b.commit, machine, b.load)
	if b.scale < 1 {
		fmt.Fprintf(&p, "\n**Made with sizes of %s: this only shows that it works.**\n", number(b.scale))
	}
	p.WriteString("\n## What it must reach\n\nwaitroom, Redis and the peers are processes of their own, " +
		"measured from outside. A bar that is missed is printed as missed.\n\n")
	p.WriteString(table(b.rows))
	p.WriteString("\n`make bench ONLY=idle` measures one of them again and writes nothing; the names: " +
		strings.Join(names(), " ") +
		". `CENTRIFUGO_BIN=/path/to/centrifugo make bench` has Centrifugo beside it.\n\n### How\n\n")
	p.WriteString(hows(b.rows))
	p.WriteString("\n### Plots\n\n")
	for _, f := range b.figures {
		fmt.Fprintf(&p, "![%s](images/benchmarks/%s.svg)\n\n", f.alt, f.name)
	}
	return p.String()
}

// hows describes how each row was measured.
func hows(rows []row) string {
	var s strings.Builder
	for _, r := range rows {
		if r.how != "" {
			fmt.Fprintf(&s, "- **%s**: %s\n", r.what, r.how)
		}
	}
	return s.String()
}

// commit returns the checkout's commit.
func commit(ctx context.Context, root string) string {
	git := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	name := git("rev-parse", "--short=12", "HEAD")
	if name == "" {
		return "unknown"
	}
	if git("status", "--porcelain", "--untracked-files=no", "--", ":!docs", ":!lab/*.md", ":!lab/images") != "" {
		name += " with changes"
	}
	return name
}
