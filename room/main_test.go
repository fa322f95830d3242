package room_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// idle is the most tests that wait for an embedded Redis's clock at the same time (t.Parallel). Each has a
// Redis of its own.
const idle = 16

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(idle)); err != nil {
		panic(err)
	}
	os.Exit(redistest.Main(m))
}

// tries sets the number of cases of a property, unless the command line sets it.
func tries(t *testing.T, cases int) {
	const checks = "rapid.checks"
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == checks })
	if said {
		return
	}
	before := flag.Lookup(checks).Value.String()
	// flag.Set would mark the flag as set on the command line
	require.NoError(t, flag.Lookup(checks).Value.Set(strconv.Itoa(cases)))
	t.Cleanup(func() { require.NoError(t, flag.Lookup(checks).Value.Set(before)) })
}
