package push

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHostThatDoesNotAnswerRestsLongerEachTime(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	h := hosts{now: func() time.Time { return now }}
	for _, rest := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
		leave, ok := h.enter("dead.example")
		require.True(t, ok)
		leave(os.ErrDeadlineExceeded)
		now = now.Add(rest - time.Millisecond)
		_, ok = h.enter("dead.example")
		require.False(t, ok)
		now = now.Add(time.Millisecond)
	}
	leave, ok := h.enter("dead.example")
	require.True(t, ok)
	leave(nil)
	leave, ok = h.enter("dead.example")
	require.True(t, ok)
	leave(errors.New("refused at once"))
	_, ok = h.enter("dead.example")
	require.True(t, ok, "only a time-out holds up others")
}

// A maker's host that is slow for a moment must not rest for a whole turn.
func TestPushesThatRunOutOfTimeTogetherCountOnce(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	h := hosts{now: func() time.Time { return now }}
	leaves := make([]func(error), 8)
	for i := range leaves {
		leave, ok := h.enter("fcm.googleapis.com")
		require.True(t, ok)
		leaves[i] = leave
	}
	for _, leave := range leaves[1:] {
		leave(os.ErrDeadlineExceeded)
	}
	require.Equal(t, shortestRest, h.known["fcm.googleapis.com"].rest)
	_, ok := h.enter("fcm.googleapis.com")
	require.False(t, ok)
	leaves[0](nil)
	_, ok = h.enter("fcm.googleapis.com")
	require.True(t, ok, "it has answered since")
}

func TestHostIsOneHoweverItIsWritten(t *testing.T) {
	for _, text := range []string{"https://a.example/x", "https://A.Example:443/", "https://a.example./y"} {
		endpoint, err := url.Parse(text)
		require.NoError(t, err)
		require.Equal(t, "a.example", hostOf(endpoint))
	}
}

func TestSendersAreLeftForHostsThatAnswer(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	h := hosts{now: func() time.Time { return now }}
	enter := func(name string, times int) (entered int) {
		for range times {
			if _, ok := h.enter(name); ok {
				entered++
			}
		}
		return entered
	}
	leave, ok := h.enter("answers.example")
	require.True(t, ok)
	leave(nil)
	require.Equal(t, flyingHost, enter("dead.example", 50))
	for i := range 50 {
		enter(fmt.Sprintf("%d.dead.example", i), 1)
	}
	require.Equal(t, flyingStranger, h.strangers)
	require.Equal(t, flyingHost, enter("answers.example", 50))
	require.Equal(t, flyingMaker, enter("fcm.googleapis.com", 50))
	require.Equal(t, flyingMaker, enter("web.push.apple.com", 50))
	require.Zero(t, enter("fcm.googleapis.com.dead.example", 1))
}

func TestHostsInMemoryAreBoundedAndThoseInUseStay(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	h := hosts{now: func() time.Time { return now }}
	_, ok := h.enter("busy.example")
	require.True(t, ok)
	for i := range 3 * hostsMost {
		leave, ok := h.enter(fmt.Sprintf("%d.example", i))
		require.True(t, ok)
		leave([]error{nil, os.ErrDeadlineExceeded, errors.New("refused")}[i/hostsMost])
		require.LessOrEqual(t, len(h.known), hostsMost)
	}
	require.Contains(t, h.known, "busy.example")
}
