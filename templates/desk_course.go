package templates

// course is the state of a visit: what the sentence of an event needs to know about earlier events.
type course struct {
	state   string // waiting, away, holding, or the outcome; rejected: completed by another's message
	joined  int64  // unix ms, as all times here; 0 = it did not happen
	since   int64  // away since
	granted int64  // of the present or last turn
	until   int64  // when it ends at the latest
	over    int64
	asks    int
	matched bool       // a message came within the last turn
	late    bool       // or after it
	refused bool       // the seller said of the last message that it is not theirs
	done    StoryEvent // support's last action
}

func (c course) after(e StoryEvent) course {
	switch e.Kind {
	case "joined":
		c.state, c.joined = "waiting", e.At
	case "granted":
		c.state, c.granted, c.until, c.since = "holding", e.At, e.ExpiresAt, 0
		c.asks, c.matched, c.late, c.refused = 0, false, false, false
	case "extended":
		c.until = e.ExpiresAt
	case "asked":
		c.asks = max(e.Asks, c.asks+1)
	case "away":
		c.state, c.since = "away", e.gone()
	case "back":
		c.state, c.since = "waiting", 0
	case "message", "claimed", "assigned":
		c.late = c.late || e.Result == "late"
		c.matched = c.matched || e.Result == "matched" || e.Kind == "claimed"
		c.refused = c.refused && e.Result == "unmatched"
	case "rejected":
		c.refused = true
		if c.state == "completed" { // by that message
			c.state = "rejected"
		}
	case "action":
		c.done = e
	case "ended":
		c = c.ended(e)
	}
	return c
}

// ended ends a visit. An unclaimed turn ends only the turn, and the visit continues.
func (c course) ended(e StoryEvent) course {
	if e.Outcome == "unclaimed" {
		c.state, c.granted, c.since = "away", 0, e.At
		return c
	}
	c.state, c.over = e.Outcome, e.At
	return c
}

// acted reports whether an event is the result of support's last action.
func (c course) acted(e StoryEvent) bool {
	return c.done.Kind != "" && brought[c.done.Action] == effect{e.Kind, e.Outcome} && c.done.At == e.At
}

// effect is the kind of an event, and the outcome of one that ends a visit.
type effect struct{ kind, outcome string }

// brought has the event that an action of support causes at the same time, so that one line can describe
// both.
var brought = map[string]effect{
	"release": {"ended", "forced"},
	"remove":  {"ended", "removed"},
	"extend":  {"extended", ""},
	"move":    {"moved", ""},
	"assign":  {"assigned", ""},
}

// by reports whether support has just made an action. Its result comes from the same script, and so has the
// same time.
func (c course) by(action string, at int64) bool {
	return c.done.Action == action && c.done.At == at
}

// gone returns since when a seller is away.
func (e StoryEvent) gone() int64 {
	if e.Since != 0 {
		return e.Since
	}
	return e.At
}
