//go:build long

package imports

import (
	"archive/zip"
	"encoding/json"
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
const outsideProgram = `package user

import (
	"context"

	"github.com/waitroom/waitroom/client"
	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/lockredis"
	"github.com/waitroom/waitroom/outbox"
)

var _ lock.Locker = (*lockredis.Locker)(nil)

func use() {
	key, _ := lock.NewKey("order", "1")
	_ = client.Code{}
	_, _ = outbox.NewWorker(outbox.Config{})
	_ = context.WithValue(context.Background(), key, nil)
}
`

// A program of another module gets the libraries as on the day of a release's tag: from the archive that a
// proxy has, or by a replace from a clone. Both compile with the modules that this machine has already.
func TestLibrariesBuildInAModuleOfTheirUsers(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	proxy := t.TempDir()
	publish(t, root, proxy)
	ours := "file://" + proxy + ",file://" + goEnv(t, "GOMODCACHE") + "/cache/download," + goEnv(t, "GOPROXY")
	user := newUser(t, root)
	archive := append(user.env, "GOPROXY="+ours, "GOMODCACHE="+filepath.Join(proxy, "cache"))
	user.run(nil, "mod", "edit", "-require="+module+"@"+release)
	require.Contains(t, user.run(archive, "list", "-m", "all"), module+" "+release)
	var got struct{ Dir string }
	require.NoError(t, json.Unmarshal([]byte(user.run(archive, "mod", "download", "-json", module)), &got))

	for how, at := range map[string]string{"from an archive": got.Dir, "from a clone": root} {
		t.Run(how, func(t *testing.T) {
			user := newUser(t, root)
			user.run(nil, "mod", "edit", "-require="+module+"@"+release, "-replace="+module+"="+at)
			user.run(nil, "build", ".")
			user.run(nil, "vet", ".")
			require.Contains(t, user.run(nil, "list", "-m", "all"), module+" "+release)
		})
	}
}

// user is a module of a user's.
type user struct {
	t   *testing.T
	dir string
	env []string
}

// newUser makes a module with the program. It has our go.sum, so that no command asks for what is in there.
func newUser(t *testing.T, root string) *user {
	u := &user{t, t.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GONOSUMDB="+module)}
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "main.go"), []byte(outsideProgram), 0o600))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "go.sum"), sums, 0o600))
	u.run(nil, "mod", "init", "example.com/user")
	return u
}

func (u *user) run(env []string, args ...string) string {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), "go", args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	if env != nil {
		cmd.Env = env
	}
	out, err := cmd.CombinedOutput()
	require.NoError(u.t, err, "go %s\n%s", strings.Join(args, " "), out)
	return string(out)
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
