package describetest

import (
	"flag"
	"fmt"
	"os"
	"path"
)

// Run runs all tests of a package, as testing.M does, and fails where they left something unseen that is described and not excused.
// Excused says of patterns of "operation status" or "channel type", such as "* 500", why no test sees them. Where only some tests run,
// nothing is said.
type Run struct {
	M        interface{ Run() int }
	Recorder *Recorder
	Excused  map[string]string
}

// Run is what goleak and os.Exit are handed.
func (r Run) Run() int {
	code := r.M.Run()
	if code != 0 || partial() {
		return code
	}
	for _, what := range r.Recorder.Unseen() {
		if !r.excuses(what) {
			fmt.Fprintf(os.Stderr, "described, but no test sees it: %s\n", what)
			code = 1
		}
	}
	return code
}

func (r Run) excuses(what string) bool {
	for pattern := range r.Excused {
		if ok, err := path.Match(pattern, what); ok && err == nil {
			return true
		}
	}
	return false
}

// partial reports whether only some tests were to run.
func partial() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return true
		}
	}
	return flag.Lookup("test.short") != nil && flag.Lookup("test.short").Value.String() == "true"
}
