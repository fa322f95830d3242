//go:build long

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBillOfMaterialsListsExactlyTheProgramsModules(t *testing.T) {
	built := filepath.Join(t.TempDir(), "waitroom")
	output, err := exec.Command("go", "build", "-o", built, ".").CombinedOutput()
	require.NoError(t, err, string(output))
	bill := exec.Command("go", "run", "../../internal/sbom", built, "v1.2.3")
	out, err := bill.Output()
	require.NoError(t, err)
	var b struct {
		BOMFormat string `json:"bomFormat"`
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct {
			Name, Version, PURL string
			Properties          []struct{ Value string }
		}
	}
	require.NoError(t, json.Unmarshal(out, &b))
	require.Equal(t, "CycloneDX", b.BOMFormat)
	require.Equal(t, "github.com/waitroom/waitroom", b.Metadata.Component.Name)
	require.Equal(t, "v1.2.3", b.Metadata.Component.Version)
	named := map[string]bool{}
	for i, c := range b.Components {
		named[c.Name] = true
		require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.PURL)
		if i > 0 { // the standard library has no sum
			require.True(t, strings.HasPrefix(c.Properties[0].Value, "h1:"), c.Name)
		}
	}
	for _, needed := range []string{"std", "github.com/gin-gonic/gin", "github.com/redis/go-redis/v9",
		"modernc.org/sqlite"} {
		require.True(t, named[needed], needed)
	}
	require.False(t, named["github.com/stretchr/testify"], "tests ship")
}
