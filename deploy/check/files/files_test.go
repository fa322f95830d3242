// Package files reads the Dockerfile and compose.yaml by the libraries of the programs that will read them.
package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

const root = "../../.."

// Compose's own library refuses a file that breaks the schema, depends on itself, or names a missing service,
// network, volume or secret.
func TestComposeReadsItsFile(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "deploy", "compose.yaml")},
		cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Services) < 5 {
		t.Fatalf("services: %v", project.ServiceNames())
	}
	for _, service := range project.Services {
		for _, v := range service.Volumes {
			if v.Type != "bind" {
				continue
			}
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s: %v", service.Name, err)
			}
		}
		if name := service.Image; name == "" || strings.HasSuffix(name, ":latest") || !strings.Contains(name, ":") {
			t.Errorf("%s: image %q has no version", service.Name, name)
		}
		if strings.HasPrefix(service.Name, "waitroom-") {
			if !service.ReadOnly || len(service.CapDrop) == 0 {
				t.Errorf("%s may write or has capabilities", service.Name)
			}
			if service.StopGracePeriod == nil || time.Duration(*service.StopGracePeriod) < 25*time.Second {
				t.Errorf("%s has no time to drain", service.Name)
			}
		}
	}
}

func TestDockerfileHasNothingThatItsLinterWarnsOf(t *testing.T) {
	file, err := os.Open(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range parsed.Warnings {
		t.Error(w.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, description, url, format string,
		location []parser.Range) {
		t.Error(rule, format, location)
	}})
	stages, _, err := instructions.Parse(parsed.AST, lint)
	if err != nil {
		t.Fatal(err)
	}
	last := stages[len(stages)-1]
	if last.BaseName != "scratch" {
		t.Errorf("the image is made from %s", last.BaseName)
	}
	found := map[string]string{}
	for _, c := range last.Commands {
		found[strings.ToLower(c.Name())] += strings.TrimSpace(strings.Join(strings.Fields(stringOf(c)), " "))
	}
	if user := found["user"]; user == "" || strings.Contains(user, "root") || strings.HasSuffix(user, " 0") {
		t.Errorf("it runs as %q", user)
	}
	if !strings.Contains(found["healthcheck"], "healthcheck") {
		t.Errorf("health is asked by %q", found["healthcheck"])
	}
}

func stringOf(c instructions.Command) string {
	if s, ok := c.(interface{ String() string }); ok {
		return s.String()
	}
	return c.Name()
}
