package room

import "context"

// Untraced reports whether a call makes no span, as without a tracer.
func Untraced(ctx context.Context, e *Engine) bool { return !e.traces(ctx) && e.traceOf(ctx) == "" }

// Thorough has an engine's locks use no short path.
func (e *Engine) Thorough() *Engine {
	e.thorough = true
	return e
}

// WithoutFunctions returns why the library is called as a script; "" while functions work.
func (e *Engine) WithoutFunctions() string {
	if why := e.library.scripts.Load(); why != nil {
		return *why
	}
	return ""
}

// LibraryName returns the library's name in Redis.
func LibraryName() string { return libraryName() }

// WhyNoFunctions returns why a server has no functions, from the error of a call.
func WhyNoFunctions(err error) string { return withoutFunctions(err) }
