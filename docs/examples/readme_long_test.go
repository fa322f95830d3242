//go:build long

package examples

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var commands = regexp.MustCompile("(?s)```sh\n(.*?)```")

// shell returns the commands in a page's code blocks, in their order.
func shell(t *testing.T, page string) []string {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var blocks []string
	for _, block := range commands.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// All pages use one clone; the first of them builds the program.
func TestCommandsOfPagesWorkFromTopToBottomInAFreshClone(t *testing.T) {
	clone := t.TempDir()
	out, err := exec.Command("bash", "-c", `cd ../.. && git ls-files -z | xargs -0 cp --parents -t "$0"`,
		clone).CombinedOutput()
	require.NoError(t, err, string(out))
	t.Run("first-steps.md and README.md", func(t *testing.T) { firstStepsAndREADME(t, clone) })
	t.Run("guide-robot.md", func(t *testing.T) { robotsGuide(t, clone) })
	t.Run("guide-portal.md", func(t *testing.T) { portalsGuide(t, clone) })
}

// The commands are for a fresh clone and one terminal: those of docs/first-steps.md, then those of the README
// against the same server. The README's first block, make run and make test, is for two terminals:
// first-steps.md starts the server in the background.
func firstStepsAndREADME(t *testing.T, clone string) {
	readme := shell(t, "../../README.md")
	require.Greater(t, len(readme), 1)
	require.Regexp(t, `^make run .*\nmake test .*\n$`, readme[0])
	got := runInClone(t, clone, append(shell(t, "../first-steps.md"), readme[1:]...))
	for _, want := range []string{`"status":"locked"`, `"status":"expecting"`, `"result":"matched"`,
		`"code":"482913"`, `"already":true`, "$2a$"} {
		require.Contains(t, got, want)
	}
	require.NotContains(t, got, `"code":"invalid`)
}

func robotsGuide(t *testing.T, clone string) {
	got := runInClone(t, clone, shell(t, "../guide-robot.md"))
	require.Contains(t, got, `"result":"matched"`)
	require.Contains(t, got, "the code is 482913")
}

func portalsGuide(t *testing.T, clone string) {
	got := runInClone(t, clone, shell(t, "../guide-portal.md"))
	for _, want := range []string{"303 http", `"status":"locked"`, `"status":"released"`, " lock.granted\n",
		" lock.ended\n", "http://127.0.0.1:9000/done?waitroom=ey", "\ns-1 completed\n"} {
		require.Contains(t, got, want)
	}
}

// freeAddress returns an address of this machine that no program listens on.
func freeAddress(t *testing.T) string {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = free.Close() }()
	return free.Addr().String()
}

// runInClone runs the blocks one after the other in a clone, and returns what they print. Only the ports
// differ from the page, since they may be in use here, and the database is a new one.
func runInClone(t *testing.T, clone string, blocks []string) string {
	addr, hooks := freeAddress(t), freeAddress(t)
	_, hooksPort, _ := strings.Cut(hooks, ":")
	script := "set -euo pipefail\n"
	for _, block := range blocks {
		script += strings.NewReplacer("localhost:8080", addr, "127.0.0.1:9100", hooks, "PORT=9100",
			"PORT="+hooksPort).Replace(block) + "echo\n"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute) // it builds
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = clone, append(os.Environ(), "WAITROOM_ADDR="+addr,
		"WAITROOM_DATABASE_URL=sqlite:"+filepath.Join(t.TempDir(), "waitroom.db"))
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
	return string(got)
}
