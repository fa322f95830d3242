package redistest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// KeptArgs returns the settings of a production server: it persists its data and sends keyspace
// notifications.
func KeptArgs() []string { return []string{"--appendonly", "yes", "--notify-keyspace-events", "Kgx"} }

// StartKept runs a redis-server with the settings of production, and with more, until the test ends.
func StartKept(tb testing.TB, more ...string) *Server {
	tb.Helper()
	return StartWith(tb, Config{Args: append(KeptArgs(), more...)})
}

// Sealed is a server with the settings of production that accepts only clients with its own certificate.
type Sealed struct {
	*Server
	Port     int      // for TLS
	Settings []string // of TLS, as lines of redis.conf
	Files    string   // of the client, as the query of an address
}

// StartSealed runs such a server until the test ends.
func StartSealed(tb testing.TB, more ...string) Sealed {
	tb.Helper()
	cert, key := Certificate(tb)
	port := testproc.FreePort(tb)
	settings := []string{"tls-replication yes", "tls-cert-file " + cert, "tls-key-file " + key,
		"tls-ca-cert-file " + cert, "tls-auth-clients yes"}
	args := append(slices.Clone(more), "--tls-port", fmt.Sprint(port))
	for _, line := range settings {
		args = append(args, strings.Fields("--"+line)...)
	}
	files := url.Values{"cert": {cert}, "key": {key}, "ca": {cert}}.Encode()
	return Sealed{Server: StartKept(tb, args...), Port: port, Settings: settings, Files: files}
}

// Sentinel runs one sentinel of the server until the test ends, with the same TLS, and returns the address of
// both.
func (s Sealed) Sentinel(tb testing.TB) string {
	tb.Helper()
	dir, port := tb.TempDir(), testproc.FreePort(tb)
	conf := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port 0\ntls-port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor main 127.0.0.1 %d "+
		"1\n%s\n",
		port, dir, s.Port, strings.Join(s.Settings, "\n"))
	require.NoError(tb, os.WriteFile(conf, []byte(text), 0o600))
	process, err := testproc.Start(exec.Command(testproc.Find(tb, "redis-sentinel"), conf), syscall.SIGKILL)
	require.NoError(tb, err)
	tb.Cleanup(process.Kill)
	return fmt.Sprintf("rediss+sentinel://127.0.0.1:%d/main?%s", port, s.Files)
}
