package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Level says how a finding is.
type Level int

// The levels, worse ones later.
const (
	Fine Level = iota
	Doubtful
	Wrong
)

func (l Level) String() string { return [...]string{"ok", "hint", "WRONG"}[l] }

// Finding is one thing that was looked at: how it is, in words, and what to do about it where it is not fine.
type Finding struct {
	About string // settings, rooms, ports, redis, sentinel, sources, database or traces
	Level Level
	Said  string
	Do    string
}

// doctorWithin bounds each question: what does not answer by then is found to be away.
const doctorWithin = 5 * time.Second

// doctor collects findings.
type doctor struct {
	cfg      Config
	findings []Finding
}

// Diagnose looks at everything that a replica with this configuration would stand on. It changes nothing but keys of its own in Redis, which are gone
// within seconds. A replica may serve meanwhile.
func Diagnose(ctx context.Context, cfg Config) []Finding {
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)})
	d := &doctor{cfg: cfg}
	d.settings()
	d.rooms()
	d.ports(ctx)
	d.redis(ctx)
	d.sources(ctx)
	d.database(ctx)
	d.traces(ctx)
	return d.findings
}

// WriteFindings puts findings into lines for a person and reports whether none is wrong.
func WriteFindings(w io.Writer, findings []Finding) bool {
	for _, f := range findings {
		fmt.Fprintf(w, "%-5s  %-8s  %s\n", f.Level, f.About, f.Said)
		if f.Do != "" {
			fmt.Fprintf(w, "%-5s  %-8s  → %s\n", "", "", f.Do)
		}
	}
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == Wrong })
}

func (d *doctor) fine(about, said string, args ...any) {
	d.findings = append(d.findings, Finding{About: about, Said: fmt.Sprintf(said, args...)})
}

func (d *doctor) doubtful(about, do, said string, args ...any) {
	d.findings = append(d.findings, Finding{about, Doubtful, fmt.Sprintf(said, args...), do})
}

func (d *doctor) wrong(about, do, said string, args ...any) {
	d.findings = append(d.findings, Finding{about, Wrong, fmt.Sprintf(said, args...), do})
}

// any reports whether something worse than fine has been found about it.
func (d *doctor) any(about string) bool {
	return slices.ContainsFunc(d.findings, func(f Finding) bool { return f.About == about && f.Level != Fine })
}
