package imports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package that only names a lock.Key compiles no driver, no metrics and no engine, and neither do its tests
// with the fake.
func TestTheLocksPortNeedsTheStandardLibraryAlone(t *testing.T) {
	ours := map[string][]string{
		module + "/lock":          {module + "/lock"},
		module + "/lock/locktest": {module + "/lock", module + "/lock/locktest"},
	}
	for pkg, allowed := range ours {
		needed := closure(t, []string{pkg})
		require.Contains(t, needed, pkg)
		for _, path := range needed {
			require.Contains(t, allowed, path, "%s needs %s", pkg, path)
		}
	}
}

func TestTheLocksAdapterStandsOnPortAndEngine(t *testing.T) {
	adapter := packages(t)[module+"/lock/lockredis"]
	require.NotEmpty(t, adapter.imports)
	for _, imported := range adapter.imports {
		if strings.HasPrefix(imported, module+"/") {
			require.Contains(t, []string{module + "/lock", module + "/room"}, imported)
		}
	}
}
