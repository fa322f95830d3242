package socket

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Many sockets connect at once: others are pinged after this socket's handshake and before it is in the list
// of those to ping.
func TestSocketThatWasStillOpeningWhenOthersWerePingedIsNotSilent(t *testing.T) {
	p := New(Config{Start: time.Now()})
	w := p.wheel
	c := &Conn{pool: p}
	s := &w.slots[w.now]
	s.ping(-2) // before the pool's clock began
	s.ping(-1)
	c.heard.Store(-3)
	c.pong.Store(-3)
	w.add(c)
	opened := p.now()
	require.Empty(t, s.silent(opened, 0))
	s.pinged = opened + 1 // its own ping, which waits to be written
	require.Empty(t, s.silent(opened+2, 0))
	c.asked.Store(opened + 2)
	require.Empty(t, s.silent(opened+3, int64(time.Minute)), "written just now")
	require.Len(t, s.silent(opened+3, 0), 1)
}
