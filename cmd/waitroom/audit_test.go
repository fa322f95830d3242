package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAuditWithoutItsArgumentsPrintsUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"waitroom: usage: waitroom audit verify": {"audit"},
		"usage: waitroom audit verify":           {"audit", "repair"},
		"--since needs a value":                  {"audit", "verify", "--since"},
		"WAITROOM_LEASE (--lease) is \"3h\"":     {"audit", "verify", "--lease", "3h"},
		"WAITROOM_DATABASE_URL (--database-url): there is no ledger": {"audit", "verify", "--database-url",
			"sqlite:" + filepath.Join(t.TempDir(), "waitroom.db")},
	} {
		var out, problems bytes.Buffer
		require.Equal(t, 1, run(args, nil, &out, &problems))
		require.Contains(t, problems.String(), want)
	}
}
