package hub

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// connects opens a socket of a session that has been sent a state. The test itself marks the socket as
// changed and starts the writer.
func (l lone) connects(id string) (c *conn, browser *websocket.Conn) {
	l.Helper()
	c = &conn{h: l.h, opened: true}
	accepted := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepted <- l.h.pool.Accept(w, r, &c.Conn, c)
	}))
	l.Cleanup(server.Close)
	browser, _, err := websocket.Dial(l.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	require.NoError(l, err)
	require.True(l, <-accepted)
	c.Open()
	l.Cleanup(func() {
		c.Leave()
		_ = browser.CloseNow()
	})
	require.True(l, l.enter(c, id))
	return c, browser
}

// knows makes the mirror take a snapshot and a session's answer, and marks no socket as changed.
func (l lone) knows(s *session, view room.View, seat room.Seat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.m.Read()
	l.m.Adopt(room.Snapshot{View: view})
	l.shared.state(&l.m.State)
	l.m.Answer(s, &view, &seat)
}

// A writer takes a socket to send its state alone. Before it makes the frame, the turn ends and its message
// arrives.
func TestMessageThatComesWhileTheWriterIsAtTheSocketGoesBeforeTheEnd(t *testing.T) {
	l := newLone(t)
	c, browser := l.connects("a")
	forget := time.Now().Add(time.Hour).UnixMilli()
	l.knows(c.session, room.View{Room: wire.Room{Epoch: 1, Version: 2}}, room.Seat{
		Place: room.Place{Status: room.Ended, Outcome: room.Completed, Ticket: 1, Fence: 5},
		Messages: []room.Message{{MessageID: "m", Text: "482913", Code: new("482913"), Fence: 5,
			ForgetAt: forget}},
	})
	c.Mark(dueState, true) // the mark for the message is still to come
	go l.h.pool.Write(context.Background())
	t.Cleanup(l.h.pool.Close)
	require.Contains(t, nextFrame(t, browser), `"type":"sms"`)
	require.Contains(t, nextFrame(t, browser), `"status":"ended"`)
}

// nextFrame returns the next frame that the browser receives.
func nextFrame(t *testing.T, browser *websocket.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // bounds a failure alone
	defer cancel()
	_, text, err := browser.Read(ctx)
	require.NoError(t, err)
	return string(text)
}
