package hub

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/storeclock"
	"github.com/waitroom/waitroom/room/wire"
)

// connected returns a socket of a hub that has no room yet, and the frames it receives; "ping" stands for a
// WebSocket ping.
func connected(t *testing.T, h *Hub) (*conn, <-chan string) {
	conns := make(chan *conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &conn{h: h}
		if h.pool.Accept(w, r, &c.Conn, c) {
			c.Open()
			conns <- c
		}
	}))
	t.Cleanup(server.Close)
	frames := make(chan string, 10)
	ws, _, err := websocket.Dial(t.Context(), server.URL,
		&websocket.DialOptions{OnPingReceived: func(context.Context, []byte) bool {
			frames <- "ping"
			return true
		}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ws.CloseNow() })
	go func() {
		for {
			_, text, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			frames <- string(text)
		}
	}()
	c := <-conns
	t.Cleanup(c.Leave)
	return c, frames
}

// When the notice is due, the state of its change cannot be sent yet, since the mirror takes a snapshot.
func TestNoticeWaitsForTheStateOfItsChange(t *testing.T) {
	h := &Hub{ended: true, engine: room.New(nil, room.Config{}), cfg: Config{WriteTimeout: time.Minute},
		clock: storeclock.New(), start: time.Now(), metrics: newMetrics(prometheus.NewRegistry())}
	h.pool = newPool(h)
	go h.pool.Write(t.Context())
	defer h.pool.Close()
	c, frames := connected(t, h)
	is := func(what string) {
		t.Helper()
		select {
		case text := <-frames:
			require.Contains(t, text, what)
		case <-time.After(time.Minute):
			require.Fail(t, "never received", what)
		}
	}
	l := newLocalRoom(h, "integration")
	s := l.m.Enter("a")
	s.Here.conns, c.session, c.room = []*conn{c}, s, l
	// at gives the mirror a snapshot at a version, and the session a seat.
	at := func(version int64) {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, ok := l.m.Adopt(room.Snapshot{View: room.View{Room: wire.Room{Epoch: 7, Version: version}}})
		require.True(t, ok)
		l.shared.state(&l.m.State)
		l.m.Place(s, mirror.Seat{Status: room.Idle}, l.m.Revision)
		s.Here.mark(dueState)
	}
	at(4)
	is(`"version":4`)

	// It does not fit: no seller was known to hold a lease that ends.
	l.event(room.Event{Room: wire.Room{Epoch: 7, Version: 5}, Changed: true, Ended: []room.Finished{{Fence: 1}},
		Notes: []room.Note{{Session: "a", Support: room.Moved}}})
	require.False(t, l.m.Live)
	c.Probe() // is written after all that is due
	is("ping")

	at(5)
	is(`"version":5`)
	is(`"notice":"moved"`)
}
