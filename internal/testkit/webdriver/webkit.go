package webdriver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// webkit speaks to WebKitWebDriver.
type webkit struct {
	session string // its address
	first   string // handle of the first tab
}

// WebKit starts WebKitGTK's MiniBrowser (Debian's webkit2gtk-driver) on an invisible display (xvfb).
func WebKit(tb testing.TB, cfg Config) *Browser {
	tb.Helper()
	args := []string{"--automation"}
	if cfg.NoCookies {
		args = append(args, "--cookies-policy=never")
	}
	dir, env := home(tb)
	env = append(env, "DISPLAY="+Display(tb), "LIBGL_ALWAYS_SOFTWARE=1", "WEBKIT_DISABLE_DMABUF_RENDERER=1")
	port := testproc.FreePort(tb)
	driver := exec.Command(testproc.Find(tb, "WebKitWebDriver"), fmt.Sprintf("--port=%d", port))
	driver.Env, driver.Dir = env, dir
	p, err := testproc.Start(driver, syscall.SIGKILL)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Stop(syscall.SIGTERM) })
	w := &webkit{session: fmt.Sprintf("http://127.0.0.1:%d", port)}
	var made struct {
		ID string `json:"sessionId"`
	}
	testproc.Until(tb, patience, func() error { return w.get("/status", nil) })
	if err := w.post("/session", object{"capabilities": object{"alwaysMatch": object{
		"webkitgtk:browserOptions": object{"binary": miniBrowser(tb), "args": args},
	}}}, &made); err != nil {
		tb.Fatalf("webkit: %v", err)
	}
	w.session += "/session/" + made.ID
	tb.Cleanup(func() { _ = w.ask(http.MethodDelete, "", nil, nil) })
	if err := w.get("/window", &w.first); err != nil {
		tb.Fatalf("webkit: %v", err)
	}
	return &Browser{tb: tb, engine: w, Name: "webkit"}
}

// miniBrowser returns its path, in a directory that the library's version names.
func miniBrowser(tb testing.TB) string {
	tb.Helper()
	found, _ := filepath.Glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
	if len(found) == 0 {
		tb.Fatal("MiniBrowser is not installed: run `scripts/setup.sh long`")
	}
	return found[len(found)-1]
}

// Display starts an X server without a screen, and returns its name. It picks a free number itself.
func Display(tb testing.TB) string {
	tb.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	server := exec.Command(testproc.Find(tb, "Xvfb"), "-displayfd", "3", "-screen", "0", "1400x1000x24",
		"-nolisten", "tcp")
	server.ExtraFiles = []*os.File{write}
	p, err := testproc.Start(server, syscall.SIGKILL)
	_ = write.Close()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Stop(syscall.SIGTERM) })
	number, err := io.ReadAll(read)
	if err != nil || len(number) == 0 {
		tb.Fatalf("Xvfb named no display: %v", err)
	}
	return ":" + strings.TrimSpace(string(number))
}

type object = map[string]any

func (w *webkit) open(url string) error { return w.post("/url", object{"url": url}, nil) }

func (w *webkit) eval(expression string) (value json.RawMessage, err error) {
	script := "const done = arguments[0]; Promise.resolve(" + expression +
		").then(done, (error) => done(String(error)))"
	return value, w.post("/execute/async", object{"script": script, "args": []any{}}, &value)
}

func (w *webkit) click(selector string) error { return w.onElement(selector, "click", object{}) }

func (w *webkit) keys(selector, text string) error {
	return w.onElement(selector, "value", object{"text": text})
}

func (w *webkit) onElement(selector, do string, body object) error {
	var found map[string]string
	if err := w.post("/element", object{"using": "css selector", "value": selector}, &found); err != nil {
		return err
	}
	for _, id := range found {
		return w.post("/element/"+id+"/"+do, body, nil)
	}
	return errors.New("not found")
}

func (w *webkit) resize(width, height int) error {
	return w.post("/window/rect", object{"width": width, "height": height}, nil)
}

func (w *webkit) picture() ([]byte, error) {
	var encoded string
	if err := w.get("/screenshot", &encoded); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(encoded)
}

func (w *webkit) tabs() (urls []string, err error) {
	var now string
	var all []string
	if err := errors.Join(w.get("/window", &now), w.get("/window/handles", &all)); err != nil {
		return nil, err
	}
	for _, handle := range append(all, now) { // back to the driven one at the end
		var url string
		if err := errors.Join(w.post("/window", object{"handle": handle}, nil), w.get("/url", &url)); err != nil {
			return nil, err
		}
		urls = append(urls, url)
	}
	return urls[:len(all)], nil
}

func (w *webkit) newTab(url string) error {
	var made struct {
		Handle string `json:"handle"`
	}
	if err := w.post("/window/new", object{"type": "tab"}, &made); err != nil {
		return err
	}
	return errors.Join(w.post("/window", object{"handle": made.Handle}, nil), w.open(url))
}

func (w *webkit) firstTab() error { return w.post("/window", object{"handle": w.first}, nil) }

func (w *webkit) get(path string, value any) error { return w.ask(http.MethodGet, path, nil, value) }

func (w *webkit) post(path string, body, value any) error {
	return w.ask(http.MethodPost, path, body, value)
}

func (w *webkit) ask(method, path string, body, value any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		sent = nil
	}
	req, err := http.NewRequest(method, w.session+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: patience}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s %s: %s: %w", method, path, resp.Status, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, answer.Value)
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, value)
}
