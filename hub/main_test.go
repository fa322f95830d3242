package hub_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if clientMain() {
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
