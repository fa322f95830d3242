//go:build long

package sentinel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestADeadMasterIsLeftForTheNewOne(t *testing.T) {
	s := redistest.StartSentinel(t)
	c := client(t, s)
	before := named(t, c, "")
	s.KillMaster()
	require.NotEqual(t, before, named(t, c, before))
}
