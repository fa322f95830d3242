package docs

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	comment  = regexp.MustCompile(`^\s*(?://|--|\*|/\*\*) `)
	headless = regexp.MustCompile(`^\s*(?://|--|\*|/\*\*) (?:Who|Whoever|Nobody|Somebody|What|Those|That which) `)
	// private matches words that this code used for its own ideas and that no reader outside the team knows.
	private = regexp.MustCompile(`\b(?:grumble|overtell|turnstile|relink|toldPlace|noBlank|newTold)\b`)
	// vague matches words that hide who acts or what is sent to whom. In quotes they are names in Redis.
	vague  = regexp.MustCompile(`(?i)\b(?:told|untold|whoever|nobody|laid)\b`)
	quoted = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|'[^']*'")
)

// A comment's first sentence is about a component or a person: a reader need not guess who "who" is.
func TestCommentsHaveASubject(t *testing.T) {
	for path, text := range sources(t) {
		before := ""
		for line := range strings.Lines(text) {
			if headless.MatchString(line) && !comment.MatchString(before) {
				require.Fail(t, "a comment without a subject", "%s: %s", path, strings.TrimSpace(line))
			}
			if _, text, ok := strings.Cut(line, "// "); ok && filepath.Ext(path) == ".go" || comment.MatchString(line) {
				require.NotRegexp(t, vague, quoted.ReplaceAllString(cmp.Or(text, line), ""), path)
			}
			before = line
		}
		require.NotRegexp(t, private, text, path)
	}
}

// named matches words of the wire in a description: those in backquotes, and lists of values.
var named = regexp.MustCompile("`[^`]*`|\\[[^]]*\\]")

// Programmers and operators read these, and few of them know the code.
func TestDescriptionsAlertsAndCommandsArePlain(t *testing.T) {
	for _, pattern := range []string{"Makefile", "docs/haproxy.cfg", "web/describe/*.yaml", "deploy/*/*",
		"deploy/helm/waitroom/*.yaml", "outbox/schema/*"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotRegexp(t, vague, named.ReplaceAllString(string(text), ""), path)
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
		if err != nil || generated || name == "comments_test.go" ||
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
