package desk

import (
	"context"

	"github.com/waitroom/waitroom/hub/socket"
)

// Close codes of the contract, beside those of package socket.
const (
	codeDraining  = 4001
	codeSignedOut = 4501
)

// The kinds of frames that a socket may be due, as bits of its mark.
const (
	dueFeed = socket.Own << iota
	dueHeartbeat
	dueReplicas
)

// unopened is the position in the feed of a socket that has been sent nothing.
const unopened = -1

// together is the most bytes of small frames in one write.
const together = 16 << 10

// source is what a socket of support shows: one room, or all of them.
type source interface {
	// opening returns the first frames, with everything up to a position in the feed; false while there is
	// nothing to send. The source marks its sockets once there is.
	opening() (opening, bool)
	leave(*Conn)
}

// opening is the first frames of a socket and the number of the next frame. Many sockets share it.
type opening struct {
	frames [][]byte
	next   int64
}

// Conn is a socket of support. It never counts as the presence of a seller.
type Conn struct {
	socket.Conn
	d *Desk

	who    Watcher
	source source
	feed   *feed
	at     int // index in feed.conns, by the feed's lock
	spot   int // index in sockets.conns, by its lock
	turn   int // in which of turns its sign-in is checked

	// Only the writer uses these.
	rest   [][]byte // of the opening
	next   int64    // number of the frame that is to be written next
	opened bool
}

// run starts the socket's goroutine.
func (c *Conn) run() {
	c.Open()
	if !c.d.Host.Spawn(c.read) {
		c.left()
	}
}

// read is the socket's goroutine.
func (c *Conn) read(context.Context) {
	defer c.left()
	if c.d.Host.Status().Draining {
		c.Shut(codeDraining, "draining")
	}
	c.Run()
}

// left removes the socket from its source and from the pool.
func (c *Conn) left() {
	c.Leave()
	c.source.leave(c)
	c.d.sockets.remove(c)
	c.d.replicas.follow()
}

// Serve writes the frames that the socket is due.
func (c *Conn) Serve(w *socket.Writer, due uint32) {
	if due&dueFeed != 0 {
		first := !c.opened
		c.writeFeed(w)
		if first && c.opened {
			due |= dueReplicas
		}
	}
	if c.opened && due&dueReplicas != 0 {
		c.writeShared(w, c.d.replicas.frame(), dueReplicas)
	}
	if c.opened && due&dueHeartbeat != 0 {
		c.writeShared(w, c.d.sockets.heartbeat(), dueHeartbeat)
	}
}

// writeFeed writes the feed from the socket's position on, as far as the connection accepts it.
func (c *Conn) writeFeed(w *socket.Writer) {
	var room [64][]byte
	for {
		for len(c.rest) > 0 {
			if !c.writeShared(w, c.rest[0], dueFeed) {
				return
			}
			c.rest = c.rest[1:]
		}
		frames, ok := c.feed.after(c.next, together, room[:0])
		if !ok {
			if !c.open() {
				return
			}
			continue
		}
		if len(frames) == 0 || !c.SendFrames(w, frames, dueFeed) {
			return
		}
		c.next += int64(len(frames))
	}
}

// open makes the source's opening what writeFeed writes next, at first and when the socket is too far behind.
// It returns false if there is no opening yet.
func (c *Conn) open() bool {
	o, ok := c.source.opening()
	if !ok {
		return false
	}
	if c.opened {
		c.d.Metrics.Resyncs.Inc()
	}
	c.rest, c.next, c.opened = o.frames, o.next, true
	return true
}

// writeShared writes a frame that is sent to other sockets, too.
func (c *Conn) writeShared(w *socket.Writer, frame []byte, due uint32) bool {
	return frame == nil || c.SendFrame(w, frame, due)
}
