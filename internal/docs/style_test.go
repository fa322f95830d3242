package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A page that is too long is not read to its end.
func TestPagesForAFirstReadingAreShort(t *testing.T) {
	for page, most := range map[string]int{"README.md": 900, "docs/architecture.md": 2500} {
		require.LessOrEqual(t, len(strings.Fields(read(t, page))), most, page)
	}
}

// wide matches lines that cannot be broken: table rows, headings, pictures and HTML.
var wide = regexp.MustCompile(`^\s*(\||#|!\[|<)`)

// fenced matches blocks of code, those of a list too.
var fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")

// long are generated pages, and records of the past.
var long = []string{"CHANGELOG.md", "lab/benchmarks.md", "lab/estimates.md", "lab/growth.md"}

func TestLinesOfProseHaveAtMost110Characters(t *testing.T) {
	for _, page := range pages(t) {
		if slices.Contains(long, filepath.ToSlash(page)) {
			continue
		}
		for line := range strings.Lines(fenced.ReplaceAllString(read(t, page), "")) {
			line = strings.TrimRight(line, "\n")
			require.True(t, wide.MatchString(line) || utf8.RuneCountInString(line) <= 110, "%s: %s", page, line)
		}
	}
}
