package hub

import (
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// The state of the change can not be told yet when the notice is due: the mirror takes a snapshot.
func TestNoticeWaitsForTheStateOfItsChange(t *testing.T) {
	h := &Hub{ended: true, cfg: Config{WriteTimeout: time.Minute}, clock: newClock(), queue: newQueue(), metrics: newMetrics(prometheus.NewRegistry())}
	l := newHall(h, lobbyRoom)
	// at has the mirror take a snapshot.
	at := func(version int64) {
		_, ok := l.m.Adopt(room.Snapshot{View: room.View{Epoch: 7, Version: version}})
		require.True(t, ok)
		l.shared.state(&l.m.State)
	}
	at(4)
	here, there := net.Pipe()
	defer func() { _ = there.Close() }()
	c := &conn{h: h, hall: l}
	c.owner = c
	c.attach(here, nil)
	s := l.m.Enter("a")
	s.Here.conns, c.session = []*conn{c}, s
	idle := mirror.Seat{Status: room.Idle}
	l.m.Place(s, idle, l.m.Revision)
	told := make(chan string, 10)
	go func() {
		defer close(told)
		for {
			var b [1024]byte
			n, err := there.Read(b[:])
			if err != nil {
				return
			}
			told <- string(b[2:n])
		}
	}()
	is := func(what string) {
		t.Helper()
		select {
		case text := <-told:
			require.Contains(t, text, what)
		case <-time.After(10 * time.Second):
			require.Fail(t, "never told", what)
		}
	}
	// serve writes what is due to the socket that stands in the queue.
	serve := func() {
		var batch [1]*conn
		h.queue.pop(batch[:])
		c.serve(newPen(), make([]byte, headroom, 1024), c.claim())
		c.release()
	}
	s.Here.mark(dueState)
	serve()
	is(`"version":4`)

	// It does not fit: nobody was known to hold a lease that ends.
	l.apply(&room.Event{Epoch: 7, Version: 5, Changed: true, Ended: []room.Finished{{Fence: 1}}, Notes: []room.Note{{Session: "a", Support: room.Moved}}})
	require.False(t, l.m.Live)
	serve()
	require.Empty(t, told)

	at(5)
	l.m.Place(s, idle, l.m.Revision)
	s.Here.mark(dueState)
	serve()
	is(`"version":5`)
	serve()
	is(`"notice":"moved"`)
}
