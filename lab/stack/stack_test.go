package stack

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNothingOfAStackIsLeftWhenItIsStopped(t *testing.T) {
	s, err := New("waitroom-stack-test-")
	require.NoError(t, err)
	defer s.Stop()
	child, err := s.Launch("sleep", exec.Command("sleep", "1000"))
	require.NoError(t, err)
	require.NoError(t, child.Until(t.Context(), func() error {
		if use, ok := Look(child.Pid()); !ok || use.RSS == 0 { // it may not have had a processor yet
			return errors.New("it is not seen")
		}
		return nil
	}))
	s.Stop()
	_, ok := Look(child.Pid())
	require.False(t, ok)
	require.NoDirExists(t, s.Dir)
}

func TestCoresAreTheTimeOfProcessorsByTheClock(t *testing.T) {
	began := time.Now()
	before := Usage{At: began, CPU: 3 * time.Second}
	require.InDelta(t, 0.25, Usage{At: began.Add(20 * time.Second), CPU: 8 * time.Second}.Cores(before), 1e-9)
	require.Zero(t, Usage{At: began.Add(time.Second), CPU: time.Second}.Cores(before),
		"another process has its number")
}

func TestAProcessSeesItself(t *testing.T) {
	use, ok := Look(os.Getpid())
	require.True(t, ok)
	require.Greater(t, use.RSS, 1.0)
	require.NotEmpty(t, Machine())
}
