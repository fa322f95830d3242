package hub

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A storm of connections: others are pinged between a socket's handshake and its place among those who are pinged.
func TestSocketThatWasStillOpeningWhenOthersWerePingedIsNotSilent(t *testing.T) {
	h := &Hub{clock: newClock()}
	w := newWheel(h)
	c := &conn{h: h}
	c.heard.Store(h.now())
	c.pong.Store(h.now())
	s := &w.slots[w.now]
	for range 2 {
		time.Sleep(time.Millisecond)
		s.ping(h.now())
	}
	w.add(c)
	require.Empty(t, s.silent(h.now(), 0))
	time.Sleep(time.Millisecond)
	s.pinged = h.now() // its own ping, which waits to be written
	require.Empty(t, s.silent(h.now(), 0))
	c.asked.Store(h.now())
	require.Empty(t, s.silent(h.now(), int64(time.Minute)), "written just now")
	require.Len(t, s.silent(h.now(), 0), 1)
}
