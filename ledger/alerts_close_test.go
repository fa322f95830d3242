package ledger

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestCloseWaitsForTheCallThatGoesOnAndMakesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notified []room.ID
		goOn := make(chan struct{})
		b := alerts{notify: func(id room.ID) { notified = append(notified, id); <-goOn }}
		b.raise("first")
		synctest.Wait()
		b.raise("second")
		closed := false
		go func() { b.close(); closed = true }()
		synctest.Wait()
		require.False(t, closed)
		close(goOn)
		synctest.Wait()
		require.True(t, closed)
		b.raise("third")
		synctest.Wait()
		require.Equal(t, []room.ID{"first"}, notified)
	})
}

func TestARoomThatAlarmsWithoutAListenerIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notified []room.ID
		goOn := make(chan struct{})
		b := alerts{notify: func(id room.ID) { notified = append(notified, id); <-goOn }}
		for range 3 {
			b.raise("a room")
			synctest.Wait()
		}
		close(goOn)
		synctest.Wait()
		require.Equal(t, []room.ID{"a room", "a room"}, notified, "once for those that came while the first was notified")
		b.close()
	})
}
