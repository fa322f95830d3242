package room

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOutageLastsUntilTheStoreAnswersAndThreeSecondsMore(t *testing.T) {
	m := newMemory(time.Hour, false)
	require.Zero(t, m.outageEnd("a"))
	m.failed("a", context.Canceled)
	require.Zero(t, m.outageEnd("a"), "the caller gave up")
	m.failed("a", errors.New("timeout"))
	require.Equal(t, lasting, m.outageEnd("b"), "one store has all rooms")
	m.answered("b", 5000)
	m.answered("a", 8000)
	require.Equal(t, int64(5000), m.outageEnd("a"))
	m.answered("a", 8001)
	require.Zero(t, m.outageEnd("a"))
}

func TestOutageOfAShardIsItsRoomsAloneAndIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(time.Hour, true)
		m.failed("a", errors.New("timeout"))
		require.Zero(t, m.outageEnd("b"))
		time.Sleep(outagesKept + time.Second) // of the fake clock
		m.failed("b", errors.New("timeout"))
		require.NotContains(t, m.rooms, ID("a"), "no call has met it since")
	})
}
