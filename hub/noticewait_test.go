package hub

import (
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// The state of the change can not be told yet when the notice is due: the mirror takes a snapshot.
func TestNoticeWaitsForTheStateOfItsChange(t *testing.T) {
	h := &Hub{cfg: Config{WriteTimeout: time.Minute}, clock: newClock(), queue: newQueue(), metrics: newMetrics(prometheus.NewRegistry())}
	l := newHall(h, lobbyRoom)
	l.m = mirror{epoch: 7, version: 4}
	l.shared.state(&l.m)
	here, there := net.Pipe()
	defer func() { _ = there.Close() }()
	c := &conn{h: h, hall: l}
	c.owner = c
	c.attach(here, nil)
	s := &session{id: "a", conns: []*conn{c}, epoch: 7, asOf: 4, seat: seat{status: room.Idle}}
	l.sessions["a"], c.session = s, s
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
	l.live = true
	s.mark(dueState)
	serve()
	is(`"version":4`)

	l.live = false
	l.notify(&room.Event{Epoch: 7, Version: 5, Notes: []room.Note{{Session: "a", Support: room.Moved}}})
	serve()
	require.Empty(t, told)

	l.live, l.m.version = true, 5
	l.shared.state(&l.m)
	s.mark(dueState)
	serve()
	is(`"version":5`)
	serve()
	is(`"notice":"moved"`)
}
