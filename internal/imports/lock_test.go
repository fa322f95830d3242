package imports

import (
	"slices"
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

// thin are the modules of other authors that a program compiles for the lock on Redis.
var thin = []string{"github.com/redis/go-redis/v9", "go.uber.org/atomic", "golang.org/x/sys", "github.com/google/uuid",
	"github.com/cespare/xxhash/v2", "golang.org/x/sync", "golang.org/x/text"}

// Metrics and traces are packages of their own, so a program that wants neither compiles neither.
func TestTheLocksAdapterBringsTheRedisClientAlone(t *testing.T) {
	for _, path := range closure(t, []string{module + "/lock/lockredis"}) {
		ofThin := slices.ContainsFunc(thin, func(m string) bool { return strings.HasPrefix(path, m) })
		require.True(t, ofThin || strings.HasPrefix(path, module+"/"), "lockredis needs %s", path)
	}
	for pkg, library := range map[string]string{"lockprom": "github.com/prometheus/client_golang/prometheus",
		"lockotel": "go.opentelemetry.io/otel/trace"} {
		require.Contains(t, closure(t, []string{module + "/lock/" + pkg}), library)
	}
}
