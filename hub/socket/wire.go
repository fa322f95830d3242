package socket

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// sent is the result of sending a frame.
type sent int

const (
	took    sent = iota // the kernel has it, or the rest of it follows by itself
	blocked             // an earlier frame is not through yet: the due bits are marked again after it
	gone                // the socket is closed or closing
)

// wire is a socket's connection. It stands below the WebSocket library, which reads frames from it and writes
// its control frames to it; the server's own frames are written here directly. No write waits: a goroutine
// finishes the part that the kernel does not take at once, and ends; meanwhile nothing else is written.
type wire struct {
	net.Conn
	raw   syscall.RawConn // nil where the connection is none of the kernel's
	early []byte          // came with the request, read before anything else
	read  *bufio.Reader   // what the library reads from

	c *Conn

	heard   atomic.Int64 // when anything was last read, ns of the pool's clock
	lost    atomic.Bool  // the connection ended because nothing came from the other side
	taken   meter        // the reader's own
	flooded bool         // likewise

	mu     sync.Mutex
	head   []byte // the answer to the upgrade, which goes out with the first frame
	late   *time.Timer
	rest   []byte // of what is not through yet
	due    uint32
	closed bool // a close frame is out, or nothing can follow
}

func (w *wire) attach(conn net.Conn, early []byte) {
	w.Conn, w.early = conn, early
	if s, ok := conn.(syscall.Conn); ok && canTry {
		if raw, err := s.SyscallConn(); err == nil {
			w.raw = raw
		}
	}
}

// headWithin is how long the answer to an upgrade waits for the first frame. One write to the kernel costs as
// much as making the frame several times, and one packet wakes the client once.
const headWithin = 100 * time.Millisecond

// hold keeps the answer to the upgrade until something else is written.
func (w *wire) hold(head []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head = head
	w.late = time.AfterFunc(headWithin, func() {
		nb := nonblockingWrites.Get().(*nonblockingWrite)
		defer nonblockingWrites.Put(nb)
		w.put(nb, nil, 0, false)
	})
}

// let releases a connection that has ended.
func (w *wire) let() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.late != nil {
		w.late.Stop()
	}
}

// headed returns a frame with the held answer before it. The caller holds the lock.
func (w *wire) headed(frame []byte) []byte {
	if w.head == nil {
		return frame
	}
	w.late.Stop()
	frame = append(w.head, frame...)
	w.head, w.late = nil, nil
	return frame
}

// Read reads the bytes that came with the request, then the connection. All bytes count as a sign of life;
// too many are an error.
func (w *wire) Read(p []byte) (n int, err error) {
	if w.flooded {
		return 0, errFlood
	}
	if len(w.early) > 0 {
		n = copy(p, w.early)
		w.early = w.early[n:]
	} else {
		w.early = nil
		n, err = w.Conn.Read(p)
	}
	if n > 0 {
		now := w.c.pool.now()
		w.heard.Store(now)
		w.flooded = w.taken.bytes(now, n)
	}
	return n, err
}

// Write writes the library's control frames, each in full. After a close frame it drops them, and a pong that
// does not fit is not sent.
func (w *wire) Write(p []byte) (int, error) {
	nb := nonblockingWrites.Get().(*nonblockingWrite)
	defer nonblockingWrites.Put(nb)
	if w.send(nb, p, 0) == gone && !w.isClosed() {
		return 0, net.ErrClosed
	}
	return len(p), nil
}

func (w *wire) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// send writes one whole frame, or several. If it returns blocked, the owner is marked with due later.
func (w *wire) send(nb *nonblockingWrite, frame []byte, due uint32) sent {
	return w.put(nb, frame, due, false)
}

// sendShared writes a frame that does not change any more. Bytes that the kernel does not accept at once need
// not be copied then.
func (w *wire) sendShared(nb *nonblockingWrite, frame []byte, due uint32) sent {
	return w.put(nb, frame, due, true)
}

func (w *wire) put(nb *nonblockingWrite, frame []byte, due uint32, shared bool) sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return gone
	case w.rest != nil:
		w.due |= due
		return blocked
	}
	if len(frame) > 0 && frame[0] == opClose {
		w.closed = true
	}
	if frame = w.headed(frame); len(frame) == 0 {
		return took
	}
	n, err := 0, error(nil)
	if w.raw != nil || len(frame) <= longWrite {
		n, err = nb.write(w, frame)
	}
	if err != nil {
		w.closed = true
		w.ended(err)
		return gone
	}
	if n < len(frame) {
		w.rest = frame[n:]
		if !shared {
			w.rest = bytes.Clone(w.rest)
		}
		go w.finish() // ends when the peer takes nothing for as long as the write deadline
	}
	return took
}

// finish writes the bytes that the kernel did not accept at once.
func (w *wire) finish() {
	n, err := w.writeAll(w.rest) // no other goroutine touches rest while it is not nil
	_ = w.SetWriteDeadline(time.Time{})
	w.mu.Lock()
	due, rest := w.due, w.rest[n:]
	w.due, w.rest = 0, nil
	if err != nil {
		if isTimeout(err) {
			w.giveUp(rest)
		}
		w.closed = true
	}
	w.mu.Unlock()
	switch {
	case err != nil:
		w.c.broken(isTimeout(err))
	case due != 0:
		w.c.Mark(due, true)
	}
}

// longWrite is how much a peer has to take within the write deadline: a peer that takes a long frame slowly
// is not slow, one that takes next to nothing is. If a write can only wait, writers leave longer ones to a
// goroutine.
const longWrite = 16 << 10

// writeAll writes with a new deadline for each part.
func (w *wire) writeAll(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		_ = w.SetWriteDeadline(time.Now().Add(w.c.pool.cfg.WriteTimeout))
		var part int
		part, err = w.Conn.Write(b[n:min(n+longWrite, len(b))])
		n += part
	}
	return n, err
}

// giveUp closes a slow peer, and sends the reason if the kernel accepts some more bytes.
func (w *wire) giveUp(rest []byte) {
	const most = 256 << 10
	if len(rest) > most {
		return
	}
	if s, ok := w.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = s.SetWriteBuffer(most)
	}
	nb := nonblockingWrites.Get().(*nonblockingWrite)
	defer nonblockingWrites.Put(nb)
	frame := append(append([]byte(nil), rest...), closeFrame(Slow, "slow")...)
	_, _ = nb.write(w, frame)
}

// ended records that the other side was silent if the kernel gave up since it acknowledged nothing.
func (w *wire) ended(err error) {
	if errors.Is(err, syscall.ETIMEDOUT) {
		w.lost.Store(true)
	}
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
