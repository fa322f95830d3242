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

// Config configures the traces. The zero value is off. The SDK itself reads sampling, limits and the
// program's name from the environment.
type Config struct {
	Version  string        // of the program; "" = Go's build information
	Endpoint *url.URL      // of the collector, with the path for traces; nil = no traces
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

// On reports whether tracing is on.
func (c Config) On() bool { return c.Endpoint != nil }

// Address returns the collector's host:port.
func (c Config) Address() string {
	if c.Endpoint.Port() != "" {
		return c.Endpoint.Host
	}
	return c.Endpoint.Host + map[string]string{"http": ":80", "https": ":443"}[c.Endpoint.Scheme]
}

const (
	forAll    = "OTEL_EXPORTER_OTLP_"        // for all signals
	forTraces = "OTEL_EXPORTER_OTLP_TRACES_" // takes precedence
	timeout   = 10 * time.Second             // the specification's
)

// FromEnv reads OpenTelemetry's environment variables. Traces are on if there is an endpoint. The error names
// each invalid variable, including the SDK's, which would silently use a default. It repeats no values:
// headers and addresses hold keys.
func FromEnv(getenv func(string) string) (Config, error) {
	e := env{getenv: getenv}
	if e.export("ENDPOINT") == "" || strings.EqualFold(e.get("OTEL_SDK_DISABLED"), "true") ||
		e.get("OTEL_TRACES_EXPORTER") == "none" {
		return Config{}, nil
	}
	e.among("OTEL_TRACES_EXPORTER", "otlp")
	e.among(e.name("PROTOCOL"), "http/protobuf") // see docs/decisions/0019-traces.md
	e.among(e.name("COMPRESSION"), "gzip", "none")
	c := Config{Endpoint: e.endpoint(), Headers: e.headers(), Timeout: e.timeout(),
		Gzip: e.export("COMPRESSION") == "gzip", TLS: e.tls()}
	e.sampling()
	e.limits()
	if err := errors.Join(e.wrong...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// env reads variables and collects errors.
type env struct {
	getenv func(string) string
	wrong  []error
}

func (e *env) get(name string) string { return strings.TrimSpace(e.getenv(name)) }

// name returns the variable in effect: the one for traces, or the one for all signals.
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

// check validates a variable that is set.
func (e *env) check(name, want string, ok func(string) bool) {
	if text := e.get(name); text != "" && !ok(text) {
		e.bad(name, want)
	}
}
