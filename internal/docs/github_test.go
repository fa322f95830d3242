package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// githubFile reads a file of .github strictly: a key twice, or one that the type does not know, is an error.
func githubFile(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".github", name))
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalWithOptions(text, into, yaml.Strict()), name)
}

type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Concurrency map[string]any
	Jobs        map[string]struct {
		RunsOn    string `yaml:"runs-on"`
		Minutes   int    `yaml:"timeout-minutes"`
		Container struct{ Image, Options string }
		Steps     []struct {
			Uses, Run string
			With, Env map[string]any
		}
	}
}

// GitHub runs the commands that CONTRIBUTING.md and docs/upgrading.md name, with the Go of go.mod, and may do
// no more than these need.
func TestGitHubRunsTheCommandsOfThePages(t *testing.T) {
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	goes := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@v\d`)
	for name, want := range map[string]struct{ command, contents string }{
		"ci.yaml":      {".ci/run", "read"},
		"release.yaml": {"make release", "write"},
	} {
		var w workflow
		githubFile(t, "workflows/"+name, &w)
		require.Equal(t, map[string]string{"contents": want.contents}, w.Permissions, name)
		require.Len(t, w.Jobs, 1)
		for _, job := range w.Jobs {
			require.NotEmpty(t, job.RunsOn)
			require.NotZero(t, job.Minutes)
			var runs []string
			for _, step := range job.Steps {
				require.True(t, (step.Uses == "") != (step.Run == ""), "%s: a step either uses or runs", name)
				require.True(t, step.Uses == "" || pinned.MatchString(step.Uses), step.Uses)
				runs = append(runs, step.Run)
				if version, given := step.With["go-version"]; given {
					require.Equal(t, string(goes[1]), version, "the Go of go.mod")
				}
			}
			require.Contains(t, runs, want.command)
			if image := job.Container.Image; image != "" {
				require.Contains(t, image, "golang:"+string(goes[1])+"-", "the Go of go.mod")
			}
		}
	}
	files, err := os.ReadDir(filepath.Join(root, ".github", "workflows"))
	require.NoError(t, err)
	require.Len(t, files, 2)
}

type issueForm struct {
	Name, Description, Title string
	Labels                   []string
	Body                     []struct {
		Type, ID   string
		Attributes struct {
			Label, Description, Placeholder, Value string
			Options                                []string
		}
		Validations struct{ Required bool }
	}
}

// GitHub drops a form that it cannot read without a word.
func TestEachIssueFormHasWhatGitHubNeeds(t *testing.T) {
	var chooser struct {
		Blank bool `yaml:"blank_issues_enabled"`
	}
	githubFile(t, "ISSUE_TEMPLATE/config.yml", &chooser)
	names, err := filepath.Glob(filepath.Join(root, ".github", "ISSUE_TEMPLATE", "*.yml"))
	require.NoError(t, err)
	require.Len(t, names, 3)
	for _, name := range names {
		if filepath.Base(name) == "config.yml" {
			continue
		}
		var f issueForm
		githubFile(t, "ISSUE_TEMPLATE/"+filepath.Base(name), &f)
		require.Greater(t, len(f.Name), 3, name)
		require.NotEmpty(t, f.Description, name)
		var ids []string
		for _, field := range f.Body {
			require.Contains(t, []string{"markdown", "textarea", "input", "dropdown"}, field.Type, name)
			if field.Type == "markdown" {
				require.NotEmpty(t, field.Attributes.Value, name)
				require.Empty(t, field.ID, name)
				continue
			}
			require.NotEmpty(t, field.Attributes.Label, name)
			require.Regexp(t, `^[a-z-]+$`, field.ID, name)
			require.Equal(t, field.Type == "dropdown", len(field.Attributes.Options) > 0, field.ID)
			ids = append(ids, field.ID)
		}
		require.NotEmpty(t, ids, "a form asks at least one thing")
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), len(ids), name)
	}
}
