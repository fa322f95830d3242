package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestWatchingAgentsGetANewIncident(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		notified := make(chan room.ID)
		c := b.config()
		c.OnIncident = func(id room.ID) { notified <- id }
		l := b.openWith(t, c)
		b.life(1)
		seen := room.Record{Type: "incident", At: 7, Action: "carrier_clock",
			MessageNote: room.MessageNote{MessageID: "m"}}
		b.write(1, seen)
		require.NoError(t, l.Drain(t.Context(), here), "though no call is taken")
		require.Equal(t, here, <-notified)

		b.write(1, seen) // known by now
		require.NoError(t, l.Drain(t.Context(), here))
		b.journal.write("other", 1, matched("x", 0)) // refused by the second line
		require.NoError(t, l.Drain(t.Context(), "other"))
		require.Equal(t, room.ID("other"), <-notified, "and only once of the first")

		_, err := l.Receive(t.Context(), here, room.MessageNote{MessageID: "m-1", Fingerprint: "k1:aa"})
		require.NoError(t, err)
		require.Empty(t, notified)
	})
}

func TestAnIncidentIsReportedOnceItIsWritten(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		found := make(chan int, 1)
		c := b.config()
		reader := b.open(t)
		c.OnIncident = func(id room.ID) {
			_, incidents, err := reader.Troubles(t.Context(), id, 0, 0)
			if err != nil {
				t.Errorf("troubles: %v", err)
			}
			found <- len(incidents)
		}
		l := b.openWith(t, c)
		b.write(1, room.Record{Type: "incident", At: 7, Action: "carrier_clock"})
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, 1, <-found)
	})
}
