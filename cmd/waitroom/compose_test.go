package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const checkout = "../.."

// composed is a service of deploy/compose.yaml.
type composed struct {
	Environment map[string]string
	Command     []string
	Secrets     []string
	Volumes     []string
}

func composeFile(t *testing.T) map[string]composed {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout, "deploy", "compose.yaml"))
	require.NoError(t, err)
	var file struct{ Services map[string]composed }
	require.NoError(t, yaml.Unmarshal(text, &file))
	return file.Services
}

// byDefault returns the default of a variable in compose: ${NAME:-value}.
func byDefault(value string) string {
	if rest, ok := strings.CutPrefix(value, "${"); ok {
		_, value, _ = strings.Cut(strings.TrimSuffix(rest, "}"), ":-")
	}
	return value
}

// environment returns a service's, with addresses of this machine in place of the inner ones, and secrets'
// files elsewhere.
func (c composed) environment(t *testing.T, addresses, secrets map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	var env []string
	for name, value := range c.Environment {
		value = byDefault(value)
		if replaced, ok := addresses[name]; ok {
			value = replaced
		}
		if secret, ok := strings.CutPrefix(value, "/run/secrets/"); ok {
			require.Contains(t, c.Secrets, secret, "%s names a file that the service is not given", name)
			require.Contains(t, secrets, secret)
			value = filepath.Join(dir, secret)
			require.NoError(t, os.WriteFile(value, []byte(secrets[secret]+"\n"), 0o600))
		}
		env = append(env, name+"="+value)
	}
	return env
}

func TestAReplicaIsReadyWithWhatComposeGivesIt(t *testing.T) {
	services := composeFile(t)
	for _, name := range []string{"waitroom-2", "waitroom-3"} {
		require.Equal(t, services["waitroom-1"], services[name])
	}
	redis := services["redis"].Command
	require.Equal(t, "redis-server", redis[0])
	store := redistest.StartWith(t, redistest.Config{Args: redis[1:]})
	addr, metrics := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t)),
		fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t))
	rooms, err := filepath.Abs(filepath.Join(checkout, "deploy", "rooms", "rooms.yaml"))
	require.NoError(t, err)
	require.Equal(t,
		[]string{"./rooms:" + filepath.Dir(services["waitroom-1"].Environment["WAITROOM_ROOMS_FILE"]) +
			":ro"}, services["waitroom-1"].Volumes)
	env := services["waitroom-1"].environment(t,
		map[string]string{"WAITROOM_ADDR": addr, "WAITROOM_METRICS_ADDR": metrics,
			"WAITROOM_REDIS_URL": store.URL(), "WAITROOM_ROOMS_FILE": rooms},
		map[string]string{"database_url": pgtest.Start(t).URL(), "sms_webhook_secret": smsSecret,
			"support_users": "support:$2a$10$7EqJtq98hPqEX7fNZaFWoOhi5cX3bJ7oVYJcM0KqBv2Jc0pUoM8bW"})
	logPath := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(logPath)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	cmd := exec.Command(program) // as ENTRYPOINT does
	cmd.Env, cmd.Dir, cmd.Stderr = env, t.TempDir(), file
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(t, err)
	t.Cleanup(process.Kill)
	ready := `"checks":{"ledger":"ok","redis":"ok","server":"ok","subscription":"ok"}`
	testproc.Until(t, patience, func() error {
		if output, err := get("http://" + addr + "/readyz"); err != nil || !strings.Contains(output, ready) {
			return fmt.Errorf("%s %w\n%s", output, err, testproc.LogTail(logPath))
		}
		return nil
	})
	output, err := get("http://" + metrics + "/metrics")
	require.NoError(t, err)
	require.Contains(t, output, `waitroom_check_ok{check="redis"} 1`)

	health := exec.Command(program, "healthcheck") // as HEALTHCHECK does
	health.Env = env
	out, err := health.CombinedOutput()
	require.NoError(t, err, string(out))
	log, err := os.ReadFile(logPath)
	require.NoError(t, err)
	require.NotContains(t, string(log), "unknown setting")
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"level":"WARN"`) { // the operator has to list the senders
			require.Contains(t, line, "integration takes texts of every sender")
		}
	}
	left, err := os.ReadDir(cmd.Dir)
	require.NoError(t, err)
	require.Empty(t, left, "its file system is read-only")
}

func get(url string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// The fault harness tests the documented file; compose's must have the same settings but for its addresses.
func TestComposesHaproxyIsTheDocumentedOne(t *testing.T) {
	rules := func(name string) string {
		text, err := os.ReadFile(filepath.Join(checkout, name))
		require.NoError(t, err)
		var kept []string
		for line := range strings.Lines(string(text[bytes.Index(text, []byte("\nglobal\n")):])) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(strings.ReplaceAll(line, ":8080", ":80")); line == "" {
				continue
			}
			for i, name := range []string{"one", "two", "three"} {
				line = strings.Replace(line, fmt.Sprintf("server %s waitroom-%d", name, i+1),
					fmt.Sprintf("server %s 10.0.0.%d", name, i+1), 1)
			}
			kept = append(kept, line)
		}
		return strings.Join(kept, "\n")
	}
	here := rules("deploy/haproxy/haproxy.cfg")
	for _, more := range []string{"default-server init-addr last,libc,none resolvers names\n",
		"resolvers names\nparse-resolv-conf\nhold valid 1s\n"} {
		require.Contains(t, here, more)
		here = strings.Replace(here, more, "", 1)
	}
	require.Equal(t, rules("docs/haproxy.cfg"), here)
}

func TestTheImageIsBuiltFromAllThatTheProgramNeeds(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(checkout, ".dockerignore"))
	require.NoError(t, err)
	list := exec.Command("go", "list", "-deps", "-f", `{{if and .Module .Module.Main}}{{.ImportPath}}{{end}}`,
		".")
	out, err := list.Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		dir := strings.TrimPrefix(path, "github.com/waitroom/waitroom/")
		parts := strings.Split(dir, "/")
		deep := 1
		if parts[0] == "internal" {
			deep = 2
		}
		dir = strings.Join(parts[:min(deep, len(parts))], "/")
		require.Contains(t, string(text), "\n!"+dir+"\n")
	}
}
