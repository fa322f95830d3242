package hub

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// A long frame takes longer than a socket may take nothing, and nobody waits for it meanwhile.
func TestAPeerThatTakesALongFrameSlowlyIsNotClosed(t *testing.T) {
	const writeTimeout = 400 * time.Millisecond
	here, there := net.Pipe()
	defer func() { _ = there.Close() }()
	c := &conn{h: &Hub{cfg: Config{WriteTimeout: writeTimeout}, queue: newQueue(), metrics: newMetrics(prometheus.NewRegistry())}}
	c.owner = c
	c.attach(here, nil)
	long := frame(make([]byte, headroom+300_000))
	began := time.Now()
	require.Equal(t, took, c.sendShared(newPen(), long, dueFeed))
	require.Equal(t, blocked, c.send(newPen(), frame(make([]byte, headroom)), dueBeat))
	require.Less(t, time.Since(began), writeTimeout)
	pace := time.NewTicker(writeTimeout / 8)
	defer pace.Stop()
	for left := int64(len(long)); left > 0; <-pace.C {
		n, err := io.CopyN(io.Discard, there, min(left, longWrite))
		require.NoError(t, err)
		left -= n
	}
	require.Greater(t, time.Since(began), writeTimeout)
	var batch [1]*conn
	require.Equal(t, 1, c.h.queue.pop(batch[:]), "what was due meanwhile is written after it")
	require.Equal(t, dueBeat, c.claim())
	require.False(t, c.isClosed())
}
