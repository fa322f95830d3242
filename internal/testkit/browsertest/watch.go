package browsertest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
)

type watchKey struct{}

// watch collects the errors of one browser's pages.
type watch struct {
	mu         sync.Mutex
	complaints []string
	allowed    []string
}

// watching returns the watch of the browser that ctx belongs to.
func watching(ctx context.Context) *watch { return ctx.Value(watchKey{}).(*watch) }

// AllowErrors sets which errors a test expects from any page of ctx's browser, by a part of their text. It
// may be called before or after they come.
func AllowErrors(ctx context.Context, parts ...string) {
	w := watching(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allowed = append(w.allowed, parts...)
}

// Errors returns the errors so far of the pages of ctx's browser that the test did not expect.
func Errors(ctx context.Context) []string {
	flush(ctx)
	return watching(ctx).unexpected()
}

// see is called for every event of a tab, in their order.
func (w *watch) see(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded: // failed requests, and violations of the content security policy
		if e.Entry.Level == log.EntryLevelError {
			w.add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			w.add("console.%s: %s", e.Type, words(e.Args))
		}
	case *runtime.EventExceptionThrown:
		d := e.ExceptionDetails
		w.add("%s %s (%s:%d)", d.Text, words([]*runtime.RemoteObject{d.Exception}), d.URL, d.LineNumber+1)
	}
}

func (w *watch) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complaints = append(w.complaints, fmt.Sprintf(format, args...))
}

func (w *watch) unexpected() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var left []string
	for _, complaint := range w.complaints {
		if !w.expects(complaint) {
			left = append(left, complaint)
		}
	}
	return left
}

func (w *watch) expects(complaint string) bool {
	for _, part := range w.allowed {
		if strings.Contains(complaint, part) {
			return true
		}
	}
	return false
}

func words(args []*runtime.RemoteObject) string {
	var parts []string
	for _, arg := range args {
		switch {
		case arg == nil:
		case arg.Description != "":
			parts = append(parts, arg.Description)
		default:
			parts = append(parts, string(arg.Value))
		}
	}
	return strings.Join(parts, " ")
}
