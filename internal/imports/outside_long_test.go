//go:build long

package imports

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const release = "v0.0.1"

// outsideProgram uses each library that waitroom's documents offer.
const outsideProgram = `package main

import (
	"context"

	"github.com/waitroom/waitroom/client"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
	"github.com/waitroom/waitroom/outbox"
)

var _ lock.Locker = (*lockredis.Locker)(nil)

func main() {
	key, _ := lock.NewKey("order", "1")
	_ = client.Code{}
	_, _ = outbox.NewWorker(outbox.Config{})
	_ = context.WithValue(context.Background(), key, nil)
}
`

// A program of another module gets the libraries as on the day of a release's tag: from a proxy that has the
// release's files, or by a replace from a clone.
func TestLibrariesBuildInAModuleOfTheirUsers(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	proxy := t.TempDir()
	publish(t, root, proxy)
	for how, edit := range map[string][]string{
		"from a proxy": {"-require=" + module + "@" + release},
		"by a replace": {"-require=" + module + "@" + release, "-replace=" + module + "=" + root},
	} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(outsideProgram), 0o600))
			run := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GONOSUMDB="+module,
					"GOPROXY=file://"+proxy+",file://"+goEnv(t, "GOMODCACHE")+"/cache/download,"+goEnv(t, "GOPROXY"),
					"GOMODCACHE="+filepath.Join(proxy, "cache"))
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
				return string(out)
			}
			run("mod", "init", "example.com/user")
			run(append([]string{"mod", "edit"}, edit...)...)
			run("build", "-o", os.DevNull, ".")
			run("vet", ".")
			require.Contains(t, run("list", "-m", "all"), module+" "+release)
		})
	}
}

// publish writes the tree into the folder of a proxy, as one release without the modules within it.
func publish(t *testing.T, root, proxy string) {
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	files, err := list.Output()
	require.NoError(t, err)
	at := filepath.Join(proxy, module, "@v")
	require.NoError(t, os.MkdirAll(at, 0o700))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(at, release+".mod"), mod, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(at, release+".info"),
		fmt.Appendf(nil, `{"Version":%q}`, release), 0o600))
	archive, err := os.Create(filepath.Join(at, release+".zip"))
	require.NoError(t, err)
	w := zip.NewWriter(archive)
	for name := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		if from, err := os.Open(filepath.Join(root, name)); err == nil && !within(root, name) {
			to, err := w.Create(module + "@" + release + "/" + name)
			require.NoError(t, err)
			_, err = io.Copy(to, from)
			require.NoError(t, err)
			require.NoError(t, from.Close())
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, archive.Close())
}

// within reports whether a file belongs to a module within the root's folder, or is no file of a release.
func within(root, name string) bool {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil {
			return true
		}
	}
	info, err := os.Lstat(filepath.Join(root, name))
	return err != nil || !info.Mode().IsRegular()
}

func goEnv(t *testing.T, name string) string {
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
