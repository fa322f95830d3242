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
	o := newOutages(false)
	require.Zero(t, o.end("a"))
	o.failed("a", context.Canceled)
	require.Zero(t, o.end("a"), "whoever asked has gone")
	o.failed("a", errors.New("timeout"))
	require.Equal(t, lasting, o.end("b"), "one store has all rooms")
	o.answered("b", 5000)
	o.answered("a", 8000)
	require.Equal(t, int64(5000), o.end("a"))
	o.answered("a", 8001)
	require.Zero(t, o.end("a"))
}

func TestOutageOfAShardIsItsRoomsAloneAndIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutages(true)
		o.failed("a", errors.New("timeout"))
		require.Zero(t, o.end("b"))
		time.Sleep(outagesKept + time.Second) // of the fake clock
		o.failed("b", errors.New("timeout"))
		require.Len(t, o.rooms, 1, "nobody has asked for the other one since")
	})
}
