package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	commands  = regexp.MustCompile("(?ms)^\\*\\*(\\w+)\\*\\*[^\\n]*\\n(?:[^\\n]+\\n)*\\n```sh\\n(.*?)^```")
	command   = regexp.MustCompile("`\\(?(wr|rcli|sql|dump|logs|restart|stop|start|reread|stacks|settings)[ `]")
	unitStart = regexp.MustCompile(`(?m)^ExecStart=/bin/sh -c '(.*)'$`)
	doctored  = regexp.MustCompile(`(?ms)^\(set -a; .*?waitroom doctor\)$`)
	wrote     = regexp.MustCompile(`(?ms)^wr\(\) .*?\)$`)
	composed  = regexp.MustCompile(`dc (?:exec|run) (?:-\S+ )*(\w[\w-]*)`)
	alertLink = regexp.MustCompile(
		`runbook_url: (https://github\.com/waitroom/waitroom/blob/main/)([\w./-]+)#(\w+)\n`)
)

// deployments returns the blocks of commands in the runbook, by the deployment each is for.
func deployments(t *testing.T) map[string]string {
	found := map[string]string{}
	for _, m := range commands.FindAllStringSubmatch(read(t, "docs/runbook.md"), -1) {
		found[m[1]] = m[2]
	}
	require.Len(t, found, 3)
	return found
}

// A command for one deployment alone leaves the operator of another with nothing.
func TestTheRunbooksCommandsAreThereInEachDeployment(t *testing.T) {
	defined := regexp.MustCompile(`(?m)^(\w+)\(\)`)
	names := map[string]map[string]bool{}
	for deployment, block := range deployments(t) {
		names[deployment] = map[string]bool{}
		for _, m := range defined.FindAllStringSubmatch(block, -1) {
			names[deployment][m[1]] = true
		}
	}
	_, steps, _ := strings.Cut(read(t, "docs/runbook.md"), "\n## Service\n")
	used := command.FindAllStringSubmatch(steps, -1)
	require.Greater(t, len(used), 20)
	for _, name := range append(used, []string{"", "sql"}) {
		for deployment, there := range names {
			require.True(t, there[name[1]], "%s has no %s", deployment, name[1])
		}
	}
}

// Secrets are files in every deployment, so a variable that should have one is empty in a shell.
func TestTheRunbookReadsSecretsWhereTheyAre(t *testing.T) {
	runbook := read(t, "docs/runbook.md")
	require.NotContains(t, runbook, `$WAITROOM_`)
	blocks := deployments(t)
	compose := read(t, "deploy/compose.yaml")
	for _, service := range regexp.MustCompile(`waitroom-\d`).FindAllString(blocks["compose"], -1) {
		require.Contains(t, compose, "\n  "+service+":", "compose has no service %s", service)
	}
	for _, service := range composed.FindAllStringSubmatch(blocks["compose"], -1) {
		require.Contains(t, compose, "\n  "+service[1]+":", "compose has no service %s", service[1])
	}
	for _, key := range []string{"database-url", "redis-url"} {
		require.Contains(t, blocks["Kubernetes"], key)
		require.Contains(t, read(t, "deploy/helm/waitroom/values.yaml"), "{name: waitroom, key: "+key+"}")
	}
}

// The unit, its runbook and the doctor of the installation give the program the same secrets: those that there
// are.
func TestTheSystemdUnitNeedsOnlyTheSecretsThatAreUsed(t *testing.T) {
	unit := read(t, "deploy/systemd/waitroom.service")
	require.Equal(t, 1, strings.Count(unit, "\nLoadCredential="))
	require.Contains(t, unit, "\nLoadCredential=waitroom:/etc/waitroom/secrets\n")
	start := strings.ReplaceAll(unitStart.FindStringSubmatch(unit)[1], "$$", "$")
	for name, secrets := range map[string][]string{"none": nil, "two": {"redis_url", "support_tokens"},
		"a directory": {"redis_url"}, "an editor's copy": {"redis_url"}} {
		t.Run(name, func(t *testing.T) {
			etc, copies, bin := t.TempDir(), t.TempDir(), t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(etc, "secrets"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(etc, "waitroom.env"), []byte("WAITROOM_ROOMS=a\n"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(bin, "waitroom"), []byte("#!/bin/sh\nenv\n"), 0o700))
			var here, there []string
			for _, s := range secrets { // systemd names the copies so
				setting := "WAITROOM_" + strings.ToUpper(s) + "_FILE="
				at, to := filepath.Join(etc, "secrets", s), filepath.Join(copies, "waitroom_"+s)
				here, there = append(here, setting+at), append(there, setting+to)
				require.NoError(t, os.WriteFile(at, nil, 0o600))
				require.NoError(t, os.WriteFile(to, nil, 0o600))
			}
			if name == "a directory" {
				require.NoError(t, os.Mkdir(filepath.Join(etc, "secrets", "old"), 0o700))
			}
			if name == "an editor's copy" { // no shell takes it as the name of a variable
				require.NoError(t, os.WriteFile(filepath.Join(etc, "secrets", "redis_url~"), nil, 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(copies, "waitroom_redis_url~"), nil, 0o600))
			}
			given := func(shell, script string) (found []string) {
				for old, now := range map[string]string{"/etc/waitroom": etc, "/usr/local/bin": bin,
					"/var/lib/waitroom": etc} {
					script = strings.ReplaceAll(script, old, now)
				}
				run := exec.CommandContext(t.Context(), shell, "-c", script)
				run.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "CREDENTIALS_DIRECTORY=" + copies}
				out, err := run.CombinedOutput()
				require.NoError(t, err, "%s", out)
				return regexp.MustCompile(`(?m)^WAITROOM_\w+_FILE=.*$`).FindAllString(string(out), -1)
			}
			require.ElementsMatch(t, there, given("/bin/sh", start))
			require.ElementsMatch(t, here, given("bash", doctored.FindString(read(t, "docs/production.md"))))
			require.ElementsMatch(t, here, given("bash", wrote.FindString(deployments(t)["systemd"])+"\nwr doctor"))
		})
	}
}

// An alert leads to its entry by a link. Its address is the page's in the repository, and its
// fragment a heading of it.
func TestTheRunbookHasTheHeadingThatEachAlertLinksTo(t *testing.T) {
	alerts := read(t, "deploy/prometheus/alerts.yaml")
	links := alertLink.FindAllStringSubmatch(alerts, -1)
	require.Len(t, links, strings.Count(alerts, "- alert: "))
	for _, link := range links {
		require.True(t, anchors(read(t, link[2]))[link[3]], "%s has no heading %s", link[2], link[3])
	}
}
