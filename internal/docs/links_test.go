package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// pages returns all documents of the repository, by their path from its root.
func pages(t *testing.T) []string {
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "deploy/*.md", "deploy/*/*.md",
		"lab/*.md", "lab/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			page, err := filepath.Rel(root, path)
			require.NoError(t, err)
			found = append(found, page)
		}
	}
	require.Contains(t, found, "README.md")
	return found
}

func read(t *testing.T, page string) string {
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	return string(text)
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	block   = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchors returns the fragments of a page's headings as Markdown viewers make them: lower
// case, words joined by hyphens.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, line := range heading.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(line[1]))
		found[anchor] = true
	}
	return found
}

func TestEveryLinkOfAPageLeadsSomewhere(t *testing.T) {
	followed := 0
	for _, page := range pages(t) {
		for _, target := range link.FindAllStringSubmatch(block.ReplaceAllString(read(t, page), ""), -1) {
			path, fragment, _ := strings.Cut(target[1], "#")
			if strings.Contains(path, ":") || strings.HasPrefix(path, "/") {
				continue // another site's, or a path of the running server
			}
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			_, err := os.Stat(filepath.Join(root, to))
			require.NoError(t, err, "%s links to %s", page, target[1])
			followed++
			if fragment != "" && strings.HasSuffix(to, ".md") {
				require.True(t, anchors(read(t, to))[fragment], "%s links to %s: there is no such heading", page,
					target[1])
			}
		}
	}
	require.NotZero(t, followed)
}

// madeByHand are paths that pages name and a checkout does not have: the page's reader creates them.
var madeByHand = []string{"deploy/secrets", "lab/k6/NAME.js"}

// A path that begins with a directory of the repository is one that a reader will look for.
func TestEveryPathThatADocumentOrACommentNamesExists(t *testing.T) {
	named := regexp.MustCompile(
		"(?:^|[\\s(`\"])((?:cmd|deploy|docs|hub|internal|lab|ledger|lock|outbox|room|scripts|server|sms|static|templates|web)/[A-Za-z0-9_./-]*[A-Za-z0-9_])")
	var missing []string
	looked := 0
	check := func(where, text string) {
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			path := strings.TrimSuffix(match[1], ".")
			if slices.ContainsFunc(madeByHand, func(made string) bool { return strings.HasPrefix(path, made) }) {
				continue
			}
			looked++
			if !exists(path) {
				missing = append(missing, where+" names "+path)
			}
		}
	}
	for _, page := range pages(t) {
		if page != "CHANGELOG.md" { // a record of the past
			check(page, read(t, page))
		}
	}
	for path, comments := range comments(t) {
		check(path, comments)
	}
	require.Empty(t, missing)
	require.NotZero(t, looked)
}

// exists reports whether a checkout has a file or directory. The end of the name may be missing, as in
// docs/decisions/0011.
func exists(path string) bool {
	found, err := filepath.Glob(filepath.Join(root, path) + "*")
	return err == nil && len(found) > 0
}

// comments returns the comments of each Go, Lua and JavaScript file that is written by hand.
func comments(t *testing.T) map[string]string {
	comment := regexp.MustCompile(`(?m)^\s*(?://|--|\*)(.*)$`)
	found := map[string]string{}
	walk(t, func(path string, text []byte) {
		if !slices.Contains([]string{".go", ".lua", ".js"}, filepath.Ext(path)) ||
			strings.HasSuffix(path, "_gen.go") || strings.Contains(path, "/bundle/") {
			return
		}
		var lines strings.Builder
		for _, line := range comment.FindAllSubmatch(text, -1) {
			lines.Write(line[1])
			lines.WriteByte('\n')
		}
		found[path] = lines.String()
	})
	return found
}

func walk(t *testing.T, visit func(path string, text []byte)) {
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() {
			if name == ".git" || name == "node_modules" || name == "bin" || name == "results" {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(path, text)
		}
		return err
	}))
}

func TestEveryMakeTargetThatAPageNamesExists(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[match[1]] = true
	}
	named := 0
	for _, page := range pages(t) {
		if page == "CHANGELOG.md" {
			continue
		}
		for _, match := range regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z-]*)").FindAllStringSubmatch(read(t,
			page), -1) {
			require.True(t, targets[match[1]], "%s names make %s", page, match[1])
			named++
		}
	}
	require.NotZero(t, named)
}
