// Package webdriver drives browsers of several makers in tests, all in one way. They are WebKit (WebKitGTK's
// MiniBrowser, on a display of its own) by WebDriver, Firefox by WebDriver BiDi, and Chromium. It has the
// steps of a journey through a page, and no more; tests for Chromium alone use browsertest.
package webdriver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

const (
	patience = 2 * time.Minute // for a browser, and for the events of a test: it bounds failures alone
	between  = 50 * time.Millisecond
)

// engine is one browser's implementation. It drives one tab at a time.
type engine interface {
	open(url string) error
	eval(expression string) (json.RawMessage, error) // JSON of its value; promises are awaited
	click(selector string) error                     // as a person does: it counts as a press
	keys(selector, text string) error
	resize(width, height int) error
	picture() ([]byte, error) // PNG of the window
	tabs() ([]string, error)  // addresses of all tabs
	newTab(url string) error  // is driven from then on
	firstTab() error          // is driven again
}

// Config has a browser's settings.
type Config struct {
	NoCookies bool     // blocks them, as its settings do; not in Chromium
	Desktop   []string // environment of a desktop, where the browser has a window; Firefox alone
}

// Browser is a browser of one test, with a fresh profile. Every method fails the test if its step fails.
type Browser struct {
	tb     testing.TB
	engine engine
	Name   string // "webkit", "firefox", "chromium" or "oldchromium"
}

// In returns the same browser for a subtest.
func (b *Browser) In(tb testing.TB) *Browser { return &Browser{tb: tb, engine: b.engine, Name: b.Name} }

// Open goes to an address and waits until the page is loaded.
func (b *Browser) Open(url string) { b.tb.Helper(); b.must(b.engine.open(url), "open "+url) }

// Click waits until the selector's first element is visible and does not move, and clicks it.
func (b *Browser) Click(selector string) {
	b.tb.Helper()
	b.Until(still(selector))
	b.must(b.engine.click(selector), "click "+selector)
}

// Type presses keys into a field.
func (b *Browser) Type(selector, text string) {
	b.tb.Helper()
	b.must(b.engine.keys(selector, text), "type into "+selector)
}

// Resize sets the window's size in CSS pixels.
func (b *Browser) Resize(width, height int) {
	b.tb.Helper()
	b.must(b.engine.resize(width, height), "resize")
}

// Tabs returns the addresses of all tabs.
func (b *Browser) Tabs() []string {
	b.tb.Helper()
	tabs, err := b.engine.tabs()
	b.must(err, "list tabs")
	return tabs
}

// NewTab opens an address in another tab, and drives that tab from then on.
func (b *Browser) NewTab(url string) { b.tb.Helper(); b.must(b.engine.newTab(url), "open a tab") }

// FirstTab drives the first tab again. The others stay open.
func (b *Browser) FirstTab() { b.tb.Helper(); b.must(b.engine.firstTab(), "go to the first tab") }

// Until waits until an expression, or its promise, is true on the page, also through a reload.
func (b *Browser) Until(expression string) {
	b.tb.Helper()
	testproc.Until(b.tb, patience, func() error {
		got, err := b.engine.eval("Promise.resolve(" + expression + ").then(Boolean)")
		if err == nil && string(got) != "true" {
			time.Sleep(between)
			err = fmt.Errorf("%s: never in %s: %s", b.Name, expression, got)
		}
		return err
	})
}

// Eval returns the JSON value of an expression on the page.
func Eval[T any](b *Browser, expression string) (value T) {
	b.tb.Helper()
	got, err := b.engine.eval(expression)
	b.must(err, expression)
	b.must(json.Unmarshal(got, &value), expression)
	return value
}

// Picture writes the window to a PNG file in the directory of WAITROOM_PICTURES, for review; without that
// variable it does nothing.
func (b *Browser) Picture(name string) {
	b.tb.Helper()
	dir := os.Getenv("WAITROOM_PICTURES")
	if dir == "" {
		return
	}
	png, err := b.engine.picture()
	b.must(err, "picture")
	b.must(os.WriteFile(filepath.Join(dir, b.Name+"-"+name+".png"), png, 0o644), "picture")
}

// Pictures takes a Picture at a phone's and at a desktop's size, which it adds to the name. The window then
// has a phone's size.
func (b *Browser) Pictures(name string) {
	b.tb.Helper()
	if os.Getenv("WAITROOM_PICTURES") == "" {
		return
	}
	b.Resize(1280, 900)
	b.Picture(name + "-1280")
	b.Resize(360, 740)
	b.Picture(name + "-360")
}

func (b *Browser) must(err error, what string) {
	b.tb.Helper()
	if err != nil {
		b.tb.Fatalf("%s: %s: %v", b.Name, what, err)
	}
}

// home returns a directory for the browser's files, and an environment that names it.
func home(tb testing.TB) (dir string, env []string) {
	dir = tb.TempDir()
	env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_DATA_HOME="+dir,
		"LANG=C.UTF-8")
	return dir, env
}

// still returns an expression that is true if an element is visible and is in the same place 50 ms later.
func still(selector string) string {
	return `new Promise((done) => {
		const place = () => {
			const element = document.querySelector(` + quote(selector) + `);
			return element?.getClientRects().length > 0 && JSON.stringify(element.getBoundingClientRect());
		};
		const before = place();
		setTimeout(() => done(before && before === place()), 50);
	})`
}

func quote(text string) string {
	quoted, _ := json.Marshal(text) // a string always marshals
	return strings.ReplaceAll(string(quoted), "</", `<\/`)
}
