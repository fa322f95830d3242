package hub_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rawConn is a client that writes WebSocket frames itself, for input that the library would never send.
type rawConn struct {
	net.Conn
	r *bufio.Reader
}

// rawDial upgrades and sends `early` in the same packet. buffer is the receive buffer; 0 = the system's.
func rawDial(t testing.TB, r *replica, buffer int, early string) *rawConn {
	t.Helper()
	addr := strings.TrimPrefix(r.URL, "ws://")
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	if buffer > 0 {
		require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(buffer))
	}
	_, err = io.WriteString(conn, "GET /integration HTTP/1.1\r\nHost: "+addr+"\r\nConnection: "+
		"Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"+early)
	require.NoError(t, err)
	c := &rawConn{Conn: conn, r: bufio.NewReaderSize(conn, 512)}
	res, err := http.ReadResponse(c.r, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, res.StatusCode)
	return c
}

// frame reads one frame of the server.
func (c *rawConn) frame() (op byte, payload []byte, err error) {
	var head [2]byte
	if _, err = io.ReadFull(c.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int(head[1])
	if n == 126 {
		var long [2]byte
		if _, err = io.ReadFull(c.r, long[:]); err != nil {
			return 0, nil, err
		}
		n = int(binary.BigEndian.Uint16(long[:]))
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(c.r, payload)
	return head[0] & 0xf, payload, err
}

// rawClose reads until the close frame and returns its code: 1005 if the frame has none, 0 if the connection
// ends without a frame.
func rawClose(t testing.TB, c *rawConn) int {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(within)))
	for {
		op, payload, err := c.frame()
		if err != nil {
			return 0
		}
		switch {
		case op == 8 && len(payload) == 0:
			return 1005
		case op == 8:
			return int(binary.BigEndian.Uint16(payload))
		}
	}
}
