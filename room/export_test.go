package room

import "context"

// Untraced is what a call asks of its span where there is no tracer.
func Untraced(ctx context.Context, e *Engine) bool { return !e.traces(ctx) && e.traceOf(ctx) == "" }

var (
	joinAtLength  = verb[joinArgs]{name: joinVerb.name, script: script(joinVerb.args, "", "wake", "claims", "join"), args: joinVerb.args}
	leaveAtLength = verb[leaveArgs]{name: leaveVerb.name, script: script(leaveVerb.args, "", "leave"), args: leaveVerb.args}
)

// AtLength has verbs go the long way until the test is over, also where nobody else is concerned.
func AtLength(t interface{ Cleanup(func()) }) {
	join, leave := joinVerb, leaveVerb
	joinVerb, leaveVerb = joinAtLength, leaveAtLength
	t.Cleanup(func() { joinVerb, leaveVerb = join, leave })
}
