package imports

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is a package in the go command's view.
type listed struct {
	standard bool // of Go's own library
	imports  []string
	tests    []string // imports of its tests, also of the long suite
}

// list asks the go command once, for all tests: it takes longer than all of them.
var list = sync.OnceValues(func() (map[string]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-tags", "long", "-f",
		`{{.ImportPath}}|{{.Standard}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`,
		"./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	all := make(map[string]listed)
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "|"); len(f) == 4 {
			all[f[0]] = listed{f[1] == "true", strings.Fields(f[2]), strings.Fields(f[3])}
		}
	}
	return all, err
})

func packages(t *testing.T) map[string]listed {
	t.Helper()
	all, err := list()
	require.NoError(t, err)
	return all
}

// ourPackages returns those of this module in a directory and under it.
func ourPackages(t *testing.T, dir string) map[string]listed {
	t.Helper()
	ours := maps.Clone(packages(t))
	maps.DeleteFunc(ours, func(path string, _ listed) bool {
		return path != module && !strings.HasPrefix(path, module+"/") ||
			dir != "" && path != module+"/"+dir && !strings.HasPrefix(path, module+"/"+dir+"/")
	})
	require.NotEmpty(t, ours, dir)
	return ours
}

// needs returns all packages that are built into the directories' packages, but for Go's own library.
func needs(t *testing.T, dirs ...string) []string {
	t.Helper()
	var roots []string
	for _, dir := range dirs {
		roots = slices.AppendSeq(roots, maps.Keys(ourPackages(t, dir)))
	}
	return closure(t, roots)
}

func closure(t *testing.T, queue []string) []string {
	t.Helper()
	all, seen := packages(t), make(map[string]bool)
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if p := all[path]; !seen[path] && !p.standard {
			seen[path] = true
			queue = append(queue, p.imports...)
		}
	}
	return slices.Collect(maps.Keys(seen))
}
