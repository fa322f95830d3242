//go:build long

package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// entry mounts the component of docs/embed.md under StrictMode, and renders it first as a server does.
const entry = `
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { Line } from "./line";
const line = <StrictMode><Line room="integration" seller="s-react" /></StrictMode>;
document.body.dataset.rendered = renderToString(line);
const root = createRoot(document.getElementById("root")!);
root.render(line);
Object.assign(window, { end: () => root.unmount() });
`

func TestTheReactComponentOfThePageHasItsTypesAndOneConnectionUnderStrictMode(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, args, out)
	}
	site := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(site.Close)
	origin := "http://localhost:" + site.URL[len("http://127.0.0.1:"):]
	r := start(t, config(t, "--allowed-origins", origin))

	text, err := os.ReadFile("../docs/embed.md")
	require.NoError(t, err)
	block := func(kind string) string {
		found := regexp.MustCompile("(?s) *```" + kind + "\n(.*?)```").FindStringSubmatch(string(text))
		require.NotEmpty(t, found, kind)
		return found[1]
	}
	put := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	settings := map[string]map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(block("json")), &settings))
	for name, value := range map[string]any{"strict": true, "noEmit": true, "jsx": "react-jsx", "target": "es2022",
		"module": "esnext", "moduleResolution": "bundler", "lib": []string{"es2022", "dom"}} {
		settings["compilerOptions"][name] = value
	}
	written, err := json.Marshal(settings)
	require.NoError(t, err)
	put("tsconfig.json", string(written))
	put("embed.d.ts", newReader(t, r.URL()).ask("GET", "/static/embed.d.ts", "").body)
	put("line.tsx", block("tsx"))
	put("main.tsx", entry)
	put("index.html", `<link rel="icon" href="data:,"><div id="root"></div><script type="module" src="main.js"></script>`)
	put("package.json", "{}")
	run("npm", "install", "--no-audit", "--no-fund", "--silent", "react@19.3.1", "react-dom@19.3.1",
		"@types/react@19.3.1", "@types/react-dom@19.3.0", "typescript@5.9.3", "esbuild@0.28.2")
	run("node_modules/.bin/tsc", "--project", ".")
	put("line.tsx", strings.ReplaceAll(block("tsx"), "https://wait.example", r.URL()))
	run("node_modules/.bin/esbuild", "main.tsx", "--bundle", "--format=esm", "--jsx=automatic", "--outfile=main.js",
		"--external:http://*", "--define:process.env.NODE_ENV=\"development\"") // waitroom of a test has no https

	sockets := func(n int) bool {
		metrics := newReader(t, r.URL()).ask("GET", "/metrics", "").body
		return strings.Contains(metrics, fmt.Sprintf("waitroom_hub_sockets %d\n", n))
	}
	p := page{t: t, ctx: browsertest.New(t)}
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(origin)))
	p.is(`document.body.dataset.rendered.includes("One moment")`)
	p.is(`document.querySelector("button")?.textContent === "Ready"`)
	require.True(t, sockets(1), "StrictMode's first mount has left none")
	p.press("button")
	p.is(`document.querySelector("button").textContent === "Leave (your turn)"`)
	p.is(`window.end() ?? true`)
	require.Eventually(t, func() bool { return sockets(0) }, patience, 20*time.Millisecond, "the cleanup closes it")
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Reload()))
	p.is(`document.querySelector("button")?.textContent === "Leave (your turn)"`)
	p.press("button")
	p.is(`document.querySelector("button").textContent === "Ready"`)
}
