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

// A rule whose test was renamed or deleted would have no proof.
func TestEveryTestThatAPageNamesExists(t *testing.T) {
	tests := testsOf(t)
	for _, page := range pages(t) {
		named := regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z0-9][A-Za-z0-9_]+)`").FindAllStringSubmatch(read(t,
			page), -1)
		if page == "CHANGELOG.md" {
			continue
		}
		for _, name := range named {
			require.True(t, tests[name[1]], "%s names %s", page, name[1])
		}
	}
}

// filesNamedBy has each page that names files, with the directories that its names are relative to.
var filesNamedBy = map[string][]string{
	"docs/architecture.md": {".", "room/lua", "room/lua/verb"},
	"docs/database.md":     {"."},
	"docs/presence.md":     {".", "room/lua", "room/lua/verb"},
	"docs/redis-keys.md":   {".", "room/lua"},
	"docs/running.md":      {"deploy/prometheus", "deploy/grafana", "docs", "."},
	"CONTRIBUTING.md":      {"."},
}

// A page leads a reader to files; one that was renamed leads nowhere. A bare name is a file of one of the
// page's directories.
func TestEveryFileThatAPageNamesExists(t *testing.T) {
	named := regexp.MustCompile("`([A-Za-z0-9_./-]+\\.(?:go|lua|js|templ|yaml|json|css|md))`")
	for page, dirs := range filesNamedBy {
		text, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		for _, name := range named.FindAllStringSubmatch(string(text), -1) {
			there := slices.ContainsFunc(dirs, func(dir string) bool {
				_, err := os.Stat(filepath.Join(root, dir, name[1]))
				return err == nil
			})
			require.True(t, there, "%s names %s", page, name[1])
		}
	}
}

// Each requirement is a row; its last cell names its proof.
func TestEveryRequirementOfASourceDocumentIsShownByATest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "seeds.md"))
	require.NoError(t, err)
	rows := map[string]int{}
	var document string
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			document, _, _ = strings.Cut(heading, " ")
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 5 || strings.HasPrefix(line, "| asked ") || strings.HasPrefix(line, "| --- ") {
			continue
		}
		require.Regexp(t, "`(Test|Fuzz|Example)", cells[len(cells)-2], line)
		rows[document]++
	}
	for _, document := range []string{"000", "001", "002", "003", "004"} {
		require.NotZero(t, rows[document], document)
	}
}

func testsOf(t *testing.T) map[string]bool {
	tests, declared := map[string]bool{}, regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w+)\(`)
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(source), -1) {
			tests[m[1]] = true
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
		row := regexp.MustCompile("(?m)^\\| " + rule[1] + "\\. [^|]+ \\| `(Test|Fuzz)")
		require.True(t, row.MatchString(page), "docs/rules-and-tests.md has no tests for rule %s", rule[1])
	}
}
