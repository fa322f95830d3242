package room

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// answering is a hook by which each command is answered with these values.
type answering []any

func (a answering) DialHook(next redis.DialHook) redis.DialHook { return next }

func (a answering) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (a answering) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		cmd.(*redis.Cmd).SetVal([]any(a))
		return nil
	}
}

// A script of another version may answer fewer values.
func TestAnAnswerOfAnotherLengthIsNamed(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:0"})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	rdb.AddHook(answering{"1", "2"})
	x := newIndex(rdb, nil, "", 0)
	_, err := x.list(t.Context(), "a")
	require.ErrorIs(t, err, ErrStore)
	require.ErrorContains(t, err, "register room: an answer of 2 values")
	_, err = x.claim(t.Context(), 1, time.Second)
	require.ErrorIs(t, err, ErrStore)
	require.ErrorContains(t, err, "claim due rooms: an answer of 2 values")
}
