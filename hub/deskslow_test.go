package hub_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/desk/desktest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

// rawWatch opens a socket of support below the WebSocket library, with a small receive buffer.
func rawWatch(t testing.TB, r *replica) *rawConn {
	t.Helper()
	addr := strings.TrimPrefix(r.URL, "ws://")
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(1))
	_, err = fmt.Fprintf(conn, "GET %sintegration HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: "+
		"websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nX-Watcher: %s\r\n\r\n",
		deskPath, addr, r.watchers.add(desk.Watcher{}))
	require.NoError(t, err)
	c := &rawConn{Conn: conn, r: bufio.NewReaderSize(conn, 512)}
	res, err := http.ReadResponse(c.r, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, res.StatusCode)
	return c
}

// long reads one frame of the server, of any length.
func (c *rawConn) long() (payload []byte, err error) {
	var head [10]byte
	if _, err = io.ReadFull(c.r, head[:2]); err != nil {
		return nil, err
	}
	n := uint64(head[1])
	switch n {
	case 126:
		_, err = io.ReadFull(c.r, head[2:4])
		n = uint64(binary.BigEndian.Uint16(head[2:]))
	case 127:
		_, err = io.ReadFull(c.r, head[2:10])
		n = binary.BigEndian.Uint64(head[2:])
	}
	if err != nil {
		return nil, err
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(c.r, payload)
	return payload, err
}

// fill adds n waiters to the line and returns their sessions.
func fill(t testing.TB, r *replica, n int) (ids []string) {
	ids = sessions(n)
	for _, id := range ids {
		join(t, r.Engine, id)
	}
	return ids
}

// The pool has one writer, so a write that blocked would delay all other watchers.
func TestAWatcherThatNeverReadsDelaysNoOtherAndIsClosed(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	r := start(t, redistest.Start(t).Client(), room.Config{},
		hub.Config{Writers: 1, WriteTimeout: 2 * time.Second, WriteBuffer: 1, Registerer: registry})
	ids := fill(t, r, 1000)
	deaf, s, seller := rawWatch(t, r), r.watch(lobby), r.dial(ids[1])
	seller.untilPosition(1)
	leave(t, r.Engine, ids[0], room.Completed)
	seller.untilStatus(room.Locked)
	untilTrue(t, r.Engine, lobby, s)
	testproc.Until(t, within, func() error {
		if counted(t, registry, "waitroom_hub_slow_closes_total") == 0 {
			return fmt.Errorf("the deaf socket is not closed")
		}
		return nil
	})
	require.NoError(t, deaf.SetReadDeadline(time.Now().Add(within)))
	_, err := io.Copy(io.Discard, deaf)
	require.False(t, err != nil && strings.Contains(err.Error(), "timeout"), "closed")
	leave(t, r.Engine, ids[1], room.Completed)
	untilTrue(t, r.Engine, lobby, s)
}

// A socket that is too far behind gets the whole room again; no changes are queued for it meanwhile.
func TestASlowWatcherIsShownTheRoomAnew(t *testing.T) {
	registry := prometheus.NewRegistry()
	// no beat, since its comparison may make the hub send the room again to all
	r := start(t, redistest.Start(t).Client(), room.Config{},
		hub.Config{Beat: time.Hour, WriteTimeout: within, WriteBuffer: 1, Registerer: registry})
	ids := fill(t, r, 1000)
	slow, s := rawWatch(t, r), r.watch(lobby)
	s.until("the room", func(p *desktest.Page) bool { return p.Frames["desk"] == 1 })
	for range 600 { // 1,200 changes: more than are kept
		leave(t, r.Engine, ids[0], room.Completed)
		join(t, r.Engine, ids[0])
		ids = append(ids[1:], ids[0])
	}
	untilTrue(t, r.Engine, lobby, s)
	var page desktest.Page
	want, err := r.Engine.Roster(t.Context(), lobby)
	require.NoError(t, err)
	for page.Differs(want) != "" {
		text, err := slow.long()
		require.NoError(t, err)
		require.NoError(t, page.Take(text))
	}
	require.Equal(t, 2, page.Frames["desk"])
	require.Less(t, page.Frames["change"], 600)
	require.Equal(t, 1.0, counted(t, registry, "waitroom_hub_desk_resyncs_total"))
}
