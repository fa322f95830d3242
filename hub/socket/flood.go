package socket

import (
	"context"
	"errors"
	"time"
)

// Limits of what a client may send in a second. No browser comes near them, nor does any message that would
// be accepted.
const (
	framesASecond = 10
	bytesASecond  = 8 << 10
)

var errFlood = errors.New("more than a client may send")

// meter counts frames and bytes in the current second.
type meter struct {
	began        int64 // ns of the pool's clock
	frames, size uint16
}

func (m *meter) turn(now int64) {
	if now-m.began >= int64(time.Second) {
		*m = meter{began: now}
	}
}

// frame counts one more control frame, and reports whether it is one too many.
func (m *meter) frame(now int64) bool {
	m.turn(now)
	m.frames = min(m.frames+1, framesASecond+1)
	return m.frames > framesASecond
}

// bytes counts n more bytes, and reports whether they are too many. This also bounds input that never becomes
// a whole message, such as endless empty fragments.
func (m *meter) bytes(now int64, n int) bool {
	m.turn(now)
	m.size = uint16(min(int(m.size)+n, bytesASecond+1))
	return m.size > bytesASecond
}

// answered counts a control frame, or a pong of the page. After too many the socket is closed and reads
// nothing more.
func (c *Conn) answered() {
	if c.taken.frame(c.pool.now()) {
		c.flooded = true
		c.Shut(BadMessage, "bad_message")
	}
}

// pinged counts a ping; if it returns false, the ping is not answered.
func (c *Conn) pinged(context.Context, []byte) bool {
	c.answered()
	return !c.flooded
}

func (c *Conn) ponged(context.Context, []byte) { c.answered() }
