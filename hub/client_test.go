package hub_test

import (
	"os"
)

// clientMain runs this binary as the other side of a benchmark; false in a test run.
func clientMain() bool { return os.Getenv("HUB_BENCH_CLIENT") != "" }
