package room

import "context"

// Untraced is what a call asks of its span where there is no tracer.
func Untraced(ctx context.Context, e *Engine) bool { return !e.traces(ctx) && e.traceOf(ctx) == "" }

var (
	joinAtLength  = addVerb[joinArgs]("join", verbScript{verb: "join_at_length", file: "join", parts: []string{"beginning", "wake", "claims"}})
	leaveAtLength = addVerb[leaveArgs]("leave", verbScript{verb: "leave_at_length", file: "leave"})
)

// AtLength has verbs go the long way until the test is over, also where nobody else is concerned.
func AtLength(t interface{ Cleanup(func()) }) {
	join, leave := joinVerb, leaveVerb
	joinVerb, leaveVerb = joinAtLength, leaveAtLength
	t.Cleanup(func() { joinVerb, leaveVerb = join, leave })
}
