package tracing

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says whether there are traces and where they go. The zero value is off. Sampling, limits and what
// the program is called, the SDK reads from the environment itself.
type Config struct {
	Version  string        // of the program; "" = what Go knows of it
	Endpoint *url.URL      // of the collector, with the path that takes traces; nil = there are no traces
	Headers  Headers       // sent with each request
	Timeout  time.Duration // of one request
	Gzip     bool
	TLS      *tls.Config // nil = this machine's certificates
}

// Headers may hold keys. They do not print.
type Headers http.Header

func (Headers) String() string { return "***" }

// GoString hides them from %#v too.
func (Headers) GoString() string { return "***" }

// LogValue hides them from slog.
func (Headers) LogValue() slog.Value { return slog.StringValue("***") }

// On reports whether there are traces.
func (c Config) On() bool { return c.Endpoint != nil }

// Address is the collector's host:port.
func (c Config) Address() string {
	if c.Endpoint.Port() != "" {
		return c.Endpoint.Host
	}
	return c.Endpoint.Host + map[string]string{"http": ":80", "https": ":443"}[c.Endpoint.Scheme]
}

const (
	forAll    = "OTEL_EXPORTER_OTLP_"        // what all signals have
	forTraces = "OTEL_EXPORTER_OTLP_TRACES_" // counts more
	timeout   = 10 * time.Second             // the specification's
)

// FromEnv reads the variables by which OpenTelemetry is configured everywhere. Traces are on where there is
// an endpoint. The error names each variable that is wrong, also of those that the SDK reads: it would go on
// with a default. Values are not repeated: headers and addresses hold keys.
func FromEnv(getenv func(string) string) (Config, error) {
	e := env{getenv: getenv}
	if e.export("ENDPOINT") == "" || strings.EqualFold(e.get("OTEL_SDK_DISABLED"), "true") || e.get("OTEL_TRACES_EXPORTER") == "none" {
		return Config{}, nil
	}
	e.among("OTEL_TRACES_EXPORTER", "otlp")
	e.among(e.name("PROTOCOL"), "http/protobuf") // see docs/decisions/0019-traces.md
	e.among(e.name("COMPRESSION"), "gzip", "none")
	c := Config{Endpoint: e.endpoint(), Headers: e.headers(), Timeout: e.timeout(), Gzip: e.export("COMPRESSION") == "gzip", TLS: e.tls()}
	e.sampling()
	e.limits()
	if err := errors.Join(e.wrong...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// env reads variables and collects what is wrong.
type env struct {
	getenv func(string) string
	wrong  []error
}

func (e *env) get(name string) string { return strings.TrimSpace(e.getenv(name)) }

// name is the variable that counts of the one for traces and the one for all signals.
func (e *env) name(what string) string {
	if e.get(forTraces+what) != "" {
		return forTraces + what
	}
	return forAll + what
}

func (e *env) export(what string) string { return e.get(e.name(what)) }

func (e *env) bad(name, want string) {
	e.wrong = append(e.wrong, fmt.Errorf("%s: want %s", name, want))
}

// check wants something of a variable that is set.
func (e *env) check(name, want string, ok func(string) bool) {
	if text := e.get(name); text != "" && !ok(text) {
		e.bad(name, want)
	}
}
