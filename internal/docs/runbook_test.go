package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	commands  = regexp.MustCompile("(?ms)^\\*\\*(\\w+)\\*\\*[^\\n]*\\n(?:[^\\n]+\\n)*\\n```sh\\n(.*?)^```")
	command   = regexp.MustCompile("`\\(?(wr|rcli|sql|dump|logs|restart|stop|start|reread|stacks|settings)[ `]")
	secret    = regexp.MustCompile(`LoadCredential=(\w+):(/etc/waitroom/)`)
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
	for _, m := range secret.FindAllStringSubmatch(read(t, "deploy/systemd/waitroom.service"), -1) {
		require.Regexp(t, `for s in [a-z_ ]*\b`+m[1]+`\b`, blocks["systemd"], "the unit has the secret %s", m[1])
	}
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
