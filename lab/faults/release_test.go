package faults

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout is a repository with a program that prints its version.
type checkout struct {
	t   *testing.T
	dir string
}

func newCheckout(t *testing.T) checkout {
	c := checkout{t, t.TempDir()}
	script, err := os.ReadFile("../../scripts/version.sh")
	require.NoError(t, err)
	c.write("scripts/version.sh", string(script))
	c.write("go.mod", "module example.org/waitroom\n\ngo 1.21\n")
	c.write(".gitignore", "/bin/\n")
	c.git("init", "-q")
	c.commit("first")
	return c
}

func (c checkout) write(name, text string) {
	path := filepath.Join(c.dir, name)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o755))
}

func (c checkout) git(args ...string) {
	args = append([]string{"-C", c.dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c",
		"commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)
	out, err := exec.Command("git", args...).CombinedOutput()
	require.NoError(c.t, err, "%s", out)
}

func (c checkout) commit(version string) {
	c.write("cmd/waitroom/main.go", "package main\n\nfunc main() { print(\""+version+"\") }\n")
	c.git("add", "-A")
	c.git("commit", "-q", "-m", version)
}

// version runs the script, and returns its output and its error output.
func (c checkout) version(args ...string) (printed, said string, err error) {
	var out, problems bytes.Buffer
	cmd := exec.Command("bash", append([]string{filepath.Join(c.dir, "scripts/version.sh")}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	return strings.TrimSpace(out.String()), problems.String(), err
}

func TestWithoutAReleaseItIsSaidInOneLineWhatToDo(t *testing.T) {
	c := newCheckout(t)
	c.commit("second")
	c.git("tag", "vendored", "HEAD^") // is no release
	refused := func(c checkout, says string, args ...string) {
		t.Helper()
		printed, said, err := c.version(args...)
		require.Error(t, err)
		require.Empty(t, printed)
		require.Contains(t, said, says)
		require.Equal(t, 1, strings.Count(said, "\n"), said)
	}
	refused(c, "FROM=")
	refused(c, "v9.9.9", "v9.9.9")
	_, said, err := c.version("--any")
	require.Error(t, err)
	require.Empty(t, said, "the caller says so")

	c.git("tag", "v1.0.0", "HEAD^")
	shallow := checkout{t, filepath.Join(t.TempDir(), "clone")}
	c.git("clone", "-q", "--depth", "1", "--no-tags", "file://"+c.dir, shallow.dir)
	refused(shallow, "FROM=")
}

func TestTheOlderVersionIsTheLastReleaseBeforeThisCommitBuiltBesideTheCheckout(t *testing.T) {
	c := newCheckout(t)
	c.git("tag", "v1.0.0")
	c.commit("second")
	c.git("tag", "v1.1.0") // what is being released is compared with the one before
	c.write("cmd/waitroom/main.go", "not even Go")
	for want, args := range map[string][]string{"first": nil, "second": {"v1.1.0"}} {
		_, _, err := c.version("--any")
		require.NoError(t, err)
		program, said, err := c.version(args...)
		require.NoError(t, err, said)
		out, err := exec.Command(program).CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, want, string(out))
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "cmd/waitroom/main.go"))
	require.NoError(t, err)
	require.Equal(t, "not even Go", string(text), "the checkout stays as it is")
}
