package templates

import "strconv"

// renewal is how a page that stays open comes to show what is true.
type renewal struct {
	script  bool   // by its script; the rest is then for a browser that runs none
	seconds int    // after which it is asked for again; 0: never
	to      string // an address instead of its own
}

// never is for a page that stays as it is, and has no script.
var never renewal

func (r renewal) content() string {
	after := strconv.Itoa(r.seconds)
	if r.to == "" {
		return after
	}
	return after + ";url=" + r.to
}
