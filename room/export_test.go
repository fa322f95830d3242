package room

import "context"

// Untraced is what a call asks of its span where there is no tracer.
func Untraced(ctx context.Context, e *Engine) bool { return !e.traces(ctx) && e.traceOf(ctx) == "" }

// Thorough has an engine's locks take no short way.
func (e *Engine) Thorough() *Engine {
	e.thorough = true
	return e
}
