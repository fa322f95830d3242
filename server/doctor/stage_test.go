package doctor_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/server"
	"github.com/waitroom/waitroom/server/doctor"
)

func TestMain(m *testing.M) {
	databases := runner(func() int { return pgtest.Main(m) })
	goleak.VerifyTestMain(runner(func() int { return redistest.Main(databases) }))
}

// runner is a function that runs the tests of a package.
type runner func() int

func (r runner) Run() int { return r() }

// patience is how long a test waits for an event.
const patience = time.Minute

// sound returns a configuration in which the doctor finds nothing wrong, with more arguments.
func sound(t *testing.T, args ...string) server.Config {
	t.Helper()
	cfg, err := server.ParseConfig(append([]string{"--addr", "127.0.0.1:0",
		"--database-url", "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"),
		"--sms-webhook-secret", "whsec_c2VjcmV0LW9mLXRoZS1jYXJyaWVyLTEyMzQ1Ng==",
		"--public-url", "https://wait.example", "--trusted-proxies", "10.0.0.1",
		"--support-users", "kim:$2a$10$7EqJtq98hPqEX7fNZaFWoOhi5cX3bJ7oVYJcM0KqBv2Jc0pUoM8bW"}, args...))
	require.NoError(t, err)
	return cfg
}

// diagnosed returns what the doctor prints about a configuration, and whether it found nothing wrong.
func diagnosed(t *testing.T, cfg server.Config) (said string, well bool) {
	t.Helper()
	var out bytes.Buffer
	well = doctor.WriteFindings(&out, server.Diagnose(t.Context(), cfg, doctor.Only{}))
	return out.String(), well
}

func roomsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rooms.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
