package room

import "context"

// Untraced is what a call asks of its span where there is no tracer.
func Untraced(ctx context.Context, e *Engine) bool { return !e.traces(ctx) && e.traceOf(ctx) == "" }

// Thorough has an engine's locks take no short way.
func (e *Engine) Thorough() *Engine {
	e.thorough = true
	return e
}

// WithoutFunctions is why the library is called as a script; "" where it is not, as far as is known.
func (e *Engine) WithoutFunctions() string {
	if why := e.library.scripts.Load(); why != nil {
		return *why
	}
	return ""
}

// LibraryName is what the library is called in Redis.
func LibraryName() string { return libraryName() }

// WhyNoFunctions is what the error of a call says of functions.
func WhyNoFunctions(err error) string { return withoutFunctions(err) }
