package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// The commands of docs/support.md need a shell that finds the program. Only the address differs.
func TestCommandsOfTheSupportGuideMakeATokenThatAsksAndActs(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("curl")
	require.NoError(t, err, "run `make setup`")
	guide, err := os.ReadFile("../../docs/support.md")
	require.NoError(t, err)
	_, programs, found := strings.Cut(string(guide), "\n## Programs\n")
	require.True(t, found)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(programs, -1)
	require.Len(t, blocks, 2)
	dir := t.TempDir()
	shell := func(script string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		require.NoError(t, err, string(out))
		return string(out)
	}
	require.Empty(t, shell(blocks[0][1]))
	r := startReplica(t, "--support-tokens-file", filepath.Join(dir, "support_tokens"))
	require.Equal(t, "locked", r.join(room.NewSession(), "s-1"))
	output := shell(strings.ReplaceAll(blocks[1][1], "localhost:8080", r.addr))
	for _, want := range []string{`"kind":"granted"`, `"actions":[`, `"action":"pause"`, `"action":"resume"`} {
		require.Contains(t, output, want)
	}
	require.NotContains(t, output, `"title"`)
}
