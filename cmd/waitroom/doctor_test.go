package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestDoctorsExitCodeReportsAFailedCheck(t *testing.T) {
	t.Parallel()
	args := []string{"doctor", "--addr", fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t)), "--database-url",
		"sqlite:" + filepath.Join(t.TempDir(), "data", "waitroom.db")}
	var out, problems bytes.Buffer
	require.Zero(t, run(args, nil, &out, &problems), out.String())
	require.Contains(t, out.String(), "hint   settings  The store is embedded")

	out.Reset()
	require.Equal(t, 1,
		run(append(args, "--redis-url", fmt.Sprintf("redis://127.0.0.1:%d", testproc.FreePort(t))), nil, &out,
			&problems))
	require.Contains(t, out.String(), "WRONG  redis     Redis at 127.0.0.1:")

	out.Reset()
	require.Equal(t, 1,
		run(append(args, "--lease", "3h", "--rooms", "Ä", "--support-tokens", "desk:act:hush,desk"), nil, &out,
			&problems))
	require.Contains(t, out.String(), "WRONG  settings  WAITROOM_LEASE (--lease) is \"3h\"")
	require.Contains(t, out.String(), "WRONG  settings  WAITROOM_ROOMS")
	require.Contains(t, out.String(), "WRONG  settings  WAITROOM_SUPPORT_TOKENS (--support-tokens): entry 1 "+
		"does not end in a SHA-256")
	require.Contains(t, out.String(), "entry 2 is not name:role:sha256")
	require.NotContains(t, out.String(), "hush")
	require.Contains(t, problems.String(), "see above")
}
