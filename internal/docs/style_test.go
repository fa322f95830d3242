package docs

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
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
	for page, most := range map[string]int{"README.md": 900, "README.ko.md": 900, "docs/architecture.md": 2500} {
		require.LessOrEqual(t, len(strings.Fields(read(t, page))), most, page)
	}
}

// wide matches lines that cannot be broken: table rows, headings, pictures and HTML.
var wide = regexp.MustCompile(`^\s*(\||#|!\[|<)`)

// fenced matches blocks of code, those of a list too.
var fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")

// long are generated pages.
var long = []string{"lab/benchmarks.md", "lab/estimates.md", "lab/growth.md"}

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

// Tests are left out: they quote messages, pages and scripts.
func TestLinesOfGoHaveAtMost110CharactersOutsideRawStrings(t *testing.T) {
	for path, text := range sources(t) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		raw := rawLines(path, text)
		for n, line := range strings.Split(text, "\n") {
			require.True(t, raw[n+1] || utf8.RuneCountInString(line) <= 110, "%s:%d: %s", path, n+1, line)
		}
	}
}

// rawLines returns the numbers of the lines that a raw string touches: its text cannot be broken.
func rawLines(path, text string) map[int]bool {
	fset, lines := token.NewFileSet(), map[int]bool{}
	file := fset.AddFile(path, -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.STRING && strings.HasPrefix(literal, "`") {
			first := file.Line(pos)
			for n := range strings.Count(literal, "\n") + 1 {
				lines[first+n] = true
			}
		}
	}
}

// sources are the files of code that are written here, by their paths.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "bundle", "thirdparty", "node_modules",
			"testdata", "results", "bin"}, name) {
			return filepath.SkipDir
		}
		generated := strings.HasSuffix(name, "_templ.go") || strings.HasSuffix(name, "_gen.go")
		if err != nil || generated ||
			!slices.Contains([]string{".go", ".js", ".lua"}, filepath.Ext(name)) {
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(found), 500)
	return found
}
