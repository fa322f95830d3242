// Package doctor looks at everything that a replica would stand on, and reports in words what is wrong.
package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/server/agree"
	"github.com/waitroom/waitroom/server/roomsfile"
	"github.com/waitroom/waitroom/server/store"
	"github.com/waitroom/waitroom/server/tracing"
	"github.com/waitroom/waitroom/sms/source"
	"github.com/waitroom/waitroom/web"
)

// Level is how serious a finding is.
type Level int

// The levels, worse ones later.
const (
	Fine Level = iota
	Doubtful
	Wrong
)

func (l Level) String() string { return [...]string{"ok", "hint", "WRONG"}[l] }

// Finding is the result of one check in words, with what to do about it if it is not fine.
type Finding struct {
	// settings, rooms, ports, balancer, redis, sentinel, sources, senders, database, traces, token or a key
	About string
	Level Level
	Text  string
	Do    string
}

// askWithin bounds each question: a server that does not answer by then counts as away.
const askWithin = 5 * time.Second

// doctor collects findings.
type doctor struct {
	Config
	findings []Finding
}

// Diagnose checks everything that a replica with this configuration depends on. In Redis it leaves the
// engine's library, which a replica would load too, and keys of its own, which expire within seconds. A
// replica may serve meanwhile.
func Diagnose(ctx context.Context, cfg Config) []Finding {
	store.LogTo(slog.New(slog.DiscardHandler))
	d := &doctor{Config: cfg}
	switch {
	case cfg.Only.Source != "":
		d.arrivals(ctx)
		return d.findings
	case cfg.Only.Room != "":
		d.keys(ctx, cfg.Only.Room)
		return d.findings
	}
	d.settings()
	d.rooms()
	d.ports(ctx)
	d.certificate(ctx)
	d.redis(ctx)
	d.sources(ctx)
	d.senders(ctx)
	d.database(ctx)
	d.traces(ctx)
	return d.findings
}

// WriteFindings writes findings as lines for a person, and reports whether nothing is wrong.
func WriteFindings(w io.Writer, findings []Finding) bool {
	for _, f := range findings {
		fmt.Fprintf(w, "%-5s  %-8s  %s\n", f.Level, f.About, f.Text)
		if f.Do != "" {
			fmt.Fprintf(w, "%-5s  %-8s  → %s\n", "", "", f.Do)
		}
	}
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == Wrong })
}

func (d *doctor) fine(about, text string, args ...any) {
	d.findings = append(d.findings, Finding{About: about, Text: fmt.Sprintf(text, args...)})
}

func (d *doctor) warn(about, do, text string, args ...any) {
	d.findings = append(d.findings, Finding{about, Doubtful, fmt.Sprintf(text, args...), do})
}

func (d *doctor) wrong(about, do, text string, args ...any) {
	d.findings = append(d.findings, Finding{about, Wrong, fmt.Sprintf(text, args...), do})
}

// sentence returns a remedy, as errors have it, as a sentence of its own.
func sentence(remedy string) string { return strings.ToUpper(remedy[:1]) + remedy[1:] + "." }

// any reports whether a subject has a finding that is worse than fine.
func (d *doctor) any(about string) bool {
	return slices.ContainsFunc(d.findings, func(f Finding) bool {
		return f.About == about &&
			f.Level != Fine
	})
}

// Config is the part of a replica's settings that the doctor checks.
type Config struct {
	Unknown map[string]string // environment variables that look like settings and are none: what to do

	Addr, MetricsAddr string // host:port; MetricsAddr may be ""
	LocalURL          string // how this machine reaches Addr
	PublicURL         string
	Roots             *x509.CertPool // who may sign its certificate; nil = those whom this host trusts
	TrustedProxies    []netip.Prefix
	FrameAncestors    []string
	Serves            func(ctx context.Context, url string) bool // whether a waitroom answers there

	Redis       store.URL
	RedisPrefix string
	DatabaseURL string

	Retention     time.Duration
	RetentionText string // Retention for a person

	Rooms     web.Rooms
	RoomsFile roomsfile.Checks // without a path there is no file
	// what all replicas must share
	Shared     func(context.Context) agree.Settings
	SMSSources map[string]source.Configured
	Only       Only

	SMSWebhookSecret, WebhookSecret string // each may be a list with commas

	SellersProven  bool // sellers come with the portal's tokens
	SupportSignsIn bool // by users or by a provider, rather than by a password of each start

	Tracing tracing.Config
}

// Only names the one thing that is to be reported; the zero value is a check of everything.
type Only struct {
	Source string // what came last from the sources of this name
	Room   string // what Redis has of this room
}
