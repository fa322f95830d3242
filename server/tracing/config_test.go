package tracing

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// parse reads these variables, and an endpoint.
func parse(vars map[string]string) (Config, error) {
	return FromEnv(func(name string) string {
		if v, ok := vars[name]; ok {
			return v
		}
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}[name]
	})
}

func TestTracesAreOnWhereThereIsAnEndpoint(t *testing.T) {
	for name, vars := range map[string]map[string]string{
		"no endpoint": {"OTEL_EXPORTER_OTLP_ENDPOINT": "", "OTEL_TRACES_SAMPLER": "nonsense"},
		"disabled":    {"OTEL_SDK_DISABLED": "true"}, "no exporter": {"OTEL_TRACES_EXPORTER": "none"},
	} {
		c, err := parse(vars)
		require.NoError(t, err, name)
		require.False(t, c.On(), name)
	}
	c, err := parse(nil)
	require.NoError(t, err)
	require.True(t, c.On())
	require.Equal(t, "http://collector:4318/v1/traces", c.Endpoint.String())
	require.Equal(t, 10*time.Second, c.Timeout)
}

func TestWhatIsSaidOfTracesCountsMoreThanWhatIsSaidOfAllSignals(t *testing.T) {
	c, err := parse(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://all.example/base",
		"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20a, x-tenant = one",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "1500", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"})
	require.NoError(t, err)
	require.Equal(t, "https://all.example/base/v1/traces", c.Endpoint.String())
	require.Equal(t, "all.example:443", c.Address())
	require.Equal(t, Headers{"Authorization": {"Bearer a"}, "X-Tenant": {"one"}}, c.Headers)
	require.Equal(t, 1500*time.Millisecond, c.Timeout)
	require.True(t, c.Gzip)
	c, err = parse(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://own.example",
		"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "none", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"})
	require.NoError(t, err)
	require.Equal(t, "http://own.example/", c.Endpoint.String(), "as it is")
	require.Equal(t, "own.example:80", c.Address())
	require.False(t, c.Gzip)
}

func TestHeadersMayBeInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	require.NoError(t, os.WriteFile(file, []byte("\uFEFFx-tenant=one\n"), 0o600))
	c, err := parse(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS_FILE": file})
	require.NoError(t, err)
	require.Equal(t, Headers{"X-Tenant": {"one"}}, c.Headers)
	_, err = parse(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS_FILE": file + "-gone"})
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_HEADERS_FILE: want a file")
}

func TestAWrongVariableIsNamedAndItsValueIsNot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "canary")
	require.NoError(t, os.WriteFile(file, []byte("canary"), 0o600))
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":           "canary:4318",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":    "https://user:canary@collector",
		"OTEL_EXPORTER_OTLP_PROTOCOL":           "grpc",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL":    "canary",
		"OTEL_EXPORTER_OTLP_HEADERS":            "canary",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":     "x=%zzcanary",
		"OTEL_EXPORTER_OTLP_COMPRESSION":        "canary",
		"OTEL_EXPORTER_OTLP_TIMEOUT":            "10s canary",
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        file,
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": file,
		"OTEL_TRACES_EXPORTER":                  "canary",
		"OTEL_TRACES_SAMPLER":                   "canary",
		"OTEL_BSP_MAX_QUEUE_SIZE":               "canary",
		"OTEL_RESOURCE_ATTRIBUTES":              "canary",
	} {
		_, err := parse(map[string]string{name: value})
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "canary", name)
	}
	_, err := parse(map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
		"OTEL_TRACES_SAMPLER_ARG": "5%"})
	require.ErrorContains(t, err, "OTEL_TRACES_SAMPLER_ARG: want a number from 0 to 1")
}

func TestHeadersDoNotPrint(t *testing.T) {
	c, err := parse(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=canary"})
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", c, c, c, c.Headers), "canary")
}
