package rules_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/sms/rules"
)

var update = flag.Bool("update", false, "write the list into docs/matching.md")

const (
	page     = "../../docs/matching.md"
	listFrom = "<!-- made by `go test ./sms/rules -run Docs -update` -->\n"
	listTo   = "<!-- end of the list -->\n"
)

// The list of what can still go wrong is the list of assumptions, each with the world that the exploration
// finds without it.
func TestDocsListWhatTheExplorationFinds(t *testing.T) {
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), listFrom)
	require.True(t, ok)
	list, after, ok := strings.Cut(rest, listTo)
	require.True(t, ok)
	var want strings.Builder
	for _, a := range rules.List {
		story := rules.Story(&rules.Page, rules.Counterexample(rules.Page, a.Is))
		want.WriteString(wrapped("- **" + a.Holds + ".** " + a.Price))
		want.WriteString(wrapped("  *Without it:* " + story))
	}
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+listFrom+want.String()+listTo+after), 0o600))
		return
	}
	require.Equal(t, want.String(), list)
}

// wrapped returns an item of a list in lines of at most 110 characters.
func wrapped(text string) string {
	var lines strings.Builder
	line := text[:2] // the mark of the item, or its indent
	for i, word := range strings.Fields(strings.TrimPrefix(text[2:], "- ")) {
		switch {
		case i > 0 && len([]rune(line))+1+len([]rune(word)) > 110:
			lines.WriteString(line + "\n")
			line = "  " + word
		case i > 0:
			line += " " + word
		default:
			line += word
		}
	}
	return lines.String() + line + "\n"
}
