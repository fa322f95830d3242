//go:build long

package examples

import (
	"context"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var commands = regexp.MustCompile("(?s)```sh\n(.*?)```")

// shell are the commands of a page's blocks, in their order.
func shell(t *testing.T, page string) []string {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var blocks []string
	for _, block := range commands.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// The commands are for a fresh clone and one terminal: those of docs/first-steps.md, then those of the README
// against the same server. The README's first block, make run and make test, is for two terminals:
// first-steps.md starts the server in the background. Only the port differs, since the machine may use it.
func TestCommandsOfTheREADMEAndOfFirstStepsWorkFromTopToBottomInAFreshClone(t *testing.T) {
	clone := t.TempDir()
	out, err := exec.Command("bash", "-c", `cd ../.. && git ls-files -z | xargs -0 cp --parents -t "$0"`,
		clone).CombinedOutput()
	require.NoError(t, err, string(out))
	readme := shell(t, "../../README.md")
	require.Greater(t, len(readme), 1)
	require.Regexp(t, `^make run .*\nmake test .*\n$`, readme[0])
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.Addr().String()
	require.NoError(t, free.Close())
	script := "set -euo pipefail\n"
	for _, block := range append(shell(t, "../first-steps.md"), readme[1:]...) {
		script += strings.ReplaceAll(block, "localhost:8080", addr) + "echo\n"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute) // it builds
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = clone, append(os.Environ(), "WAITROOM_ADDR="+addr)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the server that it leaves running is in it
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	said, err := os.CreateTemp(t.TempDir(), "said")
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = said, said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = kill() })
	err = cmd.Wait()
	got, _ := os.ReadFile(said.Name())
	require.NoError(t, err, string(got))
	for _, want := range []string{`"status":"locked"`, `"status":"expecting"`, `"result":"matched"`,
		`"code":"482913"`, `"already":true`,
		"/rooms/integration?token=ey", "$2a$"} {
		require.Contains(t, string(got), want)
	}
	require.NotContains(t, string(got), `"code":"invalid`)
}
