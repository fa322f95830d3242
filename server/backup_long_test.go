//go:build long

package server

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// inServers is a backup of PostgreSQL and of Redis's append-only file.
var inServers = backups{
	url:   func(t *testing.T) string { return pgtest.Start(t).URL() },
	args:  []string{"--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0"},
	redis: func(*testing.T, *redistest.Server) {},
	files: "appendonlydir",
	record: func(t *testing.T, url string) string {
		file := filepath.Join(t.TempDir(), "waitroom.sql")
		output, err := exec.Command(testproc.Find(t, "pg_dump"), "--dbname", url, "--file", file).CombinedOutput()
		require.NoError(t, err, string(output))
		return file
	},
	restore: func(t *testing.T, file string) string {
		url := pgtest.Start(t).URL()
		output, err := exec.Command(testproc.Find(t, "psql"), "--dbname", url, "--set", "ON_ERROR_STOP=1",
			"--quiet", "--file", file).CombinedOutput()
		require.NoError(t, err, string(output))
		return url
	},
}

func TestSystemOfServersThatIsRestoredFromBackupsKeepsTheRules(t *testing.T) {
	inServers.keepTheRules(t)
}
