package room

import (
	"context"
	"encoding/json"
)

// Tracer makes the spans of an engine's calls. Package server/tracing has OpenTelemetry's.
type Tracer interface {
	// Start begins the span of a verb's call, below the span of ctx. Its function ends the span; it is nil for
	// a call that nothing is recorded of.
	Start(ctx context.Context, verb string) (context.Context, func(Called))
	// Traceparent returns W3C's traceparent of the span of ctx; "" if the span is not sampled.
	Traceparent(ctx context.Context) string
}

// Called is what a span has of a call: neither its arguments nor the rest of its reply.
type Called struct {
	Room    ID
	Command string // of Redis: FCALL or EVALSHA
	Address string // Config.Address
	Result  string // the refusal's code, "register" for a call that is retried, "ok" for any other reply
	Err     error  // Redis did not answer; then there is no result
}

func (e *Engine) called(id ID, res any, err error) Called {
	c := Called{Room: id, Command: e.library.command(), Address: e.cfg.Address, Err: err}
	if err == nil {
		c.Result = replyCode(res)
	}
	return c
}

func replyCode(res any) string {
	var reply struct{ Code string }
	if text, ok := res.(string); ok {
		_ = json.Unmarshal([]byte(text), &reply) // another reply than a verb's is ok too
	}
	if _, refused := refusals[reply.Code]; refused || reply.Code == "register" {
		return reply.Code
	}
	return "ok"
}

// traceOf returns the traceparent of a call's span for the journal; "" if the span is not sampled.
func (e *Engine) traceOf(ctx context.Context) string {
	if e.cfg.Tracer == nil || e.cfg.Journal == 0 {
		return ""
	}
	return e.cfg.Tracer.Traceparent(ctx)
}
