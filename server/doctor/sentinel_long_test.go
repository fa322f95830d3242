//go:build long

package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestDoctorAsksTheSentinels(t *testing.T) {
	s := redistest.StartSentinelWith(t, redistest.SentinelConfig{Args: append(redistest.KeptArgs(),
		"--min-replicas-to-write", "1", "--min-replicas-max-lag", "1")})
	// on a busy machine a replica or a sentinel may count as missing for a second
	testproc.Until(t, patience, func() error {
		if said, well := diagnosed(t, sound(t, "--redis-url", s.URL())); !well ||
			!strings.Contains(said, "would agree on a failover") {
			return fmt.Errorf("said: %s", said)
		}
		return nil
	})

	said, well := diagnosed(t, sound(t, "--redis-url",
		strings.Replace(s.URL(), "/"+redistest.MasterName, "/somebody", 1)))
	require.False(t, well)
	require.Regexp(t, `WRONG +sentinel +\S+ knows no master "somebody"`, said)

	for i := range 2 {
		s.PauseObserver(i)
	}
	defer func() {
		for i := range 2 {
			s.ResumeObserver(i)
		}
	}()
	last := "redis+sentinel://" + s.Addrs()[2] + "/" + redistest.MasterName
	testproc.Until(t, patience, func() error {
		if said, well = diagnosed(t, sound(t, "--redis-url", last)); well ||
			!strings.Contains(said, "no replica takes over") {
			return fmt.Errorf("said: %s", said)
		}
		return nil
	})
}
