package room

import "context"

// Thick makes the engine's rooms execute all calls, also those of thin locks. It returns the engine.
func (e *Engine) Thick() *Engine {
	e.thin = false
	return e
}

// WithoutFunctions returns why the engine calls the Lua library as a script; "" while functions work.
func (e *Engine) WithoutFunctions() string {
	if why := e.library.scripts.Load(); why != nil {
		return *why
	}
	return ""
}

// LibraryName returns the name of the Lua library in Redis.
func LibraryName() string { return libraryName() }

// WhyNoFunctions returns why a server has no functions, from the error of a call.
func WhyNoFunctions(err error) string { return withoutFunctions(err) }

// LookAtMasters looks at the masters once, as Sweep does again and again.
func (e *Engine) LookAtMasters(ctx context.Context) error {
	_, err := e.masters(ctx)
	return err
}
