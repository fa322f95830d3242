package socket

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Sending a long frame takes longer than a socket may accept nothing, and no other socket waits meanwhile.
func TestAPeerThatTakesALongFrameSlowlyIsNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writeTimeout = 2 * time.Second
		here, there := net.Pipe()
		defer func() { _ = there.Close() }()
		c := &Conn{pool: New(Config{WriteTimeout: writeTimeout})}
		c.wire.c = c
		c.attach(here, nil)
		const dueFeed, dueBeat = Own, Own << 1
		long := Text(make([]byte, headroom+300_000))
		began := time.Now()
		require.Equal(t, took, c.sendShared(newNonblockingWrite(), long, dueFeed))
		require.Equal(t, blocked, c.send(newNonblockingWrite(), Text(Blank(0)), dueBeat))
		require.Less(t, time.Since(began), writeTimeout)
		for left := int64(len(long)); left > 0; time.Sleep(writeTimeout / 16) { // it takes 19 parts
			n, err := io.CopyN(io.Discard, there, min(left, longWrite))
			require.NoError(t, err)
			left -= n
		}
		synctest.Wait()
		require.Greater(t, time.Since(began), writeTimeout)
		var batch [1]*Conn
		require.Equal(t, 1, c.pool.queue.pop(batch[:]), "what was due meanwhile is written after it")
		require.Equal(t, uint32(dueBeat), c.claim())
		require.False(t, c.isClosed())
	})
}
