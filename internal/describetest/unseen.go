package describetest

import (
	"flag"
	"fmt"
	"os"
	"slices"
)

// Run runs all tests of a package, as testing.M does, and fails where they left something unseen that is described and not excused.
// excused says of each "operation status" or "channel type" why no test sees it. Where only some tests run, nothing is said.
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
	unseen := r.Recorder.Unseen()
	for _, what := range unseen {
		if _, ok := r.Excused[what]; !ok {
			fmt.Fprintf(os.Stderr, "described, but no test sees it: %s\n", what)
			code = 1
		}
	}
	for what := range r.Excused {
		if !slices.Contains(unseen, what) {
			fmt.Fprintf(os.Stderr, "excused from being seen, but it is seen or not described: %s\n", what)
			code = 1
		}
	}
	return code
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
