package webdriver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// firefox drives Firefox by WebDriver BiDi, which Firefox itself serves.
type firefox struct {
	conn  *websocket.Conn
	first string // the first tab
	tab   string // the driven one
	last  int    // number of the last command
}

// Firefox starts Debian's firefox-esr, without a window unless there is a desktop.
func Firefox(tb testing.TB, cfg Config) *Browser {
	tb.Helper()
	dir, env := home(tb)
	port, profile := testproc.FreePort(tb), filepath.Join(dir, "profile")
	if err := os.Mkdir(profile, 0o755); err != nil { // without it, firefox ends
		tb.Fatal(err)
	}
	if cfg.NoCookies {
		if err := os.WriteFile(filepath.Join(profile, "user.js"),
			[]byte(`user_pref("network.cookie.cookieBehavior", 2);`), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	args := []string{"--no-remote", "--profile", profile, "--remote-debugging-port", fmt.Sprint(port)}
	if cfg.Desktop == nil {
		args = append(args, "--headless")
	}
	browser := exec.Command(testproc.Find(tb, "firefox-esr", "firefox"), args...)
	browser.Env, browser.Dir = append(env, cfg.Desktop...), dir
	p, err := testproc.Start(browser, syscall.SIGKILL)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Stop(syscall.SIGTERM) })
	f := &firefox{}
	testproc.Until(tb, patience, func() error { return f.dial(port) })
	tb.Cleanup(func() { _ = f.conn.CloseNow() })
	if err := f.begin(); err != nil {
		tb.Fatalf("firefox: %v", err)
	}
	return &Browser{tb: tb, engine: f, Name: "firefox"}
}

func (f *firefox) dial(port int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, fmt.Sprintf("ws://127.0.0.1:%d/session", port), nil)
	if err == nil {
		f.conn = conn
		conn.SetReadLimit(-1) // pictures
	}
	return err
}

func (f *firefox) begin() error {
	if err := f.ask("session.new", object{"capabilities": object{}}, nil); err != nil {
		return err
	}
	all, err := f.tree()
	if err == nil {
		f.first, f.tab = all[0].Context, all[0].Context
	}
	return err
}

type tab struct {
	Context string `json:"context"`
	URL     string `json:"url"`
}

func (f *firefox) tree() ([]tab, error) {
	var all struct {
		Contexts []tab `json:"contexts"`
	}
	err := f.ask("browsingContext.getTree", object{"maxDepth": 0}, &all)
	if err == nil && len(all.Contexts) == 0 {
		err = errors.New("no tab")
	}
	return all.Contexts, err
}

func (f *firefox) open(url string) error {
	return f.ask("browsingContext.navigate", object{"context": f.tab, "url": url, "wait": "complete"}, nil)
}

// eval evaluates an expression in the page, which returns JSON, since BiDi has value types of its own.
func (f *firefox) eval(expression string) (json.RawMessage, error) {
	var got struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		ExceptionDetails struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err := f.ask("script.evaluate", object{
		"expression": "Promise.resolve(" + expression + ").then((value) => JSON.stringify(value ?? null))",
		"target":     object{"context": f.tab}, "awaitPromise": true,
	}, &got)
	if err == nil && got.ExceptionDetails.Text != "" {
		err = errors.New(got.ExceptionDetails.Text)
	}
	return json.RawMessage(got.Result.Value), err
}

func (f *firefox) click(selector string) error {
	at, err := f.middle(selector)
	if err != nil {
		return err
	}
	return f.act(object{"type": "pointer", "id": "mouse", "actions": []any{
		object{"type": "pointerMove", "x": at[0], "y": at[1]},
		object{"type": "pointerDown", "button": 0}, object{"type": "pointerUp", "button": 0},
	}})
}

// middle scrolls an element into view and returns the position of its middle.
func (f *firefox) middle(selector string) (at [2]int, err error) {
	got, err := f.eval(`(() => {
		const element = document.querySelector(` + quote(selector) + `);
		element.scrollIntoView({ block: "center", behavior: "instant" });
		if (!element.checkVisibility()) return [0, 0];
		const { x, y, width, height } = element.getBoundingClientRect();
		return [Math.round(x + width / 2), Math.round(y + height / 2)];
	})()`)
	if err != nil {
		return at, err
	}
	if err := json.Unmarshal(got, &at); err != nil || at == [2]int{} {
		return at, errors.Join(err, errors.New("it is not on show"))
	}
	return at, nil
}

func (f *firefox) keys(selector, text string) error {
	if err := f.click(selector); err != nil {
		return err
	}
	var presses []any
	for _, key := range text {
		presses = append(presses, object{"type": "keyDown", "value": string(key)},
			object{"type": "keyUp", "value": string(key)})
	}
	return f.act(object{"type": "key", "id": "keyboard", "actions": presses})
}

func (f *firefox) act(source object) error {
	return f.ask("input.performActions", object{"context": f.tab, "actions": []any{source}}, nil)
}

func (f *firefox) resize(width, height int) error {
	return f.ask("browsingContext.setViewport",
		object{"context": f.tab, "viewport": object{"width": width, "height": height}}, nil)
}

func (f *firefox) picture() ([]byte, error) {
	var got struct {
		Data string `json:"data"`
	}
	if err := f.ask("browsingContext.captureScreenshot", object{"context": f.tab}, &got); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(got.Data)
}

func (f *firefox) tabs() (urls []string, err error) {
	all, err := f.tree()
	for _, tab := range all {
		urls = append(urls, tab.URL)
	}
	return urls, err
}

func (f *firefox) newTab(url string) error {
	var made tab
	if err := f.ask("browsingContext.create", object{"type": "tab", "referenceContext": f.first},
		&made); err != nil {
		return err
	}
	f.tab = made.Context
	return f.open(url)
}

func (f *firefox) firstTab() error {
	f.tab = f.first
	return f.ask("browsingContext.activate", object{"context": f.first}, nil)
}

// ask sends a command and waits for its answer; it skips Firefox's events.
func (f *firefox) ask(method string, params object, value any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f.last++
	if err := wsjson.Write(ctx, f.conn, object{"id": f.last, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		var answer struct {
			ID      int             `json:"id"`
			Error   string          `json:"error"`
			Message string          `json:"message"`
			Result  json.RawMessage `json:"result"`
		}
		if err := wsjson.Read(ctx, f.conn, &answer); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case answer.ID != f.last:
		case answer.Error != "":
			return fmt.Errorf("%s: %s: %s", method, answer.Error, answer.Message)
		case value != nil:
			return json.Unmarshal(answer.Result, value)
		default:
			return nil
		}
	}
}
