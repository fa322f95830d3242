package imports

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notDrawn are the directories outside the product.
var notDrawn = []string{"docs", "internal"}

func TestDrawingIsTheTableOfImports(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n## The packages\n")
	drawing, _, found := strings.Cut(section, "\n```\n")
	require.True(t, found, "docs/architecture.md has no drawing of the packages")

	called := map[string]string{}
	for _, node := range regexp.MustCompile(`(?m)^  (\w+)\["([^"]+)"\]$`).FindAllStringSubmatch(drawing, -1) {
		called[node[1]] = node[2]
	}
	name := func(node string) string {
		if long, ok := called[node]; ok {
			return long
		}
		return node
	}
	drawn := map[string][]string{}
	for _, arrows := range regexp.MustCompile(`(?m)^  (\w+) --> (.+)$`).FindAllStringSubmatch(drawing, -1) {
		for node := range strings.SplitSeq(arrows[2], " & ") {
			drawn[name(arrows[1])] = append(drawn[name(arrows[1])], name(node))
		}
	}
	want := maps.Clone(mayImport)
	for _, one := range notDrawn {
		delete(want, one)
	}
	for importer, imported := range want {
		require.ElementsMatch(t, imported, drawn[importer], "docs/architecture.md draws otherwise what %s may "+
			"import", importer)
		delete(drawn, importer)
	}
	require.Empty(t, drawn, "docs/architecture.md draws what is in no table")
}
