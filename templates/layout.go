package templates

import "strconv"

// renewal says how an open page stays current.
type renewal struct {
	script  bool   // by its script; the rest is then for a browser without one
	plain   bool   // the script did not run: the rest is for every browser
	seconds int    // seconds until a reload; 0: never
	to      string // an address instead of its own
}

// never is for a page without a script that does not change.
var never renewal

func (r renewal) content() string {
	after := strconv.Itoa(r.seconds)
	if r.to == "" {
		return after
	}
	return after + ";url=" + r.to
}
