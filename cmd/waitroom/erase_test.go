package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestErasureWithoutItsArgumentsPrintsUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"waitroom: usage: waitroom erase --seller ID": {"erase"},
		"--seller: seller id is not valid":            {"erase", "--seller=no such"},
		"WAITROOM_LEASE (--lease) is \"3h\"": {"erase", "--seller", "s-1", "--end-places", "--lease",
			"3h"},
		"WAITROOM_DATABASE_URL (--database-url): there is no ledger": {"erase", "--seller", "s-1", "--redis-url",
			redistest.Start(t).URL(),
			"--database-url", "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db")},
	} {
		var out, problems bytes.Buffer
		require.Equal(t, 1, run(args, nil, &out, &problems))
		require.Contains(t, problems.String(), want)
	}
}
