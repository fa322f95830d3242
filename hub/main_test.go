package hub_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if clientMain() {
		os.Exit(0)
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // those that are parallel wait, mostly
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
