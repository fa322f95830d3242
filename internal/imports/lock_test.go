package imports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A domain that names a lock.Key compiles no driver, no metrics and no engine; its tests neither, with the fake.
func TestTheLocksPortNeedsTheStandardLibraryAlone(t *testing.T) {
	ours := map[string][]string{
		"./lock":          {module + "/lock"},
		"./lock/locktest": {module + "/lock", module + "/lock/locktest"},
	}
	for pkg, allowed := range ours {
		for _, line := range goList(t, "-deps", "-f", `{{.ImportPath}} {{.Standard}}`, pkg) {
			if line[1] == "true" {
				continue
			}
			require.Contains(t, allowed, line[0], "%s needs %s", pkg, line[0])
		}
	}
}

func TestTheLocksAdapterStandsOnPortAndEngine(t *testing.T) {
	for _, imported := range goList(t, "-f", `{{join .Imports "\n"}}`, "./lock/lockredis") {
		if strings.HasPrefix(imported[0], module+"/") {
			require.Contains(t, []string{module + "/lock", module + "/room"}, imported[0])
		}
	}
}
