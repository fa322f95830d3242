package describetest

import (
	"flag"
	"fmt"
	"os"
	"path"
)

// Run runs all tests of a package, as testing.M does, and fails where they left a described part unseen and
// not excused. Excused has the reason for each pattern of "operation status" or "channel type", such as "*
// 500". Where only some tests run, it reports nothing.
type Run struct {
	M        interface{ Run() int }
	Recorder *Recorder
	Excused  map[string]string
}

// Run has the signature that goleak and os.Exit need.
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
