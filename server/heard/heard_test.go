package heard

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
)

func TestClockIsOffOnceTheFastestOfManyMessagesSaysSo(t *testing.T) {
	h := New(nil, room.New(nil, room.Config{}), nil)
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

// Rooms of a prefix come and go: what was heard for one does not stay in Redis and in memory for ever.
func TestASourceThatWasNotHeardForAQuarterIsForgotten(t *testing.T) {
	client := redistest.Lent(t).Client()
	engine := room.New(client, room.Config{})
	h := New(client, engine, slog.New(slog.DiscardHandler))
	ago := func(days int) string { return fmt.Sprintf("%d 0", time.Now().AddDate(0, 0, -days).UnixMilli()) }
	require.NoError(t, client.HSet(t.Context(), h.key, "gone/phone", ago(91), "quiet/phone", ago(89)).Err())
	h.Record(t.Context(), "r", sms.Heard{Source: "phone"})
	known, err := client.HKeys(t.Context(), h.key).Result()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"quiet/phone", "r/phone"}, known)
}

func TestARecorderForgetsAListOnceTheStoreHasIt(t *testing.T) {
	client := redistest.Lent(t).Client()
	engine := room.New(client, room.Config{})
	h := New(client, engine, slog.New(slog.DiscardHandler))
	h.Arrived(sms.Arrival{Source: "phone", Signed: true})
	testproc.Until(t, 20*time.Second, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if n := len(h.unwritten); n > 0 {
			return fmt.Errorf("%d lists are remembered", n)
		}
		return nil
	})
	got, err := Arrivals(t.Context(), client, engine.Names(), "phone")
	require.NoError(t, err)
	require.Len(t, got, 1)
}
