package room_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// idle is how many tests at a time may wait for a store's clock (t.Parallel), each on a store of its own.
const idle = 16

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(idle)); err != nil {
		panic(err)
	}
	os.Exit(redistest.Main(m))
}

// tries has a property tried on so many cases, unless the command line says how many.
func tries(t *testing.T, cases int) {
	const checks = "rapid.checks"
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == checks })
	if said {
		return
	}
	before := flag.Lookup(checks).Value.String()
	require.NoError(t, flag.Lookup(checks).Value.Set(strconv.Itoa(cases))) // flag.Set would count as the command line's
	t.Cleanup(func() { require.NoError(t, flag.Lookup(checks).Value.Set(before)) })
}
