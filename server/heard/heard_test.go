package heard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/sms"
)

func TestClockIsOffOnceTheFastestOfManyMessagesSaysSo(t *testing.T) {
	h := &Recorder{sources: map[string]*observed{}}
	now, day := time.Now(), int64(1)
	take := func(delay time.Duration) (time.Duration, bool) {
		off, _, report := h.take("r/phone", sms.Heard{Source: "phone", Timed: true, Delay: delay}, now, day)
		return off, report
	}
	for range learntFrom - 1 {
		off, report := take(3 * time.Second)
		require.Zero(t, off, "too few to know")
		require.False(t, report)
	}
	off, report := take(4 * time.Second)
	require.Equal(t, 3*time.Second, off, "the fastest")
	require.True(t, report)
	_, report = take(4 * time.Second)
	require.False(t, report, "once a day")
	day++
	_, report = take(4 * time.Second)
	require.True(t, report)
	off, _ = take(2 * time.Second)
	require.Zero(t, off, "one came faster: its clock is right")
	off, report = take(-2 * time.Second)
	require.Equal(t, -2*time.Second, off, "no message comes before it was sent")
	require.False(t, report)
	off, _, _ = h.take("r/other", sms.Heard{Source: "other"}, now, day)
	require.Zero(t, off, "it does not say when it sends")
}
