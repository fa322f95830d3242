// Package docs tests the documentation against the code.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// quotedTest matches the name of a test in a page.
var quotedTest = regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z0-9_][A-Za-z0-9_]+)`")

// A rule whose test was renamed or deleted would have no proof.
func TestEveryTestThatAPageNamesExists(t *testing.T) {
	tests, named := testsOf(t), 0
	for _, page := range pages(t) {
		if page == "CHANGELOG.md" {
			continue
		}
		for _, name := range quotedTest.FindAllStringSubmatch(read(t, page), -1) {
			require.True(t, tests[name[1]], "%s names %s", page, name[1])
			named++
		}
	}
	require.Greater(t, named, 100)
}

// filesNamedBy has each page that names files, with the directories that its names are relative to.
var filesNamedBy = map[string][]string{
	"docs/architecture.md": {".", "room/lua", "room/lua/verb"},
	"docs/database.md":     {"."},
	"docs/presence.md":     {".", "room/lua", "room/lua/verb"},
	"CONTRIBUTING.md":      {"."},
}

// A page leads a reader to files; one that was renamed leads nowhere. A bare name is a file of one of the
// page's directories.
func TestEveryFileThatAPageNamesExists(t *testing.T) {
	named := regexp.MustCompile("`([A-Za-z0-9_./-]+\\.(?:go|lua|js|templ|yaml|json|css|md))`")
	for page, dirs := range filesNamedBy {
		names := named.FindAllStringSubmatch(read(t, page), -1)
		require.NotEmpty(t, names, page)
		for _, name := range names {
			there := slices.ContainsFunc(dirs, func(dir string) bool {
				_, err := os.Stat(filepath.Join(root, dir, name[1]))
				return err == nil
			})
			require.True(t, there, "%s names %s", page, name[1])
		}
	}
}

// Each requirement is a row; its last cell has the names of its tests and nothing else.
func TestEveryRequirementOfASourceDocumentIsShownByATest(t *testing.T) {
	tests, rows := testsOf(t), map[string]int{}
	var document string
	for line := range strings.Lines(read(t, "docs/seeds.md")) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			document, _, _ = strings.Cut(heading, " ")
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| asked ") || strings.HasPrefix(line, "| --- ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		require.Len(t, cells, 3, line)
		for shown := range strings.SplitSeq(cells[2], ", ") {
			name := quotedTest.FindStringSubmatch(shown)
			require.True(t, name != nil && name[0] == shown && tests[name[1]], "%s: %s is no test", cells[0], shown)
		}
		rows[document]++
	}
	for _, document := range []string{"000", "001", "002", "003", "004"} {
		require.NotZero(t, rows[document], document)
	}
}

// testsOf returns the names of all functions that go test runs.
func testsOf(t *testing.T) map[string]bool {
	tests := map[string]bool{}
	declared := regexp.MustCompile(
		`(?m)^func (Test\w+\(\w+ \*testing\.T|Fuzz\w+\(\w+ \*testing\.F|Example\w*\()\) \{`)
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(source), -1) {
			name, _, _ := strings.Cut(m[1], "(")
			tests[name] = true
		}
		return err
	}))
	return tests
}

// A rule without a row would be held by no test that a reader can find.
func TestEveryRuleOfTheContractHasItsTests(t *testing.T) {
	_, list, _ := strings.Cut(read(t, "docs/contract.md"), "\n## Rules\n")
	rules := regexp.MustCompile(`(?m)^(\d+)\. \*\*`).FindAllStringSubmatch(list, -1)
	require.Len(t, rules, 12)
	page := read(t, "docs/rules-and-tests.md")
	for _, rule := range rules {
		row := regexp.MustCompile("(?m)^\\| " + rule[1] + "\\. .*$").FindString(page)
		require.Regexp(t, quotedTest, row, "docs/rules-and-tests.md has no tests for rule %s", rule[1])
	}
}
